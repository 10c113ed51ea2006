"""Declared facts of rows: their checks, and the rows of lists."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.facts import (
    AnyText,
    FlagFact,
    Integer,
    OneOf,
    Printable,
    Rank,
    Time,
    ValueChecker,
    facts_of,
    has_surrogates,
    saved_facts,
    shown,
)
from emu.model import Hotkey, SavedKind, Title, WorldCharacter


def test_every_field_of_a_character_is_declared() -> None:
    declared = {fact.name for fact in facts_of(WorldCharacter)}
    assert declared == set(WorldCharacter.__dataclass_fields__) - {"id"}
    assert {fact.kind for fact in saved_facts(WorldCharacter).values()} == set(SavedKind)


@given(st.lists(st.builds(Title)), st.lists(st.builds(Hotkey)))
def test_a_list_comes_back_from_its_rows(titles: list[Title], hotkeys: list[Hotkey]) -> None:
    facts = {fact.name: fact for fact in facts_of(WorldCharacter)}
    for name, values in (("titles", titles), ("hotkeys", hotkeys)):
        fact = facts[name]
        rows = fact.value.to_rows(values)
        assert all(len(row) == len(fact.value.columns.split(", ")) for row in rows)
        assert fact.value.from_rows(rows, fact.row_type) == tuple(values)


ANYTHING = st.one_of(
    st.integers(-3, 9), st.text("aä\n\udcff", max_size=4), st.booleans(), st.none(), st.just(1.0)
)


PARTS = st.sampled_from((
    Integer("x", 0, 5), Printable("x", 3, least=1), Printable("x", 3, in_bytes=True), AnyText(3),
    FlagFact(), OneOf((0, 2)),
))  # fmt: skip


@given(PARTS, st.lists(ANYTHING, max_size=3))
def test_a_column_is_checked_as_its_values_are(part: Any, values: list[Any]) -> None:
    assert part.all_fit(values) == all(part.fits(one) for one in values)


@pytest.mark.parametrize(
    ("value", "given", "used"),
    [
        (Integer("x", 1, 5, 2), 6, 2), (Integer("x", 1, 5), True, 0), (Rank("x", -2, 9), -7, -2),
        (Rank("x", -2, 9), 10, 0), (Printable("x", 3, "no{id}"), "abcd", "no7"),
        (Printable("x", 3, in_bytes=True), "äb", "äb"),
        (Printable("x", 3, in_bytes=True), "ää", ""),
        (Printable("x", 3, "none", least=1), "", "none"), (Time("x"), "y", 0.0),
        (FlagFact(), 1, True),
    ],
)  # fmt: skip
def test_an_unusable_value_is_replaced(value: Any, given: Any, used: Any) -> None:
    check = ValueChecker()
    assert value.usable(given, check, 7) == used
    assert bool(check.problems) is (given != used)


def test_values_are_shown_on_one_short_line() -> None:
    assert shown("x" * 100).endswith("...")
    assert shown("a\nb") == repr("a\nb")
    assert has_surrogates("a\udcff")
    assert not has_surrogates("aä")
