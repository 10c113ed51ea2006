"""Spells without Lua: their acts, and all that come with the server."""

from pathlib import Path
from typing import Any

import pytest

from emu.content.spells import SpellKinds, TomlSpells, shipped_spells
from emu.spells.kinds import SpellKind, SpellTarget
from emu.world.actors.spawn import Spawn
from emu.world.spells.living import Control, End, WaitingCast
from emu.world.spells.plain import ACTS
from tests.support.world.spell_scenes import SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")
ROW = """
[[spell]]
id = 7
name = "Mix"
target = 1
{more}
script = "plain:{acts}"
[[spell.tier]]
range = 25
duration1 = {duration}
call_frequency = {period}
values = {values}
[[spell.class]]
class = 11
level = 1
"""
SHIPPED = SpellKinds(None, TomlSpells([shipped_spells()]))
ALL = sorted(SHIPPED.load(range(2_000_000_001, 2_000_000_040)).values(), key=lambda one: one.id)


def scene_of(
    tmp_path: Path, acts: str, *values: float, friendly: bool = False, duration: int = 0,
    period: int = 0,
) -> SpellScene:  # fmt: skip
    more = "is_friendly = true" if friendly else ""
    row = ROW.format(
        acts=acts, values=list(values), more=more, duration=duration, period=period
    )  # fmt: skip
    scene = SpellScene(tmp_path, toml=row, level=1)
    scene.know(7)
    return scene


def cast(scene: SpellScene, target: Spawn | None = None) -> None:
    scene.cast(7, target)
    scene.run(0.1)


# Two points come from 20 of wisdom; magic adds log10(1 x 20) / 50 of the whole (eq2-spells.md 7).
def test_harm_has_level_and_attribute_and_repeats(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, "damage", 7, 8, 8, duration=120, period=40)
    crab = scene.creature(level=1)
    cast(scene, crab)
    assert crab.sheet.health.current == 10_000 - 10
    scene.run(4.1)
    assert crab.sheet.health.current == 10_000 - 20


def test_help_fills_health_and_power(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, "heal+power", 30, 30, 5, 5, friendly=True)
    sheet = scene.player.spawn.sheet
    sheet.health.set_current(900)
    sheet.power.set_current(900)
    cast(scene)
    assert (sheet.health.current, sheet.power.current) == (932, 905)


def test_what_lasts_is_taken_back(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, "bonus+snare+control", 0, 6, 40, 5, duration=100)
    crab = scene.creature()
    cast(scene, crab)
    marks = crab.sheet.spells
    assert (crab.sheet.attribute("str"), marks.snare) == (26, 0.4)
    assert marks.controls == {Control.ROOT, Control.SNARE}
    scene.run(10.5)
    marks = crab.sheet.spells
    assert (crab.sheet.attribute("str"), marks.snare) == (20, 1.0)
    assert not marks.controls


def test_fear_lets_a_creature_run_away_while_it_lasts(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, "control", int(Control.FEAR), duration=100)
    crab, creatures = scene.creature(), scene.harness.parts.combat.creatures
    cast(scene, crab)
    assert creatures._scared == {crab}
    scene.run(10.5)
    assert creatures._scared == set()


def test_stealth_lasts_and_is_taken_back(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, "stealth", friendly=True, duration=100)
    cast(scene)
    own = scene.player.spawn
    assert own.sheet.spells.stealth == {1}
    scene.run(10.5)
    assert own.sheet.spells.stealth == set()


def test_taunts_and_interruptions(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, "taunt+interrupt", 77)
    crab = scene.creature()
    interrupted: list[Spawn] = []
    scene.spells._plain.interrupt = interrupted.append
    cast(scene, crab)
    assert crab.mind.hates[scene.player.spawn] >= 77
    assert interrupted == [crab]


def test_a_cure_ends_so_many_effects_of_any_level(tmp_path: Path) -> None:
    """Source: docs/guides/spells.md (acts without Lua)."""
    scene = scene_of(tmp_path, "cure", 2, friendly=True)
    lasting: Any = scene.spells._plain.lasting
    calls: list[tuple[Spawn, int, int, str]] = []
    lasting.cure = lambda spawn, number, _wanted, level, *, caster, name: calls.append(
        (spawn, number, level, f"{name} by {caster.name}")
    )
    cast(scene, scene.player.spawn)
    assert calls == [(scene.player.spawn, 2, 0, "Mix by Aldana")]


def test_a_ward_takes_blows(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, "ward", 60, friendly=True, duration=100)
    cast(scene)
    own = scene.player.spawn
    assert scene.harness.minds.harm.through(scene.zone, own, None, 50) == 0
    # 60, and 2 for 20 of wisdom.
    assert scene.harness.minds.harm.through(scene.zone, own, None, 50) == 38
    assert scene.effects() == []


@pytest.mark.parametrize(("acts", "values"), [("dance", ()), ("damage", (3, 8)), ("", ())])
def test_a_row_that_is_not_usable_casts_nothing(
    tmp_path: Path, acts: str, values: tuple[int, ...]
) -> None:
    scene = scene_of(tmp_path, acts, *values)
    crab = scene.creature()
    cast(scene, crab)
    assert crab.sheet.health.current == 10_000
    assert scene.errors()


def test_the_shipped_spells_are_those_of_four_archetypes() -> None:
    assert len(ALL) == 30
    levels: dict[int, set[int]] = {}
    for kind in ALL:
        for one in kind.classes:
            levels.setdefault(one.class_, set()).add(one.level)
    assert {class_: max(found) for class_, found in levels.items()} == {1: 5, 11: 5, 21: 5, 31: 5}
    assert all(1 in found for found in levels.values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_each_shipped_spell_acts_and_leaves_nothing(tmp_path: Path, kind: SpellKind) -> None:
    path = shipped_spells()
    scene = SpellScene(tmp_path, toml=path.read_text(encoding="utf-8"), level=5)
    own, crab = scene.player.spawn, scene.creature()
    own.set_target(crab)
    dead = kind.target is SpellTarget.CORPSE
    friend = scene.friend().spawn if dead else own
    if dead:
        scene.harness.minds.harm.kill(scene.zone, friend, None)
    target = friend if kind.is_friendly else crab
    tier = kind.tiers[1]
    acts = kind.script.removeprefix("plain:").split("+")
    assert sum(ACTS[one].arity for one in acts) == len(tier.values)
    spell = scene.spells.casts.cast(
        scene.zone, own, WaitingCast(kind, tier), target, cast_time=0.0, is_given=True
    )  # fmt: skip
    assert spell is not None
    if kind.lasts(tier) and not spell.is_resisted:
        assert spell in scene.effects(target)
        scene.spells.lasting.end(spell, End.CANCELED)
    assert spell.is_over
    assert not crab.sheet.spells.controls
    assert own.sheet.attribute("str") == own.sheet.attribute("intel") == 20
