"""The base of all repositories: a database, its schema, and the comparison of names.

A repository owns the tables of one subject, and returns values of `emu.model`. A decorator states
what a method does: `reads` is one statement, `views` are several statements on one snapshot, and
`changes` is a transaction, or a savepoint in the open one. `change` is a transaction of one
statement, `changes_ahead` one whose rows are read after its end, and `asks` reads several times:
these need one round trip to a server. All raise `StoreError`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from functools import cache, update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

from emu.database import Database, Kind, read_steps
from emu.database.engines import Schemas
from emu.database.sqlite import Schema, in_user_version
from emu.errors import StoreError
from emu.files import data_file

FIRST_ON_SERVERS = 16
"""Number of the first migration for PostgreSQL, which has the tables of all earlier ones."""


def name_key(name: str) -> str:
    """Return the key that equal names share: normalized, and without case."""
    # Twice, because `casefold` can produce letters that are not normalized any more.
    folded = unicodedata.normalize("NFC", name).casefold()
    return unicodedata.normalize("NFC", folded)


def check_name(name: str) -> None:
    """Raise `StoreError` if a name has a NUL, which not every engine can store."""
    if "\0" in name:
        raise StoreError("a name must not have a NUL character")


@cache
def schema() -> Schema:
    """Return the schema of a SQLite file, with the migrations in ``data/sql/store``."""
    return in_user_version(read_steps(data_file("sql", "store")))


@cache
def schemas() -> Schemas:
    """Return the schema for every engine; PostgreSQL's is in ``data/sql/store-postgresql``."""
    return Schemas(schema(), read_steps(data_file("sql", "store-postgresql"), FIRST_ON_SERVERS))


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

    def _insert(self, table: str, row: Mapping[str, Any]) -> int:
        """Insert a row, column -> value, and return its id.

        With an ``id`` of 0 or None, the database assigns the next one.
        """
        given = row.get("id")
        if not given:
            row = {column: value for column, value in row.items() if column != "id"}
        sql = f"{self.database.dialect.insert(table, row)} RETURNING id"
        ((row_id,),) = self._run(sql, (*row.values(),)).fetchall()
        if given:
            self.database.dialect.after_given_id(self.database.connection, table, row_id)
        return int(row_id)

    def _insert_new(self, table: str, row: Mapping[str, Any]) -> bool:
        """Insert a row unless its key exists; return True if it is new."""
        sql = self.database.dialect.insert_new(table, row)
        return self._run(sql, (*row.values(),)).rowcount == 1

    def _insert_many(self, table: str, columns: Collection[str], rows: Iterable[Any]) -> None:
        """Insert rows with values for these columns."""
        self._run_many(self.database.dialect.insert(table, columns), rows)

    def _upsert(self, table: str, row: Mapping[str, Any], key: Collection[str]) -> None:
        """Insert a row, or replace the one with the same values of the columns in `key`."""
        self._run(self.database.dialect.upsert(table, row, key), (*row.values(),))

    def _upsert_many(
        self, table: str, columns: Collection[str], key: Collection[str], rows: Iterable[Any]
    ) -> None:
        """Insert rows with values for these columns, or replace those with the same key."""
        self._run_many(self.database.dialect.upsert(table, columns, key), rows)

    def _among(self, column: str, values: Collection[int] | Collection[str]) -> tuple[str, Any]:
        """Return the condition that a column has one of these values, and its parameter."""
        return self.database.dialect.among(column, values)

    def _update_many(
        self,
        table: str,
        match: Mapping[str, Kind],
        columns: Mapping[str, Kind],
        rows: Sequence[tuple[Any, ...]],
        *,
        growing: str = "",
    ) -> list[Any]:
        """Change many rows with as few statements as the engine needs.

        A row of `rows` has the values of the columns in `match`, which select the row to change,
        and then those of `columns`. Of several with the same match, the last one counts. A row
        stays as it is if the column `growing` would not become greater. Returns the first matched
        value of each changed row.
        """
        first = len(match)
        last = {row[:first]: row for row in rows}
        if not last:
            return []
        return self.database.dialect.update_many(
            self.database.connection,
            table,
            match,
            columns,
            [*last.values()],
            growing=growing,
        )

    def _set(self, table: str, row_id: int | None, **columns: Any) -> None:
        """Change columns of the row with this id, if it exists."""
        pairs = ", ".join(f"{column} = ?" for column in columns)
        sql = f"UPDATE {table} SET {pairs} WHERE id = ?"  # noqa: S608  # our own names
        self._run(sql, (*columns.values(), row_id))

    def _after(self, sql: str, values: Any = ()) -> Iterable[Any]:
        """Carry out a statement whose rows are read after the commit; see `changes_ahead`."""
        return self.database.after(self._run(sql, values))


R = TypeVar("R", bound=Repository)


def reads(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Decorate a method that reads with one statement."""

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        database = self.database
        # SQLite would go on reading a deleted file without any sign.
        database.check_lost()
        try:
            return database.read_texts(lambda: method(self, *values, **named), self.bad_text)
        except database.errors as error:
            raise database.explained(error) from error

    return update_wrapper(call, method)


def views(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Decorate a method that reads several times from one snapshot."""

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        database = self.database
        with database.reading():
            return database.read_texts(lambda: method(self, *values, **named), self.bad_text)

    return update_wrapper(call, method)


def asks(
    method: Callable[Concatenate[R, P], Generator[None, None, T]],
) -> Callable[Concatenate[R, P], T]:
    """Decorate a generator that sends several questions, yields once, and then reads the rows.

    Each statement sees the database at its own moment. All of it is one round trip to a server. It
    keeps the rows of a statement with `Repository._after`.
    """

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        database = self.database
        steps = method(self, *values, **named)
        with database.asking():
            database.read_texts(lambda: next(steps), self.bad_text)
        return _rest(steps)

    return update_wrapper(call, method)


def _rest(steps: Generator[None, None, T]) -> T:
    """Carry out what a generator does after its only `yield`."""
    try:
        next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("a method that asks ahead yields once")


def changes(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Decorate a method whose changes are stored together or not at all."""
    return _changing(method, is_lasting=True)


def saves(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Decorate a method as `changes` does, if its changes are repeated soon anyway.

    If the database server crashes, those of the last second may be lost; with
    `Durability.SAFE`, none.
    """
    return _changing(method, is_lasting=False)


def change(method: Callable[Concatenate[R, P], T]) -> Callable[Concatenate[R, P], T]:
    """Decorate a method that changes the database with one statement.

    On a server, that needs one round trip instead of the three of a transaction.
    """

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        database = self.database
        try:
            return database.change_once(lambda: method(self, *values, **named))
        except database.errors as error:
            raise database.explained(error) from error

    return update_wrapper(call, method)


def changes_ahead(
    method: Callable[Concatenate[R, P], Generator[None, None, T]],
) -> Callable[Concatenate[R, P], T]:
    """Decorate a generator that sends all its statements, yields once, and then reads the rows.

    Its changes are stored together or not at all, before it reads: on a server, all of that is one
    round trip. It keeps the rows of a statement with `Repository._after`.
    """

    def begin(self: R, /, *values: P.args, **named: P.kwargs) -> Generator[None, None, T]:
        steps = method(self, *values, **named)
        next(steps)
        return steps

    changed = _changing(begin, is_lasting=True)

    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        return _rest(changed(self, *values, **named))

    return update_wrapper(call, method)


def _changing(
    method: Callable[Concatenate[R, P], T], *, is_lasting: bool
) -> Callable[Concatenate[R, P], T]:
    def call(self: R, /, *values: P.args, **named: P.kwargs) -> T:
        database = self.database
        try:
            # `begin` without a context manager: every write passes here.
            is_savepoint = database.begin(is_lasting=is_lasting)
            try:
                result = method(self, *values, **named)
                database.commit(is_savepoint=is_savepoint)
            except BaseException:
                # BaseException: an interrupt must not leave a transaction open.
                database.undo(is_savepoint=is_savepoint)
                raise
        except database.errors as error:
            raise database.explained(error) from error
        return result

    return update_wrapper(call, method)
