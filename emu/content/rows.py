"""Rows of a content file in memory: names and equal values are shared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Row = Mapping[str, Any]
"""A row of a table: our column names with their values."""


class StoredRow(Mapping[str, Any]):
    """A row whose table's other rows share the names of the columns.

    A dict of 40 columns has more than 2 kB, and a large zone has thousands of rows.
    """

    __slots__ = ("_names", "_values")

    def __init__(self, names: Mapping[str, int], values: tuple[Any, ...]) -> None:
        """`names` are the columns with their place among the values."""
        self._names = names
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[self._names[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __repr__(self) -> str:
        return repr(dict(self))

    def of(self, values: tuple[Any, ...]) -> StoredRow:
        """Return a row of the same table with other values."""
        return StoredRow(self._names, values)

    @property
    def stored(self) -> tuple[Any, ...]:
        """The values in the order of the columns."""
        return self._values


class SharedValues:
    """One object for each of the values that thousands of rows of a zone share.

    SQLite makes a new object for each value it returns. Sharing them takes a fifth of the memory
    of a zone's rows.
    """

    def __init__(self) -> None:
        # By type: 1 and 1.0 are equal, and not the same.
        self._known: defaultdict[type, dict[Any, Any]] = defaultdict(dict)

    def value(self, value: Any) -> Any:
        """Return the object for a value."""
        return self._known[type(value)].setdefault(value, value)

    def values(self, values: Iterable[Any]) -> list[Any]:
        """Return the objects for some values."""
        known = self._known
        return [known[type(one)].setdefault(one, one) for one in values]

    def rows(self, rows: Iterable[StoredRow]) -> Iterator[StoredRow]:
        """Yield rows with the objects for their values."""
        for row in rows:
            yield row.of(tuple(self.values(row.stored)))
