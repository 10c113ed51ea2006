"""The statements that differ between engines, made from our own names of tables and columns.

Everything else is one SQL text for all engines: ``?`` and ``:name`` as parameters, TRUE, FALSE and
NOT for booleans, ``RETURNING``, a name for each subquery, and no function of dates.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol


class Cursor(Protocol):
    """The result of a statement. A row answers to names and to positions."""

    @property
    def rowcount(self) -> int:
        """The number of changed rows."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""

    def __iter__(self) -> Any:
        """Yield the rows that are left."""


class Connection(Protocol):
    """Carries out statements."""

    def execute(self, sql: str, values: Any = (), /) -> Cursor:
        """Carry out one statement; `values` has those of ``?`` in order, or of names."""

    def executemany(self, sql: str, rows: Iterable[Any], /) -> object:
        """Carry out one statement for each of these rows."""


class Kind(StrEnum):
    """Types of columns, by the names of SQLite's STRICT tables."""

    INTEGER = "INTEGER"
    REAL = "REAL"
    TEXT = "TEXT"
    BOOLEAN = "BOOLEAN"


class SqlDialect(ABC):
    """The statements of one engine. All names are our own, so nothing from outside gets in."""

    clock: str
    """The time of the database as an expression: seconds since 1970, with fractions."""
    json_row: str
    """The function that makes a JSON list of its arguments."""
    json_rows: str
    """The function that makes a JSON list of the values of all rows, in any order."""
    lock_rows: str = ""
    """Added to a SELECT, it locks the rows until the end of the transaction; empty where every
    transaction locks everything.
    """

    @staticmethod
    def insert(table: str, columns: Collection[str]) -> str:
        """Return the statement that adds a row, with a parameter for each column."""
        marks = ", ".join("?" * len(columns))
        names = ", ".join(columns)
        return f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608  # our own names

    def insert_new(self, table: str, columns: Collection[str]) -> str:
        """Return the statement that adds a row unless one with its key exists."""
        return f"{self.insert(table, columns)} ON CONFLICT DO NOTHING"

    def upsert(self, table: str, columns: Collection[str], key: Collection[str]) -> str:
        """Return the statement that adds a row, or replaces the one with its key."""
        others = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in key)
        action = f"UPDATE SET {others}" if others else "NOTHING"
        return f"{self.insert(table, columns)} ON CONFLICT ({', '.join(key)}) DO {action}"

    @abstractmethod
    def among(self, column: str, values: Collection[int] | Collection[str]) -> tuple[str, Any]:
        """Return the condition that a column has one of any number of values, and its parameter."""

    @abstractmethod
    def update_many(
        self,
        connection: Connection,
        table: str,
        match: Mapping[str, Kind],
        columns: Mapping[str, Kind],
        rows: Sequence[tuple[Any, ...]],
        *,
        growing: str = "",
    ) -> list[Any]:
        """Change many rows of a table, and return the first matched value of each changed one.

        A row of `rows` has the values of the columns in `match`, which select the row to change,
        and then those of `columns`. No two of them may match the same row. A row stays as it is if
        the column `growing` would not become greater.
        """

    @abstractmethod
    def after_given_id(self, connection: Connection, table: str, row_id: int) -> None:
        """Make the next id of a table greater than one that an import has chosen."""

    @abstractmethod
    def last_id(self, connection: Connection, table: str) -> int:
        """Return the greatest id that a table has assigned, 0 for none."""

    @abstractmethod
    def continue_ids(self, connection: Connection, table: str, row_id: int) -> None:
        """Assign no id up to this one any more."""


class SqliteDialect(SqlDialect):
    """The statements of SQLite."""

    json_rows = "json_group_array"
    json_row = "json_array"
    clock = "((julianday('now') - 2440587.5) * 86400.0)"

    def among(self, column: str, values: Collection[int] | Collection[str]) -> tuple[str, Any]:
        """Return the condition and its parameter; see `SqlDialect`."""
        # One parameter: SQLite limits the number of parameters of a statement.
        chosen = f"{column} IN (SELECT value FROM json_each(?))"  # noqa: S608  # our own names
        return chosen, json.dumps([*values])

    def update_many(
        self,
        connection: Connection,
        table: str,
        match: Mapping[str, Kind],
        columns: Mapping[str, Kind],
        rows: Sequence[tuple[Any, ...]],
        *,
        growing: str = "",
    ) -> list[Any]:
        """Change many rows; see `SqlDialect`."""
        pairs = ", ".join(f"{name} = ?" for name in columns)
        conditions = [f"{name} = ?" for name in match]
        place = slice(0, 0)
        if growing:
            conditions.append(f"{growing} < ?")
            at = len(match) + [*columns].index(growing)
            place = slice(at, at + 1)
        chosen = " AND ".join(conditions)
        sql = f"UPDATE {table} SET {pairs} WHERE {chosen}"  # noqa: S608  # our own names
        first = len(match)
        # One statement for each: in the same process a statement costs less than a large one.
        return [
            row[0]
            for row in rows
            if connection.execute(sql, (*row[first:], *row[:first], *row[place])).rowcount > 0
        ]

    def after_given_id(self, connection: Connection, table: str, row_id: int) -> None:
        """Do nothing: AUTOINCREMENT continues after the greatest id."""

    def last_id(self, connection: Connection, table: str) -> int:
        """Return the greatest id that a table has assigned; see `SqlDialect`."""
        row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        found = (
            row.fetchone()
            or connection.execute(
                f"SELECT max(id) FROM {table}"  # noqa: S608  # our own names
            ).fetchone()
        )
        return int(found[0] or 0)

    def continue_ids(self, connection: Connection, table: str, row_id: int) -> None:
        """Assign no id up to this one any more; see `SqlDialect`."""
        changed = connection.execute(
            "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (row_id, table)
        )
        if not changed.rowcount:
            connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, row_id))
