"""Creatures that cast: openings, choices, strengthening, and what they pay."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from emu.world.events import FightOver
from emu.world.spells.living import Control, End, LivingSpell
from tests.support.world.spell_scenes import BUFF, HEAL, SMITE, SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")
SMITE_ID, HEAL_ID, COURAGE = 110014, 110012, 110002
LIST = "[[creature_spell]]\nlist = 5\nspell = {spell}\n{more}\n"


def scene_with(tmp_path: Path, *rows: tuple[int, str]) -> SpellScene:
    lists = "".join(LIST.format(spell=spell, more=more) for spell, more in rows)
    # The lowest chance: whoever may cast does.
    scene = SpellScene(tmp_path, toml=SMITE + HEAL + BUFF + lists)
    chance = SimpleNamespace(randint=lambda low, _high: low, random=lambda: 0.0)
    scene.harness.world.zones.chances._of[scene.zone] = chance
    return scene


def caster(scene: SpellScene, **values: Any) -> Any:
    crab = scene.creature(**values)
    crab.mind.spell_list = 5
    crab.sheet.power.fill(100)
    return crab


def fight(scene: SpellScene, crab: Any, seconds: float = 3.0) -> list[LivingSpell]:
    """Let a creature fight the player, and return the casts that it has begun."""
    begun: list[LivingSpell] = []
    scene.player.spawn.sheet.health.fill(100_000)
    scene.harness.parts.combat.creatures.hate(scene.zone, crab, scene.player.spawn, 100)
    for _ in range(int(seconds * 10)):
        scene.run(0.1)
        casting = scene.state(crab).casting
        if casting is not None and casting not in begun:
            begun.append(casting)
    return begun


def test_a_creature_casts_from_its_list_and_pays(tmp_path: Path) -> None:
    scene = scene_with(tmp_path, (SMITE_ID, ""))
    crab = caster(scene)
    begun = fight(scene, crab)
    assert [one.kind.id for one in begun] == [SMITE_ID]
    assert begun[0].target is scene.player.spawn
    assert crab.sheet.power.current == 92


# The pause of eq2-spells.md 8: cast 2.0, recovery 0.5 and two seconds; the recast of 3 is shorter.
def test_a_creature_rests_between_casts(tmp_path: Path) -> None:
    scene = scene_with(tmp_path, (SMITE_ID, ""))
    crab = caster(scene)
    assert len(fight(scene, crab, 4.0)) == 1
    assert len(fight(scene, crab, 3.0)) >= 1


# eq2-spells.md 8: the skills of creatures are asked by name, with five times the level.
def test_a_creature_has_the_skills_of_its_level(tmp_path: Path) -> None:
    scene = scene_with(tmp_path)
    crab = caster(scene)
    crab.level = 12
    assert scene.spells.skill_of(crab, 613995491) == 60
    assert scene.spells.skill_of(crab, 0) == 0


def test_without_power_it_strikes(tmp_path: Path) -> None:
    scene = scene_with(tmp_path, (SMITE_ID, ""))
    crab = caster(scene)
    crab.sheet.power.fill(7)
    assert fight(scene, crab) == []


def test_it_opens_a_fight_once_with_what_is_for_that(tmp_path: Path) -> None:
    scene = scene_with(tmp_path, (SMITE_ID, "on_aggro = true"))
    crab = caster(scene)
    assert len(fight(scene, crab, 8.0)) == 1
    scene.harness.world.events.publish(FightOver(zone=scene.zone, spawn=crab))
    assert len(fight(scene, crab, 4.0)) == 1


def test_a_stunned_creature_opens_the_fight_when_it_can(tmp_path: Path) -> None:
    """eq2-spells.md 8: on_aggro_cast first, each once."""
    scene = scene_with(tmp_path, (SMITE_ID, "on_aggro = true"))
    crab = caster(scene)
    kind = scene.kind(COURAGE)
    tier = kind.tier(1)
    assert tier is not None
    buff = LivingSpell(kind, tier, scene.zone, crab)
    buff.targets = [crab]
    buff.gifts_of(crab).put("controls", Control.STUN)
    scene.spells.lasting.begin(buff)
    assert fight(scene, crab) == []
    scene.spells.lasting.end(buff, End.EXPIRED)
    assert [one.kind.id for one in fight(scene, crab, 1.0)] == [SMITE_ID]


def test_helpful_spells_are_for_those_who_need_them(tmp_path: Path) -> None:
    scene = scene_with(tmp_path, (HEAL_ID, ""))
    crab = caster(scene)
    assert fight(scene, crab) == []
    crab.sheet.health.set_current(5_000)
    begun = fight(scene, crab)
    assert [one.target for one in begun] == [crab]


def test_it_casts_nothing_above_the_health_of_a_row(tmp_path: Path) -> None:
    scene = scene_with(tmp_path, (SMITE_ID, "health_ratio = 40"))
    crab = caster(scene)
    assert fight(scene, crab) == []
    crab.sheet.health.set_current(3_000)
    assert len(fight(scene, crab)) == 1


def test_a_creature_strengthens_itself_where_it_appears(tmp_path: Path) -> None:
    buff = BUFF.replace("cast_kind = 1\n", "")
    lists = LIST.format(spell=COURAGE, more="on_spawn = true")
    scene = SpellScene(tmp_path, toml=buff + lists)
    crab = scene.creature()
    own = {"spell_list": 5}
    standing: Any = SimpleNamespace(template=SimpleNamespace(own=own), group=0)
    scene.spells.appeared(scene.zone, crab, standing)
    assert scene.effects(crab) == []
    scene.run(1.2)
    assert [one.kind.id for one in scene.effects(crab)] == [COURAGE]
    scene.spells.vanished(scene.zone, crab)
    assert scene.effects(crab) == []


# EQ2Emulator's code: out of a fight a creature casts the toggles of its list on itself.
def test_a_creature_that_rests_has_the_stances_of_its_list(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE + BUFF + LIST.format(spell=COURAGE, more=""))
    crab = scene.creature()
    standing: Any = SimpleNamespace(template=SimpleNamespace(own={"spell_list": 5}), group=0)
    scene.spells.appeared(scene.zone, crab, standing)
    scene.run(1.2)
    (stance,) = scene.effects(crab)
    assert stance.kind.id == COURAGE
    scene.spells.lasting.end(stance, "purged")
    scene.harness.world.events.publish(
        FightOver(zone=scene.zone, spawn=crab, foe=scene.player.spawn)
    )
    scene.run(1.2)
    assert [one.kind.id for one in scene.effects(crab)] == [COURAGE]


def resting(tmp_path: Path, **tier: int) -> tuple[SpellScene, Any]:
    """A creature that has a spell of its list on itself, with these values of its tier."""
    changed = BUFF.replace("cast_kind = 1\n", "").replace("lasts_until_cancelled = true\n", "")
    for name, value in tier.items():
        changed = re.sub(rf"\n{name} = .*", "", changed)
        changed = changed.replace("[[spell.tier]]", f"[[spell.tier]]\n{name} = {value}")
    lists = LIST.format(spell=COURAGE, more="on_spawn = true")
    scene = SpellScene(tmp_path, toml=SMITE + changed + lists)
    crab = scene.creature()
    standing: Any = SimpleNamespace(template=SimpleNamespace(own={"spell_list": 5}), group=0)
    scene.spells.appeared(scene.zone, crab, standing)
    scene.run(1.2)
    assert [one.kind.id for one in scene.effects(crab)] == [COURAGE]
    return scene, crab


def casts_within(scene: SpellScene, crab: Any, seconds: float) -> bool:
    """Return whether a creature has its spell again within a time, looked at each tenth."""
    for _ in range(round(seconds * 10)):
        scene.run(0.1)
        if scene.effects(crab):
            return True
    return False


# eq2-spells.md 8: out of a fight it casts on itself, with the pause of each cast.
@pytest.mark.parametrize("recast", [0, 20])
def test_at_rest_it_renews_what_ends_after_its_pause_and_recast(
    tmp_path: Path, recast: int
) -> None:
    scene, crab = resting(tmp_path, duration1=50, duration2=50, recast=recast)
    scene.run(5.0)
    assert scene.effects(crab) == []
    pause = 14.5 if recast else 1.5
    assert not casts_within(scene, crab, pause)
    assert casts_within(scene, crab, 1.0)


def test_in_a_fight_it_does_not_renew_what_is_for_rest(tmp_path: Path) -> None:
    scene, crab = resting(tmp_path)
    scene.player.spawn.sheet.health.fill(1_000_000)
    scene.harness.parts.combat.creatures.hate(scene.zone, crab, scene.player.spawn, 50)
    scene.spells.lasting.end(scene.effects(crab)[0], "purged")
    assert not casts_within(scene, crab, 8.0)
    crab.mind.hates.clear()
    assert casts_within(scene, crab, 4.0)


@pytest.mark.parametrize("end", ["death", "removal", "zone"])
def test_nobody_renews_anything_who_is_gone(tmp_path: Path, end: str) -> None:
    scene, crab = resting(tmp_path)
    if end == "death":
        scene.harness.minds.harm.kill(scene.zone, crab, None)
    elif end == "removal":
        scene.spells.vanished(scene.zone, crab)
    else:
        scene.spells.ended(scene.zone)
    assert len(scene.spells.creatures._firsts) == 0


def test_a_list_without_stances_plans_nothing(tmp_path: Path) -> None:
    scene = scene_with(tmp_path, (SMITE_ID, ""))
    crab = caster(scene)
    scene.harness.world.events.publish(
        FightOver(zone=scene.zone, spawn=crab, foe=scene.player.spawn)
    )
    assert len(scene.spells.creatures._firsts) == 0


def test_a_ratio_below_zero_asks_for_more_health(tmp_path: Path) -> None:
    # EQ2Emulator's code; no row of the real content has one.
    scene = scene_with(tmp_path, (SMITE_ID, "health_ratio = -40"))
    crab = caster(scene)
    crab.sheet.health.set_current(3_000)
    assert fight(scene, crab) == []
    crab.sheet.health.set_current(9_000)
    assert len(fight(scene, crab)) == 1


# -- groups at rest: eq2-spells.md 8 (on itself, then on its group) --------------------------------


def standing(group: int = 7, spell_list: int = 0) -> Any:
    own = {"spell_list": spell_list} if spell_list else {}
    return SimpleNamespace(template=SimpleNamespace(own=own), group=group)


def healer_and_mate(tmp_path: Path, toml: str = BUFF) -> tuple[SpellScene, Any, Any]:
    """Let a creature with a spell for times of rest stand in a group with another one."""
    scene = SpellScene(tmp_path, toml=toml + LIST.format(spell=COURAGE, more="on_spawn = true"))
    healer, mate = scene.creature("a shaman"), scene.creature("an orc", 6.0)
    scene.spells.appeared(scene.zone, healer, standing(spell_list=5))
    scene.spells.appeared(scene.zone, mate, standing())
    return scene, healer, mate


def has(scene: SpellScene, spawn: Any) -> list[int]:
    state = scene.spells.states.get(spawn)
    return [one.kind.id for one in state.effects] if state is not None else []


def test_a_creature_strengthens_its_group_at_rest(tmp_path: Path) -> None:
    scene, healer, mate = healer_and_mate(tmp_path)
    far, other = scene.creature("a scout", 40.0), scene.creature("a rat", 5.0)
    scene.spells.appeared(scene.zone, far, standing())
    scene.spells.appeared(scene.zone, other, standing(group=0))
    scene.run(1.2)
    assert [has(scene, one) for one in (healer, mate)] == [[COURAGE], [COURAGE]]
    assert [has(scene, one) for one in (far, other)] == [[], []]
    # It renews what its mate has lost.
    scene.spells.lasting.end(scene.effects(mate)[0], "expired")
    scene.run(2.5)
    assert has(scene, mate) == [COURAGE]


def test_who_comes_to_the_group_later_is_strengthened_as_well(tmp_path: Path) -> None:
    scene, healer, mate = healer_and_mate(tmp_path)
    scene.run(2.0)
    scene.spells.vanished(scene.zone, mate)
    scene.zone.remove(mate, scene.harness.now)
    next_one = scene.creature("an orc", 6.0)
    scene.spells.appeared(scene.zone, next_one, standing())
    scene.run(1.2)
    assert has(scene, next_one) == [COURAGE]
    assert has(scene, healer) == [COURAGE]
    scene.spells.vanished(scene.zone, healer)
    assert scene.spells.creatures._strengtheners == {}


def test_nobody_is_strengthened_in_a_fight(tmp_path: Path) -> None:
    scene, _, mate = healer_and_mate(tmp_path)
    scene.player.spawn.sheet.health.fill(100_000)
    scene.harness.parts.combat.creatures.hate(scene.zone, mate, scene.player.spawn, 100)
    scene.run(1.2)
    assert has(scene, mate) == []


@pytest.mark.parametrize("change", ["target = 0", "target = 1\nis_group = true"])
def test_only_spells_for_one_friend_are_cast_at_mates(tmp_path: Path, change: str) -> None:
    scene, healer, mate = healer_and_mate(tmp_path, BUFF.replace("target = 1", change))
    scene.run(1.2)
    assert has(scene, healer) == [COURAGE]
    # A spell for the group reaches all of it with one cast.
    assert has(scene, mate) == ([COURAGE] if "is_group" in change else [])
    assert scene.spells.creatures._strengtheners == {}


def test_a_zone_that_ends_takes_its_groups_along(tmp_path: Path) -> None:
    scene, _, _ = healer_and_mate(tmp_path)
    assert scene.spells.creatures._strengtheners
    scene.spells.ended(scene.zone)
    assert scene.spells.creatures._strengtheners == {}
