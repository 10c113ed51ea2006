"""Stored values that cannot be used, and what takes their place."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from emu.model import Character, Color, Equipment, Hotkey, KnownSkill, Membership, Title
from emu.times import FOR_EVER
from emu.usable import usable_character, usable_world_character
from tests.support.world.world_fakes import world_character

WHOLE = world_character(5, place=(1.0, 2.0, 3.0, 90.0, 7), relations=((0, "Borvik"),),
                        titles=(Title("the Brave"),), hotkeys=(Hotkey(1, 2, 3),),
                        channels=(Membership("Grove"),), appearance={"race_file": "ec/pc"},
                        colors={"skin_color": Color(-1, 255, 0)})  # fmt: skip
LISTED = Character(1, 2, 3, 4, "Aldana", level=7, equipment=(Equipment(1, 2),))


def test_what_can_be_used_is_the_same_object() -> None:
    assert usable_world_character(WHOLE) == (WHOLE, [])
    assert usable_world_character(WHOLE)[0] is WHOLE
    assert usable_character(LISTED)[0] is LISTED


@pytest.mark.parametrize(
    ("field", "value", "used"),
    [
        ("level", 0, 1), ("level", -5, 1), ("level", 256, 1), ("level", 10**12, 1),
        ("level", None, 1), ("level", "x", 1), ("race", 256, 0), ("race", -1, 0), ("class_", None,
        0),
        ("gender", 10**9, 0), ("deity", -1, 0), ("zone_id", -1, 0), ("zone_id", 2**32, 0),
        ("client_version", -1, 0), ("created", math.inf, FOR_EVER), ("created", math.nan, 0.0),
        ("last_played", -1.0, 0.0), ("last_played", None, 0.0),
        ("muted_until", math.inf, FOR_EVER), ("muted_until", math.nan, 0.0),
        ("admin_status", 10**9, 0), ("admin_status", -3, -2), ("admin_status", None, 0),
        ("name", "", "Character5"), ("name", None, "Character5"), ("name", "a\0b", "Character5"),
        ("name", "a\udcffb", "Character5"), ("name", "x" * 65, "Character5"),
        ("prefix", "x" * 64, ""), ("suffix", None, ""),
        ("place", (None, 2.0, 3.0, 0.0, 0), None), ("place", (1.0, math.inf, 3.0, 0.0, 0), None),
        ("place", (1.0, 2.0, math.nan, 0.0, 0), None), ("place", (1.0, 2.0, 32_001.0, 0.0, 0),
        None),
        ("place", (1.0, 2.0, 3.0, None, 7), (1.0, 2.0, 3.0, 0.0, 7)),
        ("place", (1.0, 2.0, 3.0, math.nan, 7), (1.0, 2.0, 3.0, 0.0, 7)),
        ("place", (1.0, 2.0, 3.0, 4.0, -1), (1.0, 2.0, 3.0, 4.0, 0)),
        ("relations", ((0, "Borvik"), (1, "Corin"), (2, "")), ((0, "Borvik"),)),
        ("relations", ((0, "a\udcff"),), ()),
        ("titles", (Title(""), Title("ok"), Title("x" * 64)), (Title("ok"),)),
        ("hotkeys", (Hotkey(100, 0, 1), Hotkey(0, -1, 1), Hotkey(0, 0, 2**40)), ()),
        ("channels", (Membership(""), Membership("Grove", "x" * 300)), ()),
        ("tradeskill_class", 256, 0), ("tradeskill_level", -1, 1), ("last_name", "a\0b", ""),
        ("last_name", "x" * 65, ""), ("coins", -1, 0), ("coins", 2**60, 0), ("coins", None, 0),
        ("status_points", 2**32, 0), ("experience", -1, 0), ("experience_needed", "x", 0),
        ("skills", (KnownSkill(1, 2, 3), KnownSkill(-1, 2, 3), KnownSkill(1, 2, 2**16)),
        (KnownSkill(1, 2, 3),)),
        ("languages", (0, 13, 256), (13,)),
        ("appearance", {"a": 2**40, "b": 1, "c": math.inf}, {"b": 1}),
        ("colors", {"a": Color(300, 0, 0), "b": Color(1, 2, 3)}, {"b": Color(1, 2, 3)}),
    ],
)  # fmt: skip
def test_a_value_of_the_world_that_cannot_be_used(field: str, value: Any, used: Any) -> None:
    made, problems = usable_world_character(replace(WHOLE, **{field: value}))
    assert getattr(made, field) == used
    assert problems
    assert replace(made, **{field: None}) == replace(WHOLE, **{field: None})
    assert usable_world_character(made)[1] == []
    for problem in problems:
        assert str(problem).isprintable()
        assert len(str(problem)) < 300


@pytest.mark.parametrize(
    ("field", "value", "used"),
    [
        ("level", -1, 1), ("level", 2**32, 1), ("level", None, 1), ("race", 2**40, 0),
        ("created", math.inf, FOR_EVER), ("last_played", math.nan, 0.0), ("name", "a\udcff",
        "Character1"),
        ("name", None, "Character1"), ("zone_name", "\ud800", ""), ("zone_description", None, ""),
        ("appearance", {"race_type": 2**40}, {}), ("colors", {"a": Color(1, 2, -129)}, {}),
        ("equipment", (Equipment(-1, 2), Equipment(1, 2)), (Equipment(1, 2),)),
    ],
)  # fmt: skip
def test_a_value_of_the_list_that_cannot_be_shown(field: str, value: Any, used: Any) -> None:
    made, problems = usable_character(replace(LISTED, **{field: value}))
    assert getattr(made, field) == used
    assert len(problems) == 1
    assert usable_character(made)[1] == []
