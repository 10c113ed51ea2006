"""Statements of the portable subset in PostgreSQL's form, and rows that answer to names.

``?`` and ``:name`` become ``$1``, ``$2`` ... as the server itself numbers them. Each text is
rewritten once. The class of a statement's rows is made once, too: reading the driver's description
of the columns costs more than a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

_TOKEN: Final = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | :: | \? | :(?P<name>[a-z_][a-z0-9_]*)""",
    re.VERBOSE,
)
"""Texts, quoted names, comments and casts, which stay, and parameters."""


class Row(tuple[Any, ...]):
    """A row whose values have positions and names; `row_class` makes a class for its columns."""

    __slots__ = ()
    places: Mapping[str, int] = {}

    def __getitem__(self, key: Any) -> Any:
        return tuple.__getitem__(self, self.places[key] if key.__class__ is str else key)

    def keys(self) -> Sequence[str]:
        """Return the names of the columns, so that `dict` takes a row."""
        return [*self.places]


@cache
def row_class(names: tuple[str, ...]) -> type[Row]:
    """Return the class of rows with these columns."""
    places = {name: place for place, name in enumerate(names)}
    return type("Row", (Row,), {"__slots__": (), "places": places})


class Statement:
    """A statement as the server takes it."""

    __slots__ = ("_row", "names", "sql")

    def __init__(self, sql: str) -> None:
        self.names: list[str] = []
        """Names of the parameters in the order of their numbers; empty if they have none."""
        numbers: dict[str, int] = {}
        count = 0

        def number(match: re.Match[str]) -> str:
            nonlocal count
            name = match["name"]
            if match[0] == "?":
                count += 1
                return f"${count}"
            if name is None:
                return match[0]
            return f"${numbers.setdefault(name, len(numbers) + 1)}"

        self.sql = _TOKEN.sub(number, sql)
        self.names = [*numbers]
        self._row: type[Row] | None = None

    def values(self, given: Any) -> Sequence[Any]:
        """Return the values of the parameters by number."""
        return [given[name] for name in self.names] if self.names else given

    def rows(self, cursor: Any) -> Callable[[Sequence[Any]], Any]:
        """Return the class of the statement's rows; a row factory of psycopg."""
        row = self._row
        # The number of columns changes when a migration adds one to a table that is read with *.
        if row is None or len(row.places) != cursor.pgresult.nfields:
            described = cursor.description
            if described is None:
                return tuple
            row = self._row = row_class(tuple(column.name for column in described))
        return row
