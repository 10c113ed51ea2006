"""Values of a dump's row, by column name: text, numbers and moments as MySQL writes them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from emu.times import FOR_EVER, UNKNOWN, Moment

Columns = Mapping[str, Any]
"""Column name in lower case -> value of one row."""

LARGEST = 0xFFFFFFFF


def text(columns: Columns, name: str) -> str:
    """Return a column's text; empty when it is NULL or not there."""
    value = columns.get(name)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def visible(columns: Columns, name: str, longest: int) -> str:
    """Return a name of 1 to `longest` bytes of UTF-8. Raises `ValueError`."""
    value = text(columns, name).strip()
    if not value or len(value.encode()) > longest or not value.isprintable():
        raise ValueError(f"its {name} is empty, too long, or cannot be read: {value[:40]!r}")
    return value


def first(columns: Columns, *names: str) -> str:
    """Return the text of the first of these columns that is there."""
    return next((text(columns, name) for name in names if name in columns), "")


def number(
    columns: Columns, name: str, default: int = 0, *, least: int = 0, most: int = LARGEST
) -> int:
    """Return a column's whole number. Raises `ValueError` when it is none, or out of range."""
    value = columns.get(name)
    if value is None:
        return default
    try:
        found = int(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} is no number: {str(value)[:40]!r}") from None
    if not least <= found <= most:
        raise ValueError(f"{name} is out of range: {found}")
    return found


def fraction(columns: Columns, name: str) -> float:
    """Return a column's number with decimals. Raises `ValueError` when it is none."""
    try:
        return float(columns.get(name) or 0.0)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} is no number: {str(columns[name])[:40]!r}") from None


def moment(columns: Columns, name: str) -> Moment:
    """Return the moment of unix seconds or of MySQL's ``YYYY-MM-DD hh:mm:ss`` (taken as UTC).

    MySQL's ``0000-00-00 00:00:00`` and whatever is no date are `UNKNOWN`.
    """
    value = columns.get(name)
    if value is None:
        return UNKNOWN
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return Moment(seconds) if 0 <= seconds < FOR_EVER else UNKNOWN
    try:
        date = datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
    except ValueError:
        return UNKNOWN
    return Moment(max(0.0, date.timestamp()))
