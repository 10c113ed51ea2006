"""The form of a source that is compiled: concatenations are joined, literals are bounded."""

import re

import pytest

from emu.errors import ScriptError
from emu.scripts.forms import LONGEST_TEXT, prepared


def body(source: str) -> str:
    """Return the prepared form of a source without its first names."""
    start = "local _ENV, join0 = ...; "
    made = prepared(source, "npc.lua")
    assert made.startswith(start)
    return made[len(start) :]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a..b", "a.. join0 ..b"),
        ("a .. 'b..c' .. \"d..\"", "a .. join0 .. 'b..c' .. join0 .. \"d..\""),
        ("f(...)", "f(...)"),
        ("...  ..x", "...  .. join0 ..x"),
        ("-- a..b\r\nx", "-- a..b\r\nx"),
        ("-- a..b\rx..y", "-- a..b\rx.. join0 ..y"),
        ("--[[ a\n..b ]] c..d", "--[[ a\n..b ]] c.. join0 ..d"),
        ("--[==[ a]]..b ]==] c..d", "--[==[ a]]..b ]==] c.. join0 ..d"),
        ("x = [[ a..b ]]..[=[ ]]..]=]", "x = [[ a..b ]].. join0 ..[=[ ]]..]=]"),
        (r"'\'..' .. '\\'..x", r"'\'..' .. join0 .. '\\'.. join0 ..x"),
        ("'a\\\n..b'..c", "'a\\\n..b'.. join0 ..c"),
        ("'a\\z \r\n  ..b'..c", "'a\\z \r\n  ..b'.. join0 ..c"),
        ("[[ a..b", "[[ a..b"),
        ("t[1]..t[a[1]]", "t[1].. join0 ..t[a[1]]"),
        (r"'a\0b\00\000\0001\x00\u{0}\u{000}'", r"'a\32b\32\32\321\32\32\32'"),
        (r"'\\0\01\10\100\x01\u{10}'", r"'\\0\01\10\100\x01\u{10}'"),
        ("a\0b", "a b"),
    ],
)
def test_concatenations_of_code_are_joined(source: str, expected: str) -> None:
    assert body(source) == expected


def test_a_name_of_the_script_is_never_taken() -> None:
    made = prepared("join0 = 1 x_join1 = join01 y = a..b", "npc.lua")
    assert made == "local _ENV, join2 = ...; join0 = 1 x_join1 = join01 y = a.. join2 ..b"


@pytest.mark.parametrize("quotes", ['""', "''", ("[[", "]]")])
def test_a_long_literal_is_refused_with_its_line(quotes: tuple[str, str]) -> None:
    before, after = quotes
    length = LONGEST_TEXT - len(before) - len(after)
    assert body(f"\n x = {before}{'a' * length}{after}")
    with pytest.raises(ScriptError, match="more than 65536 bytes") as caught:
        prepared(f"\n x = {before}{'a' * length}a{after}", "npc.lua")
    assert (caught.value.path, caught.value.line) == ("npc.lua", 2)


@pytest.mark.parametrize(
    "part",
    ["[", "[=", "[[", "--[", "--[[", "--[==", '"', "'", "\\", '"\\', "'\\z ", ".", "..", "]"],
)
def test_no_source_takes_more_than_a_few_steps_for_each_byte(part: str) -> None:
    """A source of 4 MiB is allowed: what grows with its square would never end."""
    source = part * (200_000 // len(part))
    # Quadratic, this would take minutes; a long literal may be refused.
    try:
        made = prepared(source, "npc.lua")
    except ScriptError:
        return
    assert re.sub(r" join0 \.\.", "", made).endswith(source[-10:])
