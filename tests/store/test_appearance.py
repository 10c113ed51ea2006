"""The text of an appearance returns what it was made of, and reports what is damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from emu.model import Color, Equipment
from emu.store.appearance import appearance_text, read_appearance
from emu.usable import usable_character
from tests.support.database.stores import character

FIELDS = {"race_type": 111, "body_size": -20, "race_file": "ec/pc/human", "odd\udcff\0": 1.5}
COLORS = {"hair_color1": Color(250, 1, 2), "eye_type": Color(-100, 0, 100, signed=True)}
WORN = (Equipment(3, 900, (1, 2, 3), (4, 5, 6)), Equipment(19, 5))


def test_an_appearance_comes_back_as_it_was() -> None:
    text = appearance_text(FIELDS, COLORS, WORN)
    assert read_appearance(text) == (FIELDS, COLORS, WORN)
    assert text.isascii()
    assert "\0" not in text
    assert read_appearance(appearance_text({}, {})) == read_appearance("{}") == ({}, {}, ())


def test_the_later_item_of_a_slot_counts_and_slots_are_in_order() -> None:
    text = appearance_text({}, {}, (*reversed(WORN), Equipment(3, 1)))
    assert read_appearance(text).equipment == (Equipment(3, 1), Equipment(19, 5))


@pytest.mark.parametrize(
    ("stored", "field"),
    [
        ("", "appearance 'text'"),
        ("no JSON", "appearance 'text'"),
        ("[" * 100_000, "appearance 'text'"),
        ([], "appearance 'text'"),
        ({"appearance": 3}, "appearance 'fields'"),
        ({"appearance": {"race_type": True}}, "appearance 'race_type'"),
        ({"appearance": {"race_type": [1]}}, "appearance 'race_type'"),
        ({"colors": [1]}, "appearance 'colors'"),
        ({"colors": {"hair_color1": 5}}, "colors 'hair_color1'"),
        ({"colors": {"hair_color1": [1, 2, 3]}}, "colors 'hair_color1'"),
        ({"colors": {"hair_color1": [1, 2, None, 0]}}, "colors 'hair_color1'"),
        ({"equipment": {}}, "appearance 'equipment'"),
        ({"equipment": [5]}, "equipment"),
        ({"equipment": [[1, 2, 3]]}, "equipment"),
        ({"equipment": [["3", 2, 1, 1, 1, 1, 1, 1]]}, "equipment"),
    ],
)
def test_a_damaged_text_is_a_problem_and_blocks_nobody(stored: Any, field: str) -> None:
    text = stored if isinstance(stored, str) else json.dumps(stored)
    fields, colors, equipment = read_appearance(text)
    damaged = replace(character(), appearance=fields, colors=colors, equipment=equipment)
    usable, problems = usable_character(damaged)
    assert [problem.field for problem in problems] == [field]
    assert (usable.appearance, usable.colors, usable.equipment) == ({}, {}, ())
