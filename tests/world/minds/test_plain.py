"""Exact values of what behaviors pass in."""

from __future__ import annotations

import enum
import math
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.world.minds import plain
from emu.world_stream.movement import Position


class Hostile:
    """Raises whatever is done with it."""

    def _no(self, *_values: Any) -> Any:
        raise AssertionError("its code must not run")

    __str__ = __repr__ = __format__ = __bool__ = __float__ = __int__ = __index__ = _no
    __lt__ = __le__ = __gt__ = __ge__ = __len__ = __getitem__ = __iter__ = __add__ = __mod__ = _no


class HostileText(Hostile, str):
    """A text that is not to be asked."""

    __slots__ = ()


class HostileFloat(Hostile, float):
    """A number that is not to be asked."""


class HostileInt(Hostile, int):
    """A number that is not to be asked."""


def made_of(value: Any) -> Any:
    """Return what a test is to use: pytest itself must not touch what is hostile."""
    return value() if callable(value) else value


class Kind(enum.IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    ("value", "exact"),
    [(1, 1.0), (True, 1.0), (2.5, 2.5), (partial(HostileFloat, 2.5), 2.5), (partial(HostileInt, 7),
     7.0),
     (Kind.ONE, 1.0), (Decimal("1.5"), 1.5), (Fraction(1, 2), 0.5), (10, 10.0), (-10, -10.0)],
)  # fmt: skip
def test_numbers_become_exact(value: Any, exact: float) -> None:
    made = plain.number(made_of(value), "it", -10.0, 10.0)
    assert type(made) is float
    assert made == exact


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, 10.0001, -10.0001, 10**400, -(10**400), partial(HostileFloat,
     "nan"),
     partial(HostileInt, 10**400), "1", b"1", partial(HostileText, "1"), None, [], {}, object(),
     1j],
)  # fmt: skip
def test_what_is_no_usable_number_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        plain.number(made_of(value), "it", -10.0, 10.0)


@given(st.floats() | st.integers())
def test_a_number_is_within_its_bounds_or_refused(value: float) -> None:
    try:
        made = plain.number(value, "it", -5.0, 5.0)
    except (TypeError, ValueError):
        assert not (math.isfinite(value) and -5 <= value <= 5) if isinstance(value, float) else True
    else:
        assert -5 <= made <= 5


@pytest.mark.parametrize(
    ("value", "exact"),
    [("hello", "hello"), (partial(HostileText, "hello"), "hello"), ("a\x00b\x1bc\x7f", "a b c "),
     ("a\nb\tc\r", "a b c "), ("\ud800x", "\N{REPLACEMENT CHARACTER}x"), ("Grüße 字", "Grüße 字"),
     ("\u2028x\x85", " x "), ("x" * 11, "x" * 10), ("x" * 10, "x" * 10), ("", "")],
)  # fmt: skip
def test_texts_become_exact(value: Any, exact: str) -> None:
    made = plain.text(made_of(value), "it", 10)
    assert type(made) is str
    assert made == exact
    made.encode()


def test_line_feeds_stay_where_lines_are_allowed() -> None:
    assert plain.text("a\nb\r\n", "it", 10, kept="\n") == "a\nb \n"


@pytest.mark.parametrize("value", [5, None, b"bytes", ["a"], Hostile, bytearray(b"x")])
def test_what_is_no_text_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="no text"):
        plain.text(made_of(value), "it", 10)


@given(st.text(st.characters()), st.integers(0, 20))
def test_any_text_can_be_sent(value: str, longest: int) -> None:
    made = plain.text(value, "it", longest)
    assert len(made) <= longest
    made.encode()
    assert "\n" not in made


def test_places() -> None:
    assert plain.place((1, 2.5, HostileFloat(3)), 100.0) == Position(1.0, 2.5, 3.0)
    assert plain.place(iter([100, -100, 0]), 100.0) == Position(100.0, -100.0, 0.0)


def endless() -> Any:
    while True:
        yield 1.0


@pytest.mark.parametrize(
    "value",
    [(), (1, 2), (1, 2, 3, 4), endless(), (1, 2, math.nan), (1, 2, math.inf), (1, 2, 100.1), "abc",
     None, 5, (1, 2, "3")],
)  # fmt: skip
def test_what_is_no_place_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        plain.place(value, 100.0)


@pytest.mark.parametrize(("value", "exact"), [(0, 0.0), (360, 0.0), (-90, 270.0), (725, 5.0)])
def test_headings_turn_round(value: float, exact: float) -> None:
    assert plain.heading(value) == exact


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "north", None])
def test_what_is_no_heading_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        plain.heading(value)
