"""Conversion of column values, and the report of an import."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from emu.sqldump.reader import InsertRow
from emu.times import FOR_EVER, UNKNOWN, Moment

Columns = Mapping[str, Any]
"""Column name in lower case -> value of one row."""

LARGEST = 0xFFFFFFFF
COIN_VALUES = (("copper", 1), ("silver", 100), ("gold", 10_000), ("plat", 1_000_000))
"""End of a column's name -> copper."""


def text(columns: Columns, name: str) -> str:
    """Return a column's text; empty if it is NULL or missing."""
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
    """Return the text of the first of these columns that exists."""
    return next((text(columns, name) for name in names if name in columns), "")


def number(
    columns: Columns, name: str, default: int = 0, *, least: int = 0, most: int = LARGEST
) -> int:
    """Return a column's whole number. Raises `ValueError` if it is none, or out of range."""
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
    """Return a column's decimal number. Raises `ValueError` if it is none."""
    try:
        # NULL and an empty text count as zero.
        return float(columns.get(name) or 0.0)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} is no number: {str(columns[name])[:40]!r}") from None


def numbered(columns: Columns, name: str) -> int:
    """Return the number by which a row names something. Raises `ValueError` if it is 0."""
    found = number(columns, name)
    if not found:
        raise ValueError(f"{name} is missing")
    return found


def copper(columns: Columns, prefix: str) -> int:
    """Return the copper of the columns of coins whose names begin so. Raises `ValueError`."""
    return sum(number(columns, prefix + name) * value for name, value in COIN_VALUES)


def moment(columns: Columns, name: str) -> Moment:
    """Return the moment of unix seconds, or of MySQL's ``YYYY-MM-DD hh:mm:ss`` (as UTC).

    MySQL's ``0000-00-00 00:00:00`` and any other text are `UNKNOWN`.
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


T = TypeVar("T")

MOST_NOTES = 10
"""Notes about one table; the others are counted."""


@dataclass(slots=True)
class Tally:
    """Numbers of rows of one table: read, added, present before, and left out."""

    read: int = 0
    added: int = 0
    present: int = 0
    skipped: int = 0


@dataclass(slots=True)
class ImportReport:
    """The result of an import, or of its trial."""

    tables: dict[str, Tally]
    settings: dict[str, str] = field(default_factory=dict)
    later: Counter[str] = field(default_factory=Counter)
    """Rows that this program cannot use yet, by table; they are not counted as left out."""
    advice: list[str] = field(default_factory=list)
    """Lines about the next steps, for the end of the report."""
    _notes: list[str] = field(default_factory=list)
    _about: Counter[str] = field(default_factory=Counter)

    def read_row(self, row: InsertRow, take: Callable[[Columns], T]) -> T | None:
        """Pass a row's columns to `take` and return the result.

        If `take` raises `ValueError`, the row is left out with a note, and the result is None.
        """
        table = row.table.lower()
        self.tables[table].read += 1
        try:
            return take(row.named())
        except ValueError as error:
            self.leave_out(table, row.place, str(error))
            return None

    def leave_out(self, table: str, place: str, reason: str) -> None:
        """Count a row that cannot be imported, and note the reason."""
        self.tables[table].skipped += 1
        self.note(table, f"{place}: row of {table} left out: {reason}")

    def settle(self) -> None:
        """Count all rows as left out that were neither added nor present before."""
        for tally in self.tables.values():
            # An import cannot always say at once whether a row is used, so the rest is computed.
            tally.skipped = tally.read - tally.added - tally.present

    def note(self, table: str, line: str) -> None:
        """Add a note about a table, unless it has `MOST_NOTES` already."""
        self._about[table] += 1
        # A broken dump repeats one fault in each row; the report stays readable.
        if self._about[table] <= MOST_NOTES:
            self._notes.append(line)

    @property
    def notes(self) -> list[str]:
        """The notes, as lines for operators."""
        further = [
            f"{table}: {count - MOST_NOTES} further lines like these"
            for table, count in self._about.items()
            if count > MOST_NOTES
        ]
        return self._notes + further

    @property
    def added(self) -> int:
        """Rows that were added."""
        return sum(tally.added for tally in self.tables.values())

    @property
    def present(self) -> int:
        """Rows that were present before."""
        return sum(tally.present for tally in self.tables.values())

    @property
    def left_out(self) -> int:
        """Rows that could not be imported."""
        return sum(tally.skipped for tally in self.tables.values())
