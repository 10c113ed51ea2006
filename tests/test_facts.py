"""Declared facts of rows: their checks, and the rows of lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.facts import (
    FARTHEST,
    U32,
    AnyText,
    Decimal,
    FlagFact,
    Integer,
    Listed,
    OneOf,
    PlaceColumns,
    Printable,
    Rank,
    Time,
    ValueChecker,
    Values,
    facts_of,
    has_surrogates,
    is_appearance_number,
    saved_facts,
    shown,
)
from emu.model import Hotkey, SavedKind, Title, WorldCharacter
from emu.times import FOR_EVER, UNKNOWN


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
        (FlagFact(), 1, True), (Integer("x", 1, 5, 2), 1, 1), (Integer("x", 1, 5, 2), 5, 5),
        (Integer("x", 1, 5, 2), 0, 2), (Integer("x", 1, 5, 2), 3.0, 2),
        (Rank("x", -2, 9), -2, -2), (Rank("x", -2, 9), 9, 9), (Rank("x", -2, 9), -7.5, 0),
        (Printable("x", 3), "abc", "abc"), (Printable("x", 3), "a\n", ""),
        (Printable("x", 3), None, ""), (Time("x"), 0, 0.0), (Time("x"), -1, UNKNOWN),
        (Time("x"), None, UNKNOWN), (Time("x", may_be_missing=True), None, None),
        (Time("x"), FOR_EVER, FOR_EVER), (Time("x"), FOR_EVER + 1, FOR_EVER),
        (Time("x"), True, UNKNOWN), (Time("x"), "z", UNKNOWN), (Time("x"), float("nan"), UNKNOWN),
    ],
)  # fmt: skip
def test_an_unusable_value_is_replaced(value: Any, given: Any, used: Any) -> None:
    check = ValueChecker()
    assert value.usable(given, check, 7) == used
    assert bool(check.problems) is (given != used)


@pytest.mark.parametrize(
    ("part", "usable", "unusable"),
    [
        (Integer("x", -1, 5), [-1, 0, 5], [-2, 6, 1.0, True, "1", None]),
        (Decimal("x", 2.5), [-2.5, 0, 2.5, 1], [-2.6, 2.6, True, "1", None, float("nan")]),
        (Rank("x", -2, 9), [-2, 9], [-3, 10, True]),
        (Time("x"), [0, 1.5, FOR_EVER], [-0.5, FOR_EVER + 1, None, "0", True]),
        (Time("x", may_be_missing=True), [None, 0], [-1]),
        (Printable("x", 3, least=2), ["ab", "äbc"], ["a", "abcd", "a\nb", "a\udcff", 12, None]),
        (Printable("x", 3, least=2, in_bytes=True), ["ab", "ä", "abc"], ["äab", "a", "abcd"]),
        (AnyText(3), ["", "a\nb", "äöü"], ["abcd", "a\udcff", 1, None]),
        (FlagFact(), [True, False], [1, 0, None, "yes"]),
        (OneOf((0, 2)), [0, 2], [1, -1, None]),
    ],
)
def test_what_a_fact_may_be(part: Any, usable: list[Any], unusable: list[Any]) -> None:
    assert [one for one in usable if not part.fits(one)] == []
    assert [one for one in unusable if part.fits(one)] == []


def test_a_number_of_an_appearance_is_finite_and_fits_its_column() -> None:
    usable = [0.5, -1e30, -(2**31), 2**32 - 1]
    assert all(map(is_appearance_number, usable))
    assert not any(map(is_appearance_number, [-(2**31) - 1, 2**32, float("inf"), True, "1", None]))


@pytest.mark.parametrize(
    ("given", "used", "fields"),
    [
        (None, None, []),
        ((1.0, -2, 3.5, 90.0, 7), (1.0, -2, 3.5, 90.0, 7), []),
        ((FARTHEST, -FARTHEST, 0.0, -1e6, U32), (FARTHEST, -FARTHEST, 0.0, -1e6, U32), []),
        ((FARTHEST + 1, 0.0, 0.0, 0.0, 0), None, ["place"]),
        ((0.0, float("nan"), 0.0, 0.0, 0), None, ["place"]),
        ((0.0, 0.0, "z", 0.0, 0), None, ["place"]),
        ((1.0, 2.0, 3.0, 1e7, 4), (1.0, 2.0, 3.0, 0.0, 4), ["heading"]),
        ((1.0, 2.0, 3.0, 0.0, -1), (1.0, 2.0, 3.0, 0.0, 0), ["grid"]),
        ((1.0, 2.0, 3.0, 0.0, U32 + 1), (1.0, 2.0, 3.0, 0.0, 0), ["grid"]),
    ],
)
def test_a_place_with_a_bad_coordinate_is_no_place(
    given: Any, used: Any, fields: list[str]
) -> None:
    check = ValueChecker()
    assert PlaceColumns().usable(given, check, 1) == used
    assert [one.field for one in check.problems] == fields


def test_the_usable_rows_of_a_list_are_kept_up_to_its_limit() -> None:
    numbers = Listed("friends", 3, "friends", "friend_id", (Integer("x", 0, 9),))
    check = ValueChecker()
    assert numbers.usable([1, 2, 3], check, 1) == (1, 2, 3)
    assert numbers.usable([], check, 1) == ()
    assert check.problems == []
    assert numbers.usable([1, 99, 3], check, 1) == (1, 3)
    assert [str(one) for one in check.problems] == [
        "unusable friends (99); the rest of the list is used instead"
    ]
    check = ValueChecker()
    assert numbers.usable([1, 2, -1, 3, 4, 5], check, 1) == (1, 2, 3)
    assert [one.used for one in check.problems] == ["the rest of the list", "a list of 3"]


def test_rows_of_tuples_and_of_dataclasses_are_checked_value_by_value() -> None:
    pairs = Listed("x", 9, "x", "a, b", (Integer("a", 0, 9), OneOf((0, 1))))
    check = ValueChecker()
    assert pairs.usable([(1, 0), (9, 1)], check, 1) == ((1, 0), (9, 1))
    assert pairs.usable([(1, 0), (9, 2), (10, 1)], check, 1) == ((1, 0),)
    titles = next(fact.value for fact in facts_of(WorldCharacter) if fact.name == "titles")
    good = Title("the Brave")
    bad = replace(good, text="a\nb")
    assert titles.usable([good], check, 1) == (good,)
    assert titles.usable([bad, good], check, 1) == (good,)


def test_a_list_with_places_has_each_row_at_its_position() -> None:
    placed = Listed("x", 9, "x", "a, place, b")
    rows = placed.to_rows([(5, 6), (7, 8)])
    assert rows == [(5, 0, 6), (7, 1, 8)]
    assert placed.from_rows(rows, tuple[int, int]) == ((5, 6), (7, 8))
    plain = Listed("x", 9, "x", "a")
    assert plain.to_rows([5, 7]) == [(5,), (7,)]
    assert plain.from_rows([(5,), (7,)], int) == (5, 7)
    assert plain.from_rows([], int) == ()


def test_values_by_name_without_the_unusable_ones() -> None:
    check = ValueChecker()
    values = Values("appearance", is_appearance_number)
    whole = {"race": 3, "size": 1.5}
    assert values.usable(whole, check, 1) is whole
    wrong = {"race": 3, "size": "x", "a\udcff": 1}
    assert values.usable(wrong, check, 1) == {"race": 3}
    assert [one.field for one in check.problems] == [
        "appearance 'size'", "appearance 'a\\udcff'",
    ]  # fmt: skip


def test_a_text_of_bytes_that_are_not_utf_8_is_replaced() -> None:
    check = ValueChecker()
    assert check.readable("name", "abc", 3, "none") == "abc"
    assert check.problems == []
    for value in ("abcd", "a\udcff", 5):
        assert check.readable("name", value, 3, "none") == "none"
    assert check.readable("name", None, 3, "") == ""
    assert [one.used for one in check.problems] == ["none", "none", "none", "nothing"]


def test_columns_are_the_facts_that_the_row_itself_has() -> None:
    facts = {fact.name: fact for fact in facts_of(WorldCharacter)}
    assert facts["class_"].column == "class"
    assert facts["titles"].column is None


def test_values_are_shown_on_one_short_line() -> None:
    assert shown("x" * 100) == "'" + "x" * 59 + "..."
    assert shown("x" * 58) == "'" + "x" * 58 + "'"
    assert shown("a\nb") == repr("a\nb")
    assert has_surrogates("a\udcff")
    assert not has_surrogates("aä")
