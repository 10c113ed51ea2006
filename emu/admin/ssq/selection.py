"""Carries a selection out: which columns there are for somebody, and the rows that fit.

Columns of the table with one row stand in every row; rows of two lists stand one after another and
are never multiplied. A column that a row has not is an empty cell, and no comparison with it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from emu.admin.ssq.query import Headers, Select
from emu.admin.ssq.rows import NOTHING, NULL_HEADER, Cell, push_row
from emu.admin.ssq.tables import ALIASES, Column, Table, Told

Known = dict[str, tuple[Table, Column]]
"""Columns by name, aliases too."""


def known_columns(tables: Sequence[Table], *, private: bool) -> Known:
    """Return the columns that somebody may see, `private` ones too or not."""
    known: Known = {
        column.name: (table, column)
        for table in tables
        for column in table.columns
        if private or not column.is_private
    }
    return known | {alias: known[name] for alias, name in ALIASES.items() if name in known}


class Selection:
    """One selection with the columns it means."""

    __slots__ = ("_asked", "_headers", "_known", "_select", "_shown", "_tables")

    def __init__(self, select: Select, known: Known, preferred: Headers = Headers.NORMAL) -> None:
        """`preferred` is the form of the header row where the selection names none."""
        self._select = select
        self._headers = select.headers or preferred
        self._known = known
        self._asked = [known.get(name) for name in select.columns]
        self._shown = [found for found in self._asked if found is not None]
        self._tables = list({table.name: table for table, _ in self._shown}.values())

    def body(self, told: Told, room: int, most_cells: int) -> tuple[bytes, bool]:
        """Return the answer's body, and whether something was left out.

        Only whole rows that fit into `room` bytes; no more rows are looked at than have
        `most_cells` cells, compared ones counted.
        """
        if not self._shown:
            return NOTHING, False
        body = [self._header()]
        size = len(body[0])
        where = self._select.where
        left = most_cells // (len(self._shown) + (where.size if where is not None else 0))
        for own, row in self._rows(told):
            left -= 1
            if left < 0:
                return b"".join(body), True
            if where is not None and not where.holds(partial(self._find, told, own, row)):
                continue
            written = push_row(self._cells(told, own, row))
            size += len(written)
            if size > room:
                return b"".join(body), True
            body.append(written)
        return (b"".join(body), False) if size <= room else (NOTHING, True)

    def _header(self) -> bytes:
        form = self._headers
        if form is Headers.NORMAL:
            asked = zip(self._select.columns, self._asked, strict=True)
            return push_row([name for name, found in asked if found is not None])
        if form is Headers.NULL and len(self._shown) == len(self._asked):
            return NULL_HEADER
        return push_row([int(found is not None) for found in self._asked])

    def _rows(self, told: Told) -> Iterator[tuple[Table | None, Any]]:
        """Yield each row with the list it is of; None for the table with one row, told alone."""
        anything = False
        for table in self._tables:
            if table.is_list:
                for row in table.rows(told):
                    anything = True
                    yield table, row
        if not anything and any(not table.is_list for table in self._tables):
            yield None, None

    def _cells(self, told: Told, own: Table | None, row: Any) -> Iterator[Cell]:
        for table, column in self._shown:
            if table.is_list and table is not own:
                yield ""
            else:
                yield column.value(told, row)

    def _find(self, told: Told, own: Table | None, row: Any, name: str) -> Cell | None:
        """Return the cell of a row for a condition, None for what it has not."""
        table, column = self._known.get(name, _UNKNOWN)
        if column is None or (table is not None and table.is_list and table is not own):
            return None
        return column.value(told, row)


_UNKNOWN: Final[tuple[Table | None, Column | None]] = (None, None)
