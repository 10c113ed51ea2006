"""A character's looks as its ghost has them."""

from __future__ import annotations

from emu.model import Color
from emu.world.players.looks import spawn_looks
from tests.support.world_fakes import world_character


def test_race_class_and_colors_become_fields() -> None:
    row = world_character(5, colors={"skin_color": Color(125, 100, 90, signed=True)})
    looks = spawn_looks(row)
    assert (looks["race"], looks["class"], looks["gender"]) == (9, 1, 1)
    assert looks["skin_color"] == [125, 100, 90]
