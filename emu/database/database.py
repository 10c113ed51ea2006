"""`Database`: one open file, its transactions, and sqlite-utils on top of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import sqlite_utils

from emu.database.backup import back_up
from emu.database.errors import LOCK_WAIT, readable_errors
from emu.database.files import (
    connect_database,
    create_database,
    look_at_database,
    open_database,
)
from emu.database.migrations import Schema
from emu.errors import StoreError


class Database:
    """An open database. It belongs to one thread at a time; whatever fails is a `StoreError`."""

    __slots__ = ("_depth", "connection", "path", "tables")

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Take a connection in autocommit mode; `open` and its like are how to get one."""
        self.path = path
        self.connection = connection
        self.tables = sqlite_utils.Database(
            connection, recursive_triggers=False, execute_plugins=False
        )
        """The same connection for upserts, bulk inserts and what else sqlite-utils does well; what
        is changed with it belongs inside `transaction`."""
        self._depth = 0

    @classmethod
    def open(cls, path: Path, schema: Schema, *, wait: float = LOCK_WAIT) -> Self:
        """Open an existing file and bring its schema up to date.

        `wait` is how many seconds to wait for another program's lock.
        """
        return cls(path, open_database(path, schema, wait=wait))

    @classmethod
    def look(cls, path: Path, schema: Schema, *, wait: float = LOCK_WAIT) -> Self:
        """Open an existing file to read it; no other program's write is in the way."""
        return cls(path, look_at_database(path, schema, wait=wait))

    @classmethod
    def create(cls, path: Path, schema: Schema, *, wait: float = LOCK_WAIT) -> Self:
        """Open a file, and make it first when it is not there."""
        create_database(path, schema)
        return cls.open(path, schema, wait=wait)

    @classmethod
    def connect(cls, path: Path, *, wait: float = LOCK_WAIT) -> Self:
        """Open an existing file as it is, whatever tables it has."""
        return cls(path, connect_database(path, wait=wait))

    @contextmanager
    def copy(self) -> Iterator[Self]:
        """Open a copy of the database to try things on; afterwards it is thrown away."""
        with TemporaryDirectory(prefix="emu-") as folder:
            path = Path(folder) / self.path.name
            with readable_errors(self.path), closing(sqlite3.connect(path)) as target:
                self.connection.backup(target)
            with self.connect(path) as copied:
                yield copied

    def back_up(self, copy: Path) -> None:
        """Write a whole copy of this moment into a file, while others may write the database.

        A file of that name is replaced. Raises `StoreError`.
        """
        with readable_errors(self.path):
            back_up(self.connection, copy)

    def close(self) -> None:
        """Close the file; every answered change is in it."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All changes inside, or none; inside another transaction, a part that can fail alone."""
        with readable_errors(self.path):
            is_part = self.begin()
            try:
                yield self.connection
                self.commit(is_part=is_part)
            except BaseException:
                self.undo(is_part=is_part)
                raise

    def begin(self) -> bool:
        """Begin a transaction, or a part of the one that is open; return whether it is a part.

        With `commit` and `undo` it is what `transaction` does, for whoever does it very often;
        these three raise `sqlite3.Error`.
        """
        connection = self.connection
        is_part = self._depth > 0
        if is_part and not connection.in_transaction:
            raise StoreError(f"{self.path}: an earlier failure undid this group of changes")
        connection.execute("SAVEPOINT part" if is_part else "BEGIN IMMEDIATE")
        self._depth += 1
        return is_part

    def commit(self, *, is_part: bool) -> None:
        """Keep what was changed since `begin`; when it raises, `undo` must follow."""
        self.connection.execute("RELEASE part" if is_part else "COMMIT")
        self._depth -= 1

    def undo(self, *, is_part: bool) -> None:
        """Take back what was changed since `begin`."""
        self._depth -= 1
        if not is_part:
            self._roll_back()
        elif self.connection.in_transaction:  # SQLite may have ended all of it: disk full, say
            self.connection.execute("ROLLBACK TO part")
            self.connection.execute("RELEASE part")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read in one view of the database, whatever other programs write meanwhile."""
        connection = self.connection
        with readable_errors(self.path):
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                self._roll_back()

    def _roll_back(self) -> None:
        """End a transaction that failed; SQLite may have ended it already."""
        with suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
