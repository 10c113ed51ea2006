"""Sheets: whole the first time, then what changed; bases that move on, and those that are lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage, UnknownBase
from emu.structs.packed import DeltaBase, pack
from emu.world_stream.deltas import StateReader
from tests.support.world.ghost_views import dialect


class Sheets:
    """A server's end of the sheet."""

    def __init__(self, version: int = 546) -> None:
        self.version = version
        self.layout = dialect(version).layout("WS_CharacterSheet")
        self.base = DeltaBase(self.layout.empty_size())
        self.reader = StateReader(self.layout, version)

    def write(self, **fields: object) -> bytes:
        return pack(self.base.encode(self.layout.encode(fields)), self.version)


@pytest.mark.parametrize("version", [546, 561])
def test_the_first_sheet_is_whole_and_later_ones_say_what_changed(version: int) -> None:
    sheets = Sheets(version)
    first = sheets.reader.read_message(sheets.write(character_name="Aldana", current_hp=43))
    whole = sheets.reader.fields(first)
    assert whole.keys() == sheets.layout.decode(bytes(sheets.reader.size)).keys()
    assert (whole["character_name"], whole["current_hp"]) == ("Aldana", 43)
    second = sheets.write(character_name="Aldana", current_hp=60, max_power=107)
    changed = sheets.reader.fields(sheets.reader.read_message(second))
    assert changed == {"current_hp": 60, "max_power": 107}


def test_a_sheet_without_a_change() -> None:
    # docs/protocol/world/entering.md#order: a login's second sheet is all zeros and has 43 bytes.
    sheets = Sheets()
    sheets.reader.read_message(sheets.write(character_name="Aldana"))
    again = sheets.write(character_name="Aldana")
    assert len(again) == 43
    assert sheets.reader.fields(sheets.reader.read_message(again)) == {}


def test_a_sheet_whose_base_was_missed_is_not_guessed() -> None:
    sheets = Sheets()
    sheets.reader.read_message(sheets.write(current_hp=1))
    sheets.reader.miss()
    with pytest.raises(UnknownBase, match="WS_CharacterSheet"):
        sheets.reader.read_message(sheets.write(current_hp=2))


@pytest.mark.parametrize(
    "spoil",
    [lambda body: body[:-1], lambda body: body + b"\0", lambda body: body[:3], lambda body: b""],
)
def test_what_cannot_be_unpacked_leaves_the_base(spoil) -> None:
    sheets = Sheets()
    sheets.reader.read_message(sheets.write(current_hp=1))
    body = sheets.write(current_hp=2)
    with pytest.raises(MalformedMessage):
        sheets.reader.read_message(spoil(body))
    assert sheets.reader.fields(sheets.reader.read_message(body)) == {"current_hp": 2}


@given(st.lists(st.lists(st.tuples(st.integers(0, 4896), st.integers(0, 255)), max_size=9)))
def test_every_state_comes_back(rounds: list[list[tuple[int, int]]]) -> None:
    sheets = Sheets()
    before = None
    current = bytearray(4897)
    for changes in rounds:
        for place, value in changes:
            current[place] = value
        state = bytes(current)
        reported = sheets.reader.read_message(pack(sheets.base.encode(state), 546))
        assert reported == (before, state)
        before = state
