"""Checks a behavior's arguments: they become exact `float`, `int` and `str`, or an exception.

A behavior may pass objects whose own code runs when they are compared, formatted or converted. That
code runs here, inside the guard of the call, before the server has changed anything. Code behind
these functions works with exact built-in types and runs no code of the behavior.
"""

from __future__ import annotations

import unicodedata
from itertools import islice
from typing import Final

from emu.world_stream.movement import FULL_TURN, Position

_CONTROLS: Final = frozenset(("Cc", "Zl", "Zp"))
_SURROGATE: Final = "Cs"
_UNKNOWN: Final = "\N{REPLACEMENT CHARACTER}"


def number(value: object, what: str, least: float, most: float) -> float:
    """Return a value as a float between two bounds.

    Raises `ValueError` for a text, for NaN and for a number out of bounds; `TypeError` for any
    other type.
    """
    # `type` and not `isinstance`: the latter asks `__class__`, which an object can replace.
    kind = type(value)
    if issubclass(kind, float):
        exact = float.__float__(value)  # type: ignore[arg-type]  # not the behavior's own method
    elif issubclass(kind, int):
        try:
            exact = int.__float__(value)  # type: ignore[arg-type]
        except OverflowError:
            raise ValueError(f"{what} is far too large") from None
    elif issubclass(kind, (str, bytes, bytearray)):
        raise ValueError(f"{what} is no number")  # noqa: TRY004  # `float` itself raises that
    else:  # Decimal, Fraction, numpy's numbers
        exact = float(value)  # type: ignore[arg-type]
    # NaN fails both comparisons, so it is refused here, too.
    if not least <= exact <= most:
        raise ValueError(f"{what} is not between {least:g} and {most:g}")
    return exact


def text(value: object, what: str, longest: int, *, kept: str = "") -> str:
    """Return the first `longest` characters of a text, with control characters as spaces.

    Those that are `kept` stay: a line feed, where several lines are allowed. Half of a surrogate
    pair becomes the replacement character. Raises `TypeError` if the value is no text.
    """
    if not issubclass(type(value), str):
        raise TypeError(f"{what} is no text")
    # Cut first: checking the letters of a text of a gigabyte would take the whole budget.
    exact = str.__str__(value)[:longest]  # not the behavior's own method
    if exact.isprintable():
        return exact
    return "".join(letter if letter in kept else _visible(letter) for letter in exact)


def _visible(letter: str) -> str:
    category = unicodedata.category(letter)
    if category == _SURROGATE:
        return _UNKNOWN
    return " " if category in _CONTROLS else letter


def place(value: object, farthest: float) -> Position:
    """Return three numbers as a position. Each may be `farthest` from zero.

    Raises `TypeError` and `ValueError` for anything else.
    """
    # Four at most, because the iterator may be endless.
    numbers = list(islice(iter(value), 4))  # type: ignore[call-overload]
    if len(numbers) != 3:  # x, y and z
        raise ValueError("not a place: it must have three coordinates")
    x, y, z = (number(one, "not a place: a coordinate", -farthest, farthest) for one in numbers)
    return Position(x, y, z)


def heading(value: object) -> float:
    """Return a heading in degrees from 0 to 360. Raises `TypeError` and `ValueError`."""
    return number(value, "a heading", -1e9, 1e9) % FULL_TURN
