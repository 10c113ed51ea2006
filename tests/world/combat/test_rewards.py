"""What a kill gives: experience, levels, shares of a group."""

from dataclasses import replace

import pytest
from attrs import evolve

from emu.world.actors.bonus_types import COMBAT_EXPERIENCE
from emu.world.actors.sheet import SpellMarks
from emu.world.minds.harm import CORPSE, CORPSE_STAYS
from tests.support.world.fights import Fight


def test_a_kill_gives_experience_in_the_recorded_order() -> None:
    """Recorded: fight-546-melee-a: the last blow, the line about experience, HearDeath."""
    fight = Fight(level=2, experience_needed=800)
    crab = fight.creature(level=1)
    fight.player.spawn.sheet.health.fill(10_000)
    fight.attack(crab)
    fight.run(60.0)
    assert CORPSE not in crab.words or crab.hp_percent == 0
    assert crab.hp_percent == 0
    assert fight.player.character.experience == 28
    assert fight.texts()[-1] == "You gain 28 experience!"
    names = [
        name for name, _ in fight.client.log
        if name in ("OP_EqHearCombatCmd", "OP_EqDisplayTextCmd", "OP_EqHearDeathCmd")
    ]  # fmt: skip
    assert names[-3:] == ["OP_EqHearCombatCmd", "OP_EqDisplayTextCmd", "OP_EqHearDeathCmd"]
    fight.run(CORPSE_STAYS + 1.0)
    fight.attack(crab)
    fight.run(3.0)
    assert fight.player.character.experience == 28


@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 60114])
def test_newer_clients_are_sent_that_the_fight_is_over(version: int) -> None:
    """Recorded in fight-1096-melee-a, fight-1208-melee-a and fight-60114-melee-a: u8 0."""
    fight = Fight(version, level=2, experience_needed=800)
    other = fight.stand(6, "Borvik", version)
    crab = fight.creature(level=1)
    fight.harness.parts.minds.harm.take_health(fight.player.zone, crab, fight.player.spawn, 5)
    before = len(fight.client.log)
    fight.harness.parts.minds.harm.kill(fight.player.zone, crab, fight.player.spawn)
    wanted = ("OP_AttackAllowed", "OP_EqDisplayTextCmd", "OP_EqHearDeathCmd")
    seen = [one for one in fight.client.log[before:] if one[0] in wanted]
    assert [name for name, _ in seen] == list(wanted[version <= 561 :])
    assert [body for name, body in seen if name == wanted[0]] == [b"\0"] * (version > 561)
    assert wanted[0] not in [name for name, _ in other.log]


@pytest.mark.parametrize(("version", "color"), [(546, 34), (561, 34), (1096, 36), (60114, 36)])
def test_the_color_of_the_line_is_as_recorded(version: int, color: int) -> None:
    fight = Fight(version)
    fight.harness.parts.combat.rewards.give(fight.player, 5, fight.harness.now)
    assert fight.client.decoded("WS_DisplayText")[-1]["color"] == color


def test_a_level_is_shown() -> None:
    fight = Fight(level=2, experience=790, experience_needed=800)
    fight.harness.parts.combat.rewards.give(fight.player, 30, fight.harness.now)
    assert fight.player.character.level == 3
    assert fight.player.character.experience == 20
    assert fight.player.character.experience_needed == 1000
    shown = fight.client.decoded("WS_LevelChanged")
    # Recorded: fight-546-melee-a.
    assert shown == [{"old_level": 2, "new_level": 3, "type": 0}]


def test_a_group_shares() -> None:
    fight = Fight(level=2, experience_needed=800)
    other = fight.stand(6, "Borvik", level=2, experience_needed=800)
    fight.client.types("invite Borvik")
    other.types("acceptinvite")
    crab = fight.creature(level=1)
    harm = fight.harness.parts.minds.harm
    harm.take_health(fight.player.zone, crab, fight.player.spawn, 1000)
    assert fight.player.character.experience == 14
    assert fight.of(other).character.experience == 14


def test_who_has_not_fought_gets_nothing() -> None:
    fight = Fight(level=2, experience_needed=800)
    other = fight.stand(6, "Borvik", level=2, experience_needed=800)
    crab = fight.creature(level=1)
    fight.harness.parts.minds.harm.take_health(fight.player.zone, crab, fight.player.spawn, 1000)
    assert fight.of(other).character.experience == 0


def test_a_kill_by_command_gives_experience_too() -> None:
    """Recorded: items-546-deal: 33 points at level 1, one of them for vitality."""
    fight = Fight(level=1, experience_needed=800, admin_status=100)
    fight.player.set_target(fight.creature(level=1))
    fight.client.types("/kill")
    assert fight.texts()[-1] == "You gain 32 experience!"
    assert fight.player.character.experience == 32


def test_vitality_doubles_the_points_of_a_kill_while_it_lasts() -> None:
    """Recorded: fight-546-melee-a: 28 points, and one of vitality."""
    # An eighth of a percent of 800 points is one.
    fight = Fight(level=2, experience_needed=800, vitality=125)
    harm, zone = fight.harness.parts.minds.harm, fight.player.zone
    harm.take_health(zone, fight.creature(level=1), fight.player.spawn, 1000)
    assert fight.player.character.experience == 29
    assert fight.player.character.vitality == 0
    harm.take_health(zone, fight.creature(level=1), fight.player.spawn, 1000)
    assert fight.player.character.experience == 57


def test_rates_of_the_world_and_of_the_zone_count_at_once() -> None:
    fight = Fight(level=2, experience_needed=800)
    harm, zone, world = fight.harness.parts.minds.harm, fight.player.zone, fight.harness.world
    zone.definition = evolve(zone.definition, experience=3.75)
    harm.take_health(zone, fight.creature(level=1), fight.player.spawn, 1000)
    assert fight.player.character.experience == 105
    world.rules = replace(world.rules, experience_rate=0.0)
    harm.take_health(zone, fight.creature(level=1), fight.player.spawn, 1000)
    assert fight.player.character.experience == 105


def test_a_tenth_of_a_level_fills_the_pools_and_is_shown() -> None:
    # real-fight-546-QueensColony-fighter at 106.13 s: the line, the visual 332, HearDeath. No tenth
    # was reached at 75.48 s.
    fight = Fight(level=3, experience=20, experience_needed=1000)
    player, health = fight.player, fight.player.spawn.sheet.health
    for points, visuals in ((70, []), (20, [332]), (10, [332])):
        health.set_current(5)
        fight.harness.parts.combat.rewards.give(player, points, fight.harness.now)
        assert [one["visual"] for one in fight.client.decoded("WS_HearSpellCast")] == visuals
        assert (health.current == health.most) is (points == 20)
    names = [name for name, _ in fight.client.log]
    visual = names.index("OP_EqHearSpellCastCmd")
    assert "OP_EqDisplayTextCmd" in names[visual - 3 : visual]


def test_what_is_worn_and_cast_raises_the_experience_of_kills() -> None:
    fight = Fight(level=2, experience_needed=800)
    sheet = fight.player.spawn.sheet
    sheet.worn = {COMBAT_EXPERIENCE: 30.0}
    sheet.spells = SpellMarks()
    sheet.spells.bonuses = {COMBAT_EXPERIENCE: 20.0}
    fight.harness.parts.minds.harm.kill(
        fight.player.zone, fight.creature(level=1), fight.player.spawn
    )
    # 28 points, and a half of them.
    assert fight.player.character.experience == 42
