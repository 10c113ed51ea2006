"""What an import tells: what became of each table's rows, and lines for an operator to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from emu.sqldump.columns import Columns
from emu.sqldump.reader import InsertRow

T = TypeVar("T")

MOST_NOTES = 10
"""Lines told of one table; the others are counted."""


@dataclass(slots=True)
class Tally:
    """What became of the rows of one table."""

    read: int = 0
    added: int = 0
    present: int = 0
    skipped: int = 0


@dataclass(slots=True)
class ImportReport:
    """What an import did, or would have done."""

    tables: dict[str, Tally]
    settings: dict[str, str] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)
    _about: Counter[str] = field(default_factory=Counter)

    def take(self, row: InsertRow, take: Callable[[Columns], T]) -> T | None:
        """Hand a row's columns on and return what `take` makes of them.

        A row for which that raises `ValueError` is left out with a note: then it is None.
        """
        table = row.table.lower()
        self.tables[table].read += 1
        try:
            return take(row.named())
        except ValueError as error:
            self.leave_out(table, row.line, str(error))
            return None

    def leave_out(self, table: str, line: int, reason: str) -> None:
        """Count a row that cannot be brought over, with a note that says why."""
        self.tables[table].skipped += 1
        self.note(table, f"line {line}: row of {table} left out: {reason}")

    def settle(self) -> None:
        """Count as left out whatever was neither added nor here already."""
        for tally in self.tables.values():
            tally.skipped = tally.read - tally.added - tally.present

    def note(self, table: str, line: str) -> None:
        """Keep a line about a table, unless there are many of it already."""
        self._about[table] += 1
        if self._about[table] <= MOST_NOTES:
            self._notes.append(line)

    @property
    def notes(self) -> list[str]:
        """Lines for an operator to read."""
        untold = [
            f"{table}: {count - MOST_NOTES} further lines like these"
            for table, count in self._about.items()
            if count > MOST_NOTES
        ]
        return self._notes + untold

    @property
    def added(self) -> int:
        """Rows that are new here."""
        return sum(tally.added for tally in self.tables.values())

    @property
    def present(self) -> int:
        """Rows that were here already."""
        return sum(tally.present for tally in self.tables.values())

    @property
    def left_out(self) -> int:
        """Rows that could not be brought over."""
        return sum(tally.skipped for tally in self.tables.values())
