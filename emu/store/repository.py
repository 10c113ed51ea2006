"""What the repositories share: a database, its schema, and how names are compared.

A repository knows the tables of one subject and returns values of `emu.model`. Its methods say in
one word what they do: `reads` is one statement, `views` several that see the same state, and
`changes` is a transaction, or a part of the one that is open. All raise `StoreError`.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache, partial, update_wrapper
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from sqlite_utils.db import Table

from emu.database import Database, Schema, explained, in_user_version, read_steps
from emu.database.files import EXPLAINED
from emu.files import data_file


def name_key(name: str) -> str:
    """Return what two names have in common when they count as the same name."""
    folded = unicodedata.normalize("NFC", name).casefold()
    return unicodedata.normalize("NFC", folded)


@cache
def schema() -> Schema:
    """Return the steps under ``data/sql/store``; the last one's number is this program's."""
    return in_user_version(read_steps(data_file("sql", "store")))


P = ParamSpec("P")
T = TypeVar("T")


class Repository:
    """Rows of one subject in a `database`."""

    __slots__ = ("_run", "_run_many", "database")

    bad_text = "replace"
    """How a text is read whose bytes are no UTF-8: an error handler of `bytes.decode`."""

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
NOT_UTF8: Final = "Could not decode to UTF-8"
"""How SQLite's error begins for a text whose bytes are no UTF-8."""


def readable(connection: sqlite3.Connection, read: Callable[[], T], bad_text: str) -> T:
    """Read rows; texts whose bytes are no UTF-8 are decoded with the error handler `bad_text`.

    One such name would otherwise keep a whole list from being read.
    """
    try:
        return read()
    except sqlite3.OperationalError as error:
        if not str(error).startswith(NOT_UTF8):
            raise
    usual = connection.text_factory
    connection.text_factory = lambda data: data.decode("utf-8", bad_text)
    try:
        return read()
    finally:
        connection.text_factory = usual


def reads(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Make a method of one statement that reads."""

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        self.database.check_lost()
        try:
            read = partial(method, self, *values, **named)
            return readable(self.database.connection, read, self.bad_text)
        except EXPLAINED as error:
            raise explained(self.database.path, error) from error

    return update_wrapper(call, method)


def views(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Make a method that reads several times and sees the same state all the time."""

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        with self.database.reading() as connection:
            return readable(connection, partial(method, self, *values, **named), self.bad_text)

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
