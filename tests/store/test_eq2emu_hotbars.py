"""Hotbars and macros of EQ2Emulator's characters, as this world stores them.

Source of the columns: docs/protocol/world/data.md#characters.
"""

from __future__ import annotations

from typing import Any

import pytest

from emu.model import Hotkey
from emu.store.eq2emu_hotbars import ImportedHotbars
from emu.world.actors import client_data
from emu.world.actors.client_data import ClientData, Macro
from tests.support.files.eq2emu_players import ANTONIA

GREET = ANTONIA["character_macros"][0]


def icon_of(spell: int) -> tuple[int, int]:
    return (33, 312) if spell == 110014 else (0, 0)


@pytest.fixture
def imported() -> ImportedHotbars:
    found = ImportedHotbars()
    for row in ANTONIA["character_skillbar"]:
        found.add_hotkey(row, icon_of)
    for row in ANTONIA["character_macros"]:
        found.add_macro(row)
    return found


def test_commands_and_spells_are_on_the_bars(imported: ImportedHotbars) -> None:
    assert list(imported.keys.values()) == [
        Hotkey(1, 2, 4, text="hail"), Hotkey(1, 3, 1, 33, 312, 110014, 5),
    ]  # fmt: skip
    assert imported.later == ["hotkeys of items and macros"]


def test_a_spell_that_nobody_describes_has_no_icon(imported: ImportedHotbars) -> None:
    imported.add_hotkey({"type": 1, "hotbar": 0, "slot": 9, "spell_id": 7}, icon_of)
    assert imported.keys[0, 9] == Hotkey(0, 9, 1, 0, 0, 7, 1)


def test_the_world_reads_the_macros(imported: ImportedHotbars) -> None:
    assert ClientData(imported.stored).macros == [
        (2, Macro("Greet", 31, ("hail", "say Well met!")))
    ]
    assert ClientData(imported.stored).text == imported.stored
    assert ImportedHotbars().stored == ""


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"type": 1, "hotbar": 0, "slot": 9}, "spell_id is missing"),
        ({"type": 1, "hotbar": 0, "slot": 9, "spell_id": 7, "tier": 0}, "tier is out of range"),
        ({"type": 1, "hotbar": 0, "slot": 256, "spell_id": 7}, "slot is out of range"),
        ({"type": 4, "hotbar": 0, "slot": 9, "text_val": "a\nb"}, "text_val"),
    ],
)
def test_a_hotkey_that_makes_no_sense_is_left_out(row: dict[str, Any], reason: str) -> None:
    found = ImportedHotbars()
    with pytest.raises(ValueError, match=reason):
        found.add_hotkey(row, icon_of)
    assert not found.keys


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"macro_number": 256}, "macro_number is out of range"),
        ({"macro_icon": 65_536}, "macro_icon is out of range"),
        ({"macro_name": "x" * 65}, "macro_name"), ({"macro_text": "x" * 256}, "macro_text"),
        ({"macro_text": ""}, "macro_text"),
    ],
)  # fmt: skip
def test_a_macro_that_makes_no_sense_is_left_out(change: dict[str, Any], reason: str) -> None:
    found = ImportedHotbars()
    with pytest.raises(ValueError, match=reason):
        found.add_macro({**GREET, **change})
    assert found.stored == ""


def test_macros_have_the_bounds_of_the_world() -> None:
    found = ImportedHotbars()
    for _ in range(client_data.MOST_COMMANDS):
        found.add_macro(GREET)
    with pytest.raises(ValueError, match="at most 10 commands"):
        found.add_macro(GREET)
    for place in range(3, 2 + client_data.MOST_MACROS):
        found.add_macro({**GREET, "macro_number": place})
    with pytest.raises(ValueError, match="at most 100 macros"):
        found.add_macro({**GREET, "macro_number": 200})
    long = {**GREET, "macro_text": "x" * 255}
    refused = 0
    for place in range(3, 2 + client_data.MOST_MACROS):
        try:
            found.add_macro({**long, "macro_number": place})
        except ValueError as error:
            assert str(error) == "macros have at most 24000 bytes"  # noqa: PT017  # some of many
            refused += 1
    assert 0 < refused < client_data.MOST_MACROS - 1
    assert len(found.stored) <= client_data.MOST_MACRO_BYTES
    assert ClientData(found.stored).text == found.stored
