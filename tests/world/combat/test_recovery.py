"""Regeneration: each 6 s, less in a fight, as scripts set it."""

import pytest

from emu.world.actors.sheet import FieldKind, SpellMarks
from tests.support.world.fights import HERE, Fight


def test_hurt_players_regain_health_in_steps() -> None:
    fight = Fight(level=10)
    health = fight.player.spawn.sheet.health
    fight.harness.parts.minds.harm.take_health(fight.player.zone, fight.player.spawn, None, 50)
    hurt = health.current
    fight.run(5.9)
    assert health.current == hurt
    fight.run(0.2)
    assert health.current == hurt + 9
    fight.run(60.0)
    assert health.current == health.most


def test_fighters_regain_less() -> None:
    fight = Fight(level=10)
    crab = fight.creature("a post", level=10)
    crab.sheet.health.fill(100_000)
    harm = fight.harness.parts.minds.harm
    harm.take_health(fight.player.zone, crab, fight.player.spawn, 5000)
    fight.harness.parts.combat.fights.rest(crab)
    hurt = crab.sheet.health.current
    fight.run(6.1)
    assert crab.sheet.health.current == hurt + 2


def test_scripts_decide_how_much() -> None:
    fight = Fight(level=10)
    sheet = fight.player.spawn.sheet
    sheet.set("hp_regen_override", FieldKind.UNSIGNED, 1)
    fight.harness.parts.minds.harm.take_health(fight.player.zone, fight.player.spawn, None, 50)
    hurt = sheet.health.current
    fight.run(7.0)
    assert sheet.health.current == hurt
    sheet.set("hp_regen", FieldKind.SIGNED, 4)
    fight.run(6.0)
    assert sheet.health.current == hurt + 4


@pytest.mark.parametrize("name", ["power_regen", "pw_regen"])
def test_both_names_of_the_power_are_known(name: str) -> None:
    """The community's module for creatures sets pw_regen and pw_regen_override."""
    fight = Fight(level=10)
    sheet = fight.player.spawn.sheet
    assert sheet.set(f"{name}_override", FieldKind.UNSIGNED, 1)
    sheet.power.set_current(3)
    fight.harness.parts.sheets.send(fight.player)
    fight.run(7.0)
    assert sheet.power.current == 3
    assert sheet.set(name, FieldKind.SIGNED, 4)
    fight.run(6.0)
    assert sheet.power.current == 7


@pytest.mark.parametrize(
    ("is_fighting", "health", "power"),
    # Level 10 regains 9 and 12 at rest, 2 and 2 in a fight.
    [(False, 9 + 1 + 4 + 16, 12 + 2 + 8 + 32), (True, 2 + 16, 2 + 32)],
)
def test_spells_add_to_what_is_regained(is_fighting: bool, health: int, power: int) -> None:
    """EQ2Emulator's rule (eq2-real-content.md 5.3): 600, 602 and 604 at rest, 604 in a fight."""
    fight = Fight(level=10)
    spawn = fight.player.spawn
    spawn.sheet.spells = SpellMarks()
    spawn.sheet.spells.bonuses = {600: 1.0, 601: 2.0, 602: 4.0, 603: 8.0, 604: 16.0, 605: 32.0}
    spawn.sheet.power.set_current(10)
    fight.harness.parts.minds.harm.take_health(fight.player.zone, spawn, None, 100)
    if is_fighting:
        crab = fight.creature(at=HERE._replace(x=20.0))
        fight.harness.parts.combat.creatures.hate(fight.player.zone, crab, spawn, 1)
        fight.harness.parts.combat.creatures.hold(crab, on=True)
    before = spawn.sheet.health.current
    fight.run(6.1)
    assert (spawn.sheet.health.current - before, spawn.sheet.power.current - 10) == (health, power)


def test_players_recover_who_have_come_with_less() -> None:
    # EQ2Emulator's zones let all their players recover, however they have lost it.
    fight = Fight(level=10, health=20, power=3)
    sheet = fight.player.spawn.sheet
    assert (sheet.health.current, sheet.power.current) == (20, 3)
    fight.run(6.1)
    assert sheet.health.current > 20
    assert sheet.power.current > 3
    fight.run(600.0)
    assert (sheet.health.current, sheet.power.current) == (sheet.health.most, sheet.power.most)


def test_players_recover_who_were_raised_with_less() -> None:
    fight = Fight(level=10)
    minds, falls = fight.harness.parts.minds, fight.harness.parts.combat.falls
    minds.harm.kill(fight.player.zone, fight.player.spawn, None)
    falls.resurrect(fight.player, health=10.0, power=0.0)
    sheet = fight.player.spawn.sheet
    fight.run(600.0)
    assert (sheet.health.current, sheet.power.current) == (sheet.health.most, sheet.power.most)


def test_players_recover_the_power_that_was_taken_from_them() -> None:
    fight = Fight(level=10)
    power = fight.player.spawn.sheet.power
    power.set_current(1)
    fight.harness.parts.sheets.send(fight.player)
    fight.run(600.0)
    assert power.current == power.most
