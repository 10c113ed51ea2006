"""What a client keeps with its character: bounds, and reading what was stored."""

from __future__ import annotations

import pytest

from emu.errors import LimitExceeded, MalformedMessage
from emu.model import LONGEST_CLIENT_DATA
from emu.world.actors.client_data import (
    GROUP_OPTIONS,
    LONGEST_BIOGRAPHY,
    LONGEST_COMMAND,
    LONGEST_FOG,
    LONGEST_MACRO,
    MOST_COMMANDS,
    MOST_FOGS,
    MOST_MACROS,
    MOST_SLOTS,
    ClientData,
    Macro,
)

HELLO = Macro("Hello", 7, ("say Hail", "wave"))


def test_everything_comes_back_from_the_stored_text() -> None:
    kept = ClientData()
    assert kept.text == ""
    kept.put_macro(3, HELLO)
    kept.put_slots([(110012, 4), (8308, 1)])
    kept.put_fog(325, b"\1\0\xff")
    kept.biography, kept.voices, kept.language = "Ich heiße Aldana", (52, 1060), 5
    kept.group = (2, 0, 0, 0, 1, 0, 0, 0, 1)
    again = ClientData(kept.text)
    assert again.macros == [(3, HELLO)]
    assert again.slots == [(8308, 1), (110012, 4)]
    assert (again.fog(325), again.fog(12)) == (b"\1\0\xff", b"")
    assert (again.biography, again.voices, again.language) == ("Ich heiße Aldana", (52, 1060), 5)
    assert again.group == kept.group
    assert again.text == kept.text


def test_a_macro_without_commands_removes_the_one_of_its_number() -> None:
    kept = ClientData()
    kept.put_macro(3, HELLO)
    kept.put_macro(3, Macro("", 0, ("",)))
    kept.put_macro(4, Macro("", 0, ()))
    assert (kept.macros, kept.text) == ([], "")


@pytest.mark.parametrize(
    "macro",
    [
        Macro("x" * (LONGEST_MACRO + 1), 0, ("say",)),
        Macro("x", 0, ("y" * (LONGEST_COMMAND + 1),)),
        Macro("x", 0, ("say",) * (MOST_COMMANDS + 1)),
    ],
)
def test_a_macro_beyond_the_bounds_is_refused(macro: Macro) -> None:
    kept = ClientData()
    with pytest.raises(MalformedMessage):
        kept.put_macro(0, macro)
    assert kept.text == ""


@pytest.mark.parametrize("letter", ["é", "x", '"', "\\", "\x01"])
def test_no_client_stores_more_than_the_store_takes(letter: str) -> None:
    kept = ClientData()
    long = Macro(letter * LONGEST_MACRO, 65535, (letter * LONGEST_COMMAND,) * MOST_COMMANDS)
    refused = 0
    for number in range(MOST_MACROS):
        try:
            kept.put_macro(number, long)
        except LimitExceeded:
            refused += 1
    assert refused > 0
    for zone in range(MOST_FOGS):
        kept.put_fog(4_000_000_000 + zone, bytes(LONGEST_FOG))
    kept.put_slots([(4_000_000_000 + number, 65535) for number in range(MOST_SLOTS)])
    kept.biography = letter * LONGEST_BIOGRAPHY
    kept.voices, kept.language, kept.group = (65535, 65535), 255, (255,) * 9
    assert 30_000 < len(kept.text) <= LONGEST_CLIENT_DATA


def test_there_are_limits_of_macros_and_slots() -> None:
    short = ClientData()
    for number in range(MOST_MACROS):
        short.put_macro(number, HELLO)
    with pytest.raises(LimitExceeded, match="too many macros"):
        short.put_macro(MOST_MACROS, HELLO)
    with pytest.raises(LimitExceeded, match="too many slots"):
        short.put_slots([(number, 1) for number in range(MOST_SLOTS + 1)])
    assert short.slots == []


def test_the_fog_of_the_zones_seen_last_is_kept() -> None:
    kept = ClientData()
    for zone in range(MOST_FOGS + 2):
        kept.put_fog(zone, b"\1")
    kept.put_fog(2, b"\2")
    kept.put_fog(99, b"\3")
    assert (kept.fog(1), kept.fog(2), kept.fog(3), kept.fog(99)) == (b"", b"\2", b"", b"\3")
    with pytest.raises(LimitExceeded):
        kept.put_fog(5, bytes(LONGEST_FOG + 1))


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", "5", '{"macros":[]}', '{"macros":{"x":["a",1,["b"]]}}',
        '{"macros":{"999":["a",1,["b"]],"1":["a"],"2":["a",1,[5]]}}', '{"slots":{"1":-1,"y":2}}',
        '{"fogs":{"1":"not base 64!","2":5}}', '{"group":[1,2]}', '{"voices":[1,70000]}',
        '{"language":300}', '{"biography":5}',
    ],
)  # fmt: skip
def test_a_damaged_text_is_read_as_far_as_it_can_be(text: str) -> None:
    kept = ClientData(text)
    assert (kept.text, kept.group) == ("", GROUP_OPTIONS)
