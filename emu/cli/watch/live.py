"""What a live view remembers from one look to the next. Knows no terminal and no socket."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from emu.admin.snapshot import Snapshot
from emu.admin.snapshot.rates import Rates
from emu.admin.source import duration
from emu.cli.tables import printable
from emu.cli.watch import rows
from emu.cli.watch.rows import Row

MOST_ROWS: Final = 300
"""Rows of one table that are shown; more than a screen has, less than a crowd."""

VIEWS: Final[dict[str, Callable[[Rates], list[Row]]]] = {
    "players": lambda rates: rows.player_rows(rates.now),
    "zones": rows.zone_rows,
    "doors": lambda rates: rows.door_rows(rates.now),
    "drops": rows.drop_rows,
    "log": lambda rates: [{"line": line} for line in reversed(rates.now.log)],
}
"""Tables that are looked at one at a time, by name."""


class Live:
    """One server through its restarts, and how somebody wants to see it."""

    def __init__(self) -> None:
        self.rates: Rates | None = None
        self.trouble = ""
        """Why the last look failed; empty when it did not."""
        self.restarts = 0
        self.paused = False
        self.view = "players"
        self.wanted = ""
        """What rows must have in one of their cells."""
        self._orders: dict[str, tuple[str, bool]] = {}

    def took(self, now: Snapshot) -> None:
        """Take a look at the server in."""
        before = self.rates.now if self.rates is not None else None
        if before is not None and before.process != now.process:
            self.restarts += 1
        self.rates = Rates.between(before, now)
        self.trouble = ""

    def failed(self, reason: str) -> None:
        """Learn that the server could not be looked at; what was seen last stays."""
        self.trouble = reason

    def banner(self) -> str:
        """Return what must be known before the numbers are read; empty when all is usual."""
        if self.paused:
            return "PAUSED; p goes on"
        if self.trouble:
            return f"NO ANSWER, trying again: {self.trouble}"
        if self.restarts:
            return f"the server was started anew {self.restarts}x since this view began"
        return ""

    def lines(self) -> list[str]:
        """Return the server's state and what goes through it."""
        if self.rates is None:
            return ["waiting for the server"]
        told = rows.summary(self.rates)
        speaking = told.pop("server"), told.pop("players")
        named = (f"{name} {text}" for name, text in told.items())
        return [*speaking, *named, *rows.growth(self.rates)]

    # -- the table ------------------------------------------------------------------------------

    @property
    def order(self) -> tuple[str, bool]:
        """The column that rows are sorted by, empty for as they come, and whether backwards."""
        return self._orders.get(self.view, ("", False))

    def sort_by(self, column: str) -> None:
        """Sort by a column; by the one that it is sorted by already, the other way round."""
        before, backwards = self.order
        self._orders[self.view] = (column, not backwards if column == before else False)

    def sort_by_next(self) -> None:
        """Sort by the column after the one that rows are sorted by; after the last, by none."""
        columns = ["", *self.columns()]
        at = columns.index(self.order[0]) if self.order[0] in columns else 0
        self._orders[self.view] = (columns[(at + 1) % len(columns)], False)

    def reverse(self) -> None:
        """Turn the order round."""
        column, backwards = self.order
        self._orders[self.view] = (column, not backwards)

    def columns(self) -> list[str]:
        """Return the columns of the table; none while it has no rows."""
        found = self._all_rows()
        return list(found[0]) if found else []

    def table(self) -> tuple[list[list[str]], int]:
        """Return the cells of the rows to be shown, and how many rows there are besides."""
        column, backwards = self.order
        chosen = arranged(self._all_rows(), column, wanted=self.wanted, backwards=backwards)
        shown = [[cell(name, value) for name, value in row.items()] for row in chosen[:MOST_ROWS]]
        return shown, len(chosen) - len(shown)

    def _all_rows(self) -> list[Row]:
        return VIEWS[self.view](self.rates) if self.rates is not None else []


def arranged(
    found: Sequence[Row], column: str, *, wanted: str = "", backwards: bool = False
) -> list[Row]:
    """Return the rows that have a text in one of their cells, sorted; no column: as they come."""
    text = wanted.strip().casefold()
    chosen = [
        row
        for row in found
        if not text or any(text in cell(name, one).casefold() for name, one in row.items())
    ]
    if column:
        return sorted(chosen, key=lambda row: _rank(row.get(column)), reverse=backwards)
    return chosen[::-1] if backwards else chosen


def cell(column: str, value: Any) -> str:
    """Return a value as it is shown."""
    if value is None:
        return "-"
    if column == "online":
        return duration(value)
    if isinstance(value, float):
        return rows.short(value)
    return printable(str(value))


def _rank(value: Any) -> tuple[int, float, str]:
    """Return what values are sorted by: none at all, numbers, then texts."""
    if value is None:
        return 0, 0.0, ""
    if isinstance(value, int | float):
        return 1, float(value), ""
    return 2, 0.0, str(value).casefold()
