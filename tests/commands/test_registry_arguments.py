"""Words into values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.commands import Argument, ArgumentKind
from emu.commands.registry import one_line, read_arguments, split_line
from emu.errors import CommandError


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", []),
        ("  a  b ", ["a", "b"]),
        ("'two words' x", ["two words", "x"]),
        ('say "it\'s"', ["say", "it's"]),
        ('"open', ["open"]),
        ("it's", ["it's"]),
    ],
)
def test_lines_are_split(line: str, words: list[str]) -> None:
    assert [word for word, _ in split_line(line)] == words


@given(st.text())
def test_any_line_is_split(line: str) -> None:
    words = split_line(line)
    assert [at for _, at in words] == sorted(at for _, at in words)


NAME = Argument("name")
TEXT = Argument("text", ArgumentKind.TEXT)
SECONDS = Argument("seconds", ArgumentKind.NUMBER, optional=True, default=10)
STATE = Argument("state", choices=("on", "off"))


@pytest.mark.parametrize(
    ("arguments", "line", "values"),
    [
        ((NAME, TEXT), "Aldana  hello  there ", {"name": "Aldana", "text": "hello  there"}),
        ((NAME, TEXT), "Aldana 'quoted'", {"name": "Aldana", "text": "'quoted'"}),
        ((SECONDS,), "", {"seconds": 10}),
        ((SECONDS,), "-3", {"seconds": -3}),
        ((STATE,), "ON", {"state": "on"}),
        ((Argument("x", ArgumentKind.DECIMAL),), "-1.5", {"x": -1.5}),
        ((Argument("x", ArgumentKind.SWITCH),), "Yes", {"x": True}),
        ((Argument("x", ArgumentKind.SWITCH),), "0", {"x": False}),
        ((), " ", {}),
    ],
)
def test_words_become_values(arguments, line, values) -> None:
    assert read_arguments(arguments, line) == values


@pytest.mark.parametrize(
    ("arguments", "line", "complaint"),
    [
        ((NAME,), "", "name is missing"),
        ((NAME, TEXT), "Aldana", "text is missing"),
        ((NAME,), "a b", "'b' is one word too many"),
        ((SECONDS,), "soon", "seconds: 'soon' is not a whole number"),
        ((STATE,), "maybe", "state: 'maybe' is none of on, off"),
        ((Argument("x", ArgumentKind.DECIMAL),), "nan", "x: 'nan' is not a number"),
        ((Argument("x", ArgumentKind.DECIMAL),), "1e999", "x: '1e999' is not a number"),
        ((SECONDS,), "9" * 400, "seconds: must be -2147483647 to 2147483647"),
        ((SECONDS,), "-2147483648", "seconds: must be -2147483647 to"),
        ((SECONDS,), "9" * 5000, "is not a whole number"),
        ((Argument("x", ArgumentKind.DECIMAL),), "1e30", "x: must be -2147483647 to 2147483647"),
        ((Argument("x", ArgumentKind.SWITCH),), "up", "x: 'up' is not on or off"),
    ],
)
def test_what_is_wrong_is_said(arguments, line, complaint) -> None:
    with pytest.raises(CommandError, match=complaint):
        read_arguments(arguments, line)


def test_usage() -> None:
    assert [one.usage for one in (NAME, SECONDS, STATE)] == ["NAME", "[SECONDS]", "on|off"]


def test_controls_become_blanks() -> None:
    assert one_line(" kick\tBob\r\n\x1b[0m ") == "kick Bob   [0m"
    assert one_line("\r\n") == ""
