"""The base of all repositories: a database, its schema, and the comparison of names.

A repository owns the tables of one subject, and returns values of `emu.model`. A decorator states
what a method does: `reads` is one statement, `views` are several statements on one snapshot, and
`changes` is a transaction, or a savepoint in the open one. All raise `StoreError`.
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
    """Return the key that equal names share: normalized, and without case."""
    # Twice, because `casefold` can produce letters that are not normalized any more.
    folded = unicodedata.normalize("NFC", name).casefold()
    return unicodedata.normalize("NFC", folded)


@cache
def schema() -> Schema:
    """Return the schema with the migrations in ``data/sql/store``."""
    return in_user_version(read_steps(data_file("sql", "store")))


P = ParamSpec("P")
T = TypeVar("T")


class Repository:
    """Rows of one subject in a `database`."""

    __slots__ = ("_run", "_run_many", "database")

    bad_text = "replace"
    """The error handler of `bytes.decode` for texts whose bytes are not UTF-8."""

    def __init__(self, database: Database) -> None:
        self.database = database
        # Bound once: every call of a repository uses them.
        self._run = database.connection.execute
        self._run_many = database.connection.executemany

    def _table(self, name: str) -> Table:
        """Return a table of sqlite-utils, for rare changes; see docs/contributing/libraries.md."""
        return self.database.tables.table(name)

    def _insert(self, table: str, row: Mapping[str, Any]) -> int:
        """Insert a row, column -> value, and return its id."""
        # `row` has our own column names; only its values come from outside.
        columns, marks = ", ".join(row), ", ".join("?" * len(row))
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608  # our own names
        return self._run(sql, (*row.values(),)).lastrowid or 0

    def _set(self, table: str, row_id: int | None, **columns: Any) -> None:
        """Change columns of the row with this id, if it exists."""
        pairs = ", ".join(f"{column} = ?" for column in columns)
        sql = f"UPDATE {table} SET {pairs} WHERE id = ?"  # noqa: S608  # our own names
        self._run(sql, (*columns.values(), row_id))


R = TypeVar("R", bound=Repository)
NOT_UTF8: Final = "Could not decode to UTF-8"
"""Start of SQLite's error for a text whose bytes are not UTF-8."""


def readable(connection: sqlite3.Connection, read: Callable[[], T], bad_text: str) -> T:
    """Read rows; decode texts that are not UTF-8 with the error handler `bad_text`.

    Otherwise one such name would make a whole list unreadable.
    """
    try:
        return read()
    except sqlite3.OperationalError as error:
        if not str(error).startswith(NOT_UTF8):
            raise
    # Only now: this factory is a Python call for each text, and much slower than the usual one.
    usual = connection.text_factory
    connection.text_factory = lambda data: data.decode("utf-8", bad_text)
    try:
        return read()
    finally:
        connection.text_factory = usual


def reads(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Decorate a method that reads with one statement."""

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        # SQLite would go on reading a deleted file without any sign.
        self.database.check_lost()
        try:
            read = partial(method, self, *values, **named)
            return readable(self.database.connection, read, self.bad_text)
        except EXPLAINED as error:
            raise explained(self.database.path, error) from error

    return update_wrapper(call, method)


def views(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Decorate a method that reads several times from one snapshot."""

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        with self.database.reading() as connection:
            return readable(connection, partial(method, self, *values, **named), self.bad_text)

    return update_wrapper(call, method)


def changes(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Decorate a method whose changes are stored together or not at all."""

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        database = self.database
        try:
            # `begin` without a context manager: every write passes here.
            is_savepoint = database.begin()
            try:
                result = method(self, *values, **named)
                database.commit(is_savepoint=is_savepoint)
            except BaseException:
                # BaseException: an interrupt must not leave a transaction open.
                database.undo(is_savepoint=is_savepoint)
                raise
        except EXPLAINED as error:
            raise explained(database.path, error) from error
        return result

    return update_wrapper(call, method)
