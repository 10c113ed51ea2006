"""What the repositories share: a database, and how their methods come to it.

A repository knows the tables of one subject and returns values of `emu.model`. Its methods say in
one word what they do: `reads` is one statement, `views` several that see the same state, and
`changes` is a transaction, or a part of the one that is open. All raise `StoreError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlite_utils.db import Table

from emu.database import Database, explained
from emu.database.errors import EXPLAINED

P = ParamSpec("P")
T = TypeVar("T")


class Repository:
    """Rows of one subject in a `database`."""

    __slots__ = ("_run", "_run_many", "database")

    def __init__(self, database: Database) -> None:
        self.database = database
        self._run = database.connection.execute
        self._run_many = database.connection.executemany

    def _table(self, name: str) -> Table:
        """Return a table for what sqlite-utils does well; not for what every login needs."""
        return self.database.tables.table(name)

    def _insert(self, table: str, row: Mapping[str, Any]) -> int:
        """Insert a row, given by column, and return its id."""
        columns, marks = ", ".join(row), ", ".join("?" * len(row))
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608  # our own names
        return self._run(sql, (*row.values(),)).lastrowid or 0

    def _set(self, table: str, row_id: int | None, **columns: Any) -> None:
        """Change columns of the row with this id; nothing when there is none."""
        pairs = ", ".join(f"{column} = ?" for column in columns)
        sql = f"UPDATE {table} SET {pairs} WHERE id = ?"  # noqa: S608  # our own names
        self._run(sql, (*columns.values(), row_id))


R = TypeVar("R", bound=Repository)


def reads(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Make a method of one statement that reads."""

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        try:
            return method(self, *values, **named)
        except EXPLAINED as error:
            raise explained(self.database.path, error) from error

    return update_wrapper(call, method)


def views(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Make a method that reads several times and sees the same state all the time."""

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        with self.database.reading():
            return method(self, *values, **named)

    return update_wrapper(call, method)


def changes(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Make a method whose changes are all stored or none of them."""

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        database = self.database
        try:
            is_part = database.begin()
            try:
                result = method(self, *values, **named)
                database.commit(is_part=is_part)
            except BaseException:
                database.undo(is_part=is_part)
                raise
        except EXPLAINED as error:
            raise explained(database.path, error) from error
        return result

    return update_wrapper(call, method)
