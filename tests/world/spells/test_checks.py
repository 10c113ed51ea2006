"""Checks of casts that only some spells meet."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from emu.world.actors.bonus_types import MORE_CONCENTRATION
from emu.world.spells.living import Control
from tests.support.world.spell_scenes import SMITE, SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

SMITE_ID = 110014


@pytest.mark.parametrize(
    ("control", "error"), [(Control.STUN, 24), (Control.MEZ, 24), (Control.STIFLE, 25)]
)
def test_controls_forbid_casts(tmp_path: Path, control: int, error: int) -> None:
    scene = SpellScene(tmp_path, toml=SMITE)
    scene.state().controls = frozenset((control,))
    scene.cast(SMITE_ID, scene.creature())
    assert scene.errors() == [error]


def test_some_spells_disregard_them(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE.replace("target = 1", "target = 1\ncasting_flags = 6"))
    scene.state().controls = frozenset((Control.STUN, Control.STIFLE))
    scene.cast(SMITE_ID, scene.creature())
    assert scene.errors() == []


def test_too_close_and_too_expensive(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE.replace("range = 25", "range = 25\nmin_range = 10"))
    scene.cast(SMITE_ID, scene.creature())
    assert scene.errors() == [43]
    other = SpellScene(tmp_path / "b", toml=SMITE.replace("power = 8", "health = 5000"))
    other.cast(SMITE_ID, other.creature())
    assert other.errors() == [60]


def test_a_locked_creature_is_nobody_elses(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE)
    crab, friend = scene.creature(), scene.friend()
    crab.mind.fighters[friend.spawn] = None
    scene.cast(SMITE_ID, crab)
    assert scene.errors() == [55]


@pytest.mark.parametrize(
    ("cost", "error"),
    [("savagery = 1", 2), ("dissonance = 1", 2), ("power = 1001", 59), ("power_percent = 101", 59)],
)
def test_what_nobody_has_forbids_a_cast(tmp_path: Path, cost: str, error: int) -> None:
    scene = SpellScene(tmp_path, toml=SMITE.replace("power = 8", cost))
    scene.cast(SMITE_ID, scene.creature())
    assert scene.errors() == [error]


def test_all_power_may_be_spent_and_not_all_health(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE.replace("power = 8", "power = 1000"))
    scene.cast(SMITE_ID, scene.creature())
    assert scene.errors() == []
    for name, cost, errors in (("b", 1000, [60]), ("c", 999, [])):
        other = SpellScene(tmp_path / name, toml=SMITE.replace("power = 8", f"health = {cost}"))
        other.cast(SMITE_ID, other.creature())
        assert other.errors() == errors


def test_fear_forbids_casts_last(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE)
    scene.state().controls = frozenset((Control.FEAR,))
    scene.cast(SMITE_ID, scene.creature())
    (error,) = scene.errors()
    scene.state().controls = frozenset((Control.FEAR, Control.STIFLE))
    scene.cast(SMITE_ID, scene.creature())
    assert scene.errors()[-1] == 25 != error


def living(scene: SpellScene) -> Any:
    kind = scene.kind(SMITE_ID)
    return SimpleNamespace(caster=scene.player.spawn, kind=kind, tier=kind.tiers[1])


def test_concentration_is_five_and_what_things_add(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE.replace("power = 8", "concentration = 2"))
    checks, spell = scene.spells.casts._checks, living(scene)
    scene.state().concentration = 3
    assert checks._cost_error(spell) is None
    scene.state().concentration = 4
    assert checks._cost_error(spell) == "no_concentration"
    scene.player.spawn.sheet.worn = {MORE_CONCENTRATION: 1.0}
    assert checks._cost_error(spell) is None


def test_a_cast_reaches_as_far_as_its_tier_says(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE.replace("range = 25", "range = 25\nmin_range = 10"))
    checks, spell = scene.spells.casts._checks, living(scene)
    for away, error in ((8.0, "too_close"), (20.0, None), (40.0, "too_far")):
        assert checks._distance_error(spell, scene.creature(away=away)) == error
    assert checks._distance_error(spell, spell.caster) is None
    assert checks._distance_error(spell, None) is None


def test_ministration_saves_power_of_its_own_spells_alone(tmp_path: Path) -> None:
    """Source: eq2-spells.md: up to 15 % less (skill / 25 percent)."""
    scene = SpellScene(tmp_path, toml=SMITE.replace("power = 8", "power = 100"))
    checks, kind = scene.spells.casts._checks, scene.kind(SMITE_ID)
    skill = next(
        one.id for one in scene.harness.world.knowledge.skills.values()
        if one.name == "Ministration"
    )  # fmt: skip
    checks._skill_of = lambda _spawn, number: 250 if number == skill else 0
    own = scene.player.spawn
    assert checks.power_for(own, kind, kind.tiers[1]) == 100
    ministered = replace(kind, mastery_skill=skill)
    assert checks.power_for(own, ministered, kind.tiers[1]) == 90
