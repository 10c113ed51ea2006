"""Checks of casts that only some spells meet."""

from pathlib import Path

import pytest

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
