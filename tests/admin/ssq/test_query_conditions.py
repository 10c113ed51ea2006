"""WHERE, beside an evaluator of its own that walks the words of a condition by hand."""

from __future__ import annotations

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ssq.query import (
    Comparison,
    Condition,
    ConditionReader,
    JoinedCondition,
    pull_query,
    tokens_of,
)
from emu.errors import MalformedMessage
from tests.support.patience import within

NAMES = ("ping", "name", "level", "zone")
CELLS = st.integers(-50, 50) | st.sampled_from(
    ["bob", "Zo\u00eb", "ZO\u00cb", "10", "", "a b", "STRASSE"]
)
ROWS = st.dictionaries(st.sampled_from(NAMES), CELLS)
LITERALS = st.sampled_from(
    ["10", "-3", "2.5", "bob", "BOB", "zo\u00eb", "", "x y", "stra\u00dfe", "1e3"]
)
COMPARISONS = st.builds(
    lambda column, sign, literal: (column, sign, literal),
    st.sampled_from((*NAMES, "nosuch")),
    st.sampled_from(["=", "!=", "<", ">"]),
    LITERALS,
)
TREES = st.recursive(
    COMPARISONS,
    lambda inner: st.tuples(st.sampled_from(["and", "or"]), inner, inner),
    max_leaves=8,
)


def read(text: str) -> Condition:
    reader = ConditionReader(tokens_of(text), 0)
    condition = reader.read_condition()
    assert reader.at == len(tokens_of(text))
    return condition


def holds(text: str, row: dict[str, int | str]) -> bool:
    return read(text).holds(row.get)


def written(tree: tuple) -> str:
    """A tree as text, every inner one in parentheses."""
    first, second, third = tree
    if isinstance(second, str):
        return f'{first} {second} "{third}"'
    return f"({written(second)}) {first} ({written(third)})"


def expected(tree: tuple, row: dict[str, int | str]) -> bool:
    first, second, third = tree
    if not isinstance(second, str):
        both = (expected(second, row), expected(third, row))
        return (both[0] and both[1]) if first == "and" else (both[0] or both[1])
    if first not in row:
        return False
    cell = row[first]
    if isinstance(cell, int):
        if third not in ("10", "-3", "2.5"):
            return False
        difference = Decimal(cell) - Decimal(third)
    else:
        left, right = cell.casefold(), third.casefold()
        difference = Decimal((left > right) - (left < right))
    return {
        "=": difference == 0,
        "!=": difference != 0,
        "<": difference < 0,
        ">": difference > 0,
    }[second]


@given(TREES, ROWS)
def test_a_condition_holds_as_another_evaluator_says(
    tree: tuple, row: dict[str, int | str]
) -> None:
    try:
        condition = read(written(tree))
    except MalformedMessage:  # only for what is deeper than allowed
        assert written(tree).count("(") > 8
        return
    assert condition.holds(row.get) is expected(tree, row)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=10))
def test_and_binds_more_than_or(terms: list[tuple[bool, bool]]) -> None:
    """The first of each pair is a term, the second whether ``and`` stands behind it."""
    words: list[str] = []
    groups: list[list[bool]] = [[]]
    for index, (term, is_and) in enumerate(terms):
        words.append("a = 1" if term else "a = 2")
        groups[-1].append(term)
        if index + 1 < len(terms):
            words.append("AND" if is_and else "or")
            if not is_and:
                groups.append([])
    assert holds(" ".join(words), {"a": 1}) is any(all(group) for group in groups)


def test_how_conditions_are_read() -> None:
    a, b, c = (Comparison(name, "=", "1") for name in "abc")
    assert read("a=1 or b=1 and c=1") == JoinedCondition(any, (a, JoinedCondition(all, (b, c))))
    assert read("(a=1 or b=1) and c=1") == JoinedCondition(all, (JoinedCondition(any, (a, b)), c))
    assert read("A = 'it\"s'") == Comparison("a", "=", 'it"s')
    assert read('a = "and"') == Comparison("a", "=", "and")
    assert read("a=1 or b=1 and c=1").size == 3


@pytest.mark.parametrize(
    "text",
    [
        "", "a", "a =", "a = and", "= 1", "1 =", "a == 1", "a >= 1", "a <> 1", "a LIKE b",
        "not a = 1", "(a = 1", "a = 1)", "a = 'x", "'a' = 1", "a '=' 1", "a = 1 and", "or a = 1",
        "a ! 1", "(" * 600 + "a = 1" + ")" * 600, "a = 1 or " * 160 + "a = 1", "a = (b)", "()",
    ],
)  # fmt: skip
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(MalformedMessage):
        pull_query(f"SELECT a WHERE {text}".encode())


def test_the_limits_themselves_are_allowed() -> None:
    assert read("(" * 8 + "a = 1" + ")" * 8).size == 1
    assert read(" or ".join(["a = 1"] * 32)).size == 32


@pytest.mark.parametrize(
    "text", ["'" * 4001, "a" * 4000, " " * 4000 + "!", "(" * 4000, "!=" * 2000]
)
def test_what_is_meant_to_take_long_does_not(text: str) -> None:
    with within(1), contextlib.suppress(MalformedMessage):
        ConditionReader(tokens_of(text), 0).read_condition()


def test_numbers_are_compared_as_numbers_where_the_column_has_them() -> None:
    assert holds("ping > 9", {"ping": 10})
    assert not holds("ping > 9", {"ping": "10"})
    assert not holds("ping != bob", {"ping": 10})
    assert not holds("ping < nan", {"ping": 10})
