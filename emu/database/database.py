"""`Database`: one open file, its transactions, and sqlite-utils on top of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Self

import sqlite_utils

from emu.database.commits import CommitCounter, CommitWatch
from emu.database.files import (
    LOCK_WAIT,
    back_up,
    connect_database,
    create_database,
    look_at_database,
    open_database,
    readable_errors,
    set_durability,
)
from emu.database.migrations import Schema
from emu.errors import StoreError
from emu.model import Durability
from emu.partial import partial_folder


class Database:
    """An open database. It belongs to one thread at a time; whatever fails is a `StoreError`."""

    __slots__ = (
        "_begun", "_changes", "_depth", "_is_certain", "connection", "lost", "path", "tables",
        "warn", "watch",
    )  # fmt: skip

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Take a connection in autocommit mode; `open` and its like are how to get one."""
        self.path = path
        self.connection = connection
        self.tables = sqlite_utils.Database(
            connection, recursive_triggers=False, execute_plugins=False
        )
        """The same connection for upserts, bulk inserts and what else sqlite-utils does well; what
        is changed with it belongs inside `transaction`."""
        self.lost = ""
        """Why nothing may be read or changed any more; empty while all may. See `check_lost`."""
        self._depth = 0
        self.watch: CommitWatch | None = None
        """Tells our own commits from those of others, for who asks; `watch_commits` makes one."""
        self._changes = 0
        self._begun = 0
        self._is_certain = True
        self.warn: Callable[[str], object] = _nobody
        """Takes one line about a stored value that cannot be used and what is used instead."""

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
        with partial_folder() as folder:
            path = folder / self.path.name
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

    def wait_for_locks(self, seconds: float) -> None:
        """Wait so long for another program's lock from now on."""
        self.connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

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

    def check_lost(self) -> None:
        """Raise `StoreError` when the file is no longer the one that was opened."""
        if self.lost:
            raise StoreError(self.lost)

    def set_durability(self, durability: Durability) -> None:
        """Set when commits are written to disk; `Durability.FAST` until then."""
        with readable_errors(self.path):
            set_durability(self.connection, durability)

    def leave_checkpoints(self) -> None:
        """Have commits of this connection never write the main file: a `Keeper` does that.

        It looks first whether the file is still the one that was opened.
        """
        with readable_errors(self.path):
            self.connection.execute("PRAGMA wal_autocheckpoint = 0")

    def begin(self) -> bool:
        """Begin a transaction, or a part of the one that is open; return whether it is a part.

        With `commit` and `undo` it is what `transaction` does, for whoever does it very often;
        these three raise `sqlite3.Error`.
        """
        if self.lost:
            raise StoreError(self.lost)
        connection = self.connection
        is_part = self._depth > 0
        if is_part and not connection.in_transaction:
            raise StoreError(f"{self.path}: an earlier failure undid this group of changes")
        connection.execute("SAVEPOINT part" if is_part else "BEGIN IMMEDIATE")
        self._depth += 1
        if self.watch is not None and not is_part:
            self._changes, self._is_certain = connection.total_changes, True
            self._begun = self.watch.begun()
        return is_part

    def commit(self, *, is_part: bool) -> None:
        """Keep what was changed since `begin`; when it raises, `undo` must follow."""
        if self.lost:
            raise StoreError(self.lost)
        self.connection.execute("RELEASE part" if is_part else "COMMIT")
        self._depth -= 1
        if not is_part:
            self._over()

    def undo(self, *, is_part: bool) -> None:
        """Take back what was changed since `begin`."""
        self._depth -= 1
        self._is_certain = False
        if not is_part:
            self._roll_back()
            self._over()
        elif self.connection.in_transaction:  # SQLite may have ended all of it: disk full, say
            self.connection.execute("ROLLBACK TO part")
            self.connection.execute("RELEASE part")

    def watch_commits(self) -> CommitWatch | None:
        """Begin to tell our own commits from those of others; None where that is not possible.

        All that writes by this connection must be inside `transaction` from then on. The caller
        closes what is returned, after all connections of this process.
        """
        try:
            self.watch = CommitWatch(CommitCounter(self.path))
        except (OSError, ValueError):
            self.watch = None
        return self.watch

    def _over(self) -> None:
        if self.watch is not None:
            has_changed = self.connection.total_changes != self._changes
            self.watch.ended(self._begun, has_changed=has_changed, is_certain=self._is_certain)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read in one view of the database, whatever other programs write meanwhile."""
        self.check_lost()
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


def _nobody(_line: str) -> None:
    """Whom a database tells of values that cannot be used when nobody listens."""
