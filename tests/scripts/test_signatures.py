"""Arguments of functions for scripts: wrong kinds become zeros, as on EQ2Emulator's server."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.scripts.signatures import (
    READERS,
    FunctionTable,
    Handle,
    HandleKind,
    bind,
    merged,
    parse,
)

# From the table of conversions: number, text that is a number, other text, truths, nothing.
CASES = [
    ("u", 12.9, 12), ("u", -1, 0xFFFFFFFF), ("u", "12", 12), ("u", "x", 0), ("u", True, 0),
    ("n", 12.5, 0), ("n", 12.0, 12), ("n", -3, -3), ("n", "12", 12), ("n", "x", 0),
    ("n", True, 0), ("n", 0x1_0000_0001, 1), ("n", 0x80000000, -0x80000000),
    ("f", 1.1, 1.10000002384185791015625), ("f", "2.5", 2.5), ("f", "x", 0.0), ("f", True, 0.0),
    ("t", 3, "3"), ("t", 3.0, "3.0"), ("t", 0.5, "0.5"), ("t", 1e100, "1e+100"),
    ("t", "word", "word"), ("t", True, ""), ("t", object(), ""),
    ("b", 0, True), ("b", "x", True), ("b", False, False), ("b", True, True),
    ("1", 1, True), ("1", "1", True), ("1", True, False), ("1", 2, False), ("1", "x", False),
    ("u", "0x10", 16), ("u", "1_000", 0), ("f", "infinity", 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("letter", "value", "expected"), CASES)
def test_a_value_is_converted(letter: str, value: Any, expected: Any) -> None:
    read = READERS[letter](value)
    assert read == expected
    assert type(read) is type(expected)


ANY = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=60), st.binary()
)


@given(st.sampled_from(sorted(READERS)), ANY)
def test_no_value_makes_a_reader_fail_or_give_another_kind(letter: str, value: Any) -> None:
    read = READERS[letter](value)
    if letter in "un":
        assert type(read) is int
        assert -(2**63) <= read < 2**63
    elif letter == "f":
        assert type(read) is float
        assert math.isfinite(read)
    elif letter == "t":
        assert type(read) is str
    elif letter in "b1":
        assert type(read) is bool
    elif letter != "v":
        assert read is None


def test_a_handle_is_read_by_its_kind_and_missing_after_its_end() -> None:
    guard, player = Handle(HandleKind.NPC, "guard"), Handle(HandleKind.PLAYER, "player")
    assert [READERS["S"](guard), READERS["N"](guard), READERS["P"](guard)] == [
        "guard",
        "guard",
        None,
    ]
    assert READERS["P"](player) == "player"
    assert READERS["Z"](player) is None
    player.end()
    assert READERS["P"](player) is None


def test_a_function_gets_one_value_for_each_argument() -> None:
    seen: list[tuple[Any, ...]] = []
    table = FunctionTable()

    @table("Say", "S speaker, t text, P player?, f distance=30, b loud=true")
    def say(*values: Any) -> None:
        """Say something to the players near."""
        seen.append(values)

    guard = Handle(HandleKind.NPC, "guard")
    call = bind(table.functions["Say"], "context")
    call(guard, "hello")
    call(guard, 7, None, 5, False, "too many")
    call()
    assert seen == [
        ("context", "guard", "hello", None, 30.0, True),
        ("context", "guard", "7", None, 5.0, False),
        ("context", None, "", None, 30.0, True),
    ]
    function = table.functions["Say"]
    assert str(function.signature) == "speaker, text, player?, distance?, loud?"
    assert function.signature.least == 2
    assert function.summary == "Say something to the players near."


def test_further_arguments_are_passed_on_where_the_signature_says_so() -> None:
    table = FunctionTable()

    @table("Sum", "u first, ...")
    def total(_context: object, *values: int) -> int:
        return sum(values)

    assert bind(table.functions["Sum"], None)(1, 2, 3) == 6


@pytest.mark.parametrize("text", ["X spawn", "S", "t", "S npc, nonsense"])
def test_a_signature_that_declares_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no argument"):
        parse(text)


def test_a_name_is_declared_once() -> None:
    one, other = FunctionTable(), FunctionTable()
    one("Say")(print)
    other("Say")(print)
    with pytest.raises(ValueError, match="Say"):
        one("Say")(print)
    with pytest.raises(ValueError, match="Say"):
        merged([one, other])
