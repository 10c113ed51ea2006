"""Values as text: what went in comes out, and what is something else is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage
from emu.model import (
    Color,
    Handoff,
    Hotkey,
    Membership,
    Place,
    Title,
    WorldCharacter,
)
from emu.store.spool import from_text, to_text

NUMBERS = st.integers(0, 0xFFFFFFFF)
CHARACTERS = st.builds(
    WorldCharacter,
    appearance=st.dictionaries(st.text(), st.one_of(NUMBERS, st.text())),
    colors=st.dictionaries(st.text(), st.builds(Color)),
    place=st.one_of(st.none(), st.tuples(*[st.floats(allow_nan=False)] * 4, NUMBERS)),
    relations=st.lists(st.tuples(NUMBERS, st.text())).map(tuple),
    titles=st.lists(st.builds(Title)).map(tuple),
    hotkeys=st.lists(st.builds(Hotkey)).map(tuple),
    channels=st.lists(st.builds(Membership)).map(tuple),
    created=st.floats(allow_nan=False), last_played=st.floats(allow_nan=False),
    muted_until=st.floats(allow_nan=False),
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(CHARACTERS, max_size=2))
def test_characters_come_back_as_they_were(characters: list[WorldCharacter]) -> None:
    assert from_text(Sequence[WorldCharacter], to_text(characters)) == characters


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (int, 5), (str, "ä"), (bool, False), (None, None), (Handoff | None, None),
        (Handoff | None, Handoff(1, 2, "Aldana")), (Place, (1.0, 2.0, 3.0, 4.0, 5)),
        (Mapping[str, int], {"a": 1}), (Sequence[tuple[int, str]], [(1, "x")]),
    ],
)  # fmt: skip
def test_every_kind_that_is_spoken(kind: Any, value: object) -> None:
    assert from_text(kind, to_text(value)) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (int, "{"), (WorldCharacter, "[]"), (WorldCharacter, "{}"), (Place, "[1]"),
        (Sequence[Title], "5"), (Mapping[str, int], "[]"), (int, "[" * 100_000),
    ],
)  # fmt: skip
def test_what_is_not_of_its_kind(kind: Any, text: str) -> None:
    with pytest.raises(MalformedMessage):
        from_text(kind, text)
