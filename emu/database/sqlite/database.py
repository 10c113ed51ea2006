"""`SqliteDatabase`: one open file and its transactions, with sqlite-utils for its tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Self, TypeVar

from emu.database.catalog import CatalogTable
from emu.database.database import Database
from emu.database.dialect import Kind, SqliteDialect
from emu.database.sqlite.commits import CommitCounter, CommitWatch
from emu.database.sqlite.files import (
    EXPLAINED,
    LOCK_WAIT,
    back_up,
    connect_database,
    create_database,
    explained,
    open_database,
    open_for_reading,
    readable_errors,
    set_durability,
)
from emu.database.sqlite.migrations import Schema
from emu.errors import StoreError
from emu.files import partial_folder
from emu.model import Durability

if TYPE_CHECKING:
    import sqlite_utils

T = TypeVar("T")

NOT_UTF8: Final = "Could not decode to UTF-8"
"""Start of SQLite's error for a text whose bytes are not UTF-8."""


class SqliteDatabase(Database):
    """An open SQLite file, for one thread at a time. Every failure is a `StoreError`."""

    __slots__ = (
        "_begun", "_changes", "_depth", "_is_certain", "_tables", "path", "watch",
    )  # fmt: skip

    dialect = SqliteDialect()
    errors: ClassVar[tuple[type[Exception], ...]] = EXPLAINED

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Take a connection in autocommit mode, as the class methods open it."""
        super().__init__(path, connection)
        self.path = path
        self.connection: sqlite3.Connection = connection
        self._tables: sqlite_utils.Database | None = None
        self._depth = 0
        self.watch: CommitWatch | None = None
        """Detects commits of other programs; `watch_commits` makes it."""
        self._changes = 0
        self._begun = 0
        self._is_certain = True

    @property
    def tables(self) -> sqlite_utils.Database:
        """The same connection for sqlite-utils: upserts, bulk inserts.

        Use it inside `transaction`.
        """
        if self._tables is None:
            # Most commands do not use it, and it imports NumPy if that is installed.
            import sqlite_utils  # noqa: PLC0415

            # Otherwise sqlite-utils would change how triggers work here, and run plugins that are
            # installed.
            self._tables = sqlite_utils.Database(
                self.connection, recursive_triggers=False, execute_plugins=False
            )
        return self._tables

    @classmethod
    def open(cls, path: Path, schema: Schema, *, wait: float = LOCK_WAIT) -> Self:
        """Open an existing file and bring its schema up to date.

        `wait` is how many seconds to wait for another program's lock.
        """
        return cls(path, open_database(path, schema, wait=wait))

    @classmethod
    def open_for_reading(cls, path: Path, schema: Schema, *, wait: float = LOCK_WAIT) -> Self:
        """Open an existing file for reading; writes of other programs do not block it."""
        return cls(path, open_for_reading(path, schema, wait=wait))

    @classmethod
    def create(cls, path: Path, schema: Schema, *, wait: float = LOCK_WAIT) -> Self:
        """Open a file; create it first if it is missing."""
        create_database(path, schema)
        return cls.open(path, schema, wait=wait)

    @classmethod
    def connect(cls, path: Path, *, wait: float = LOCK_WAIT) -> Self:
        """Open an existing file with any tables, and without migrations."""
        return cls(path, connect_database(path, wait=wait))

    @contextmanager
    def trial(self) -> Iterator[SqliteDatabase]:
        """Open a temporary copy of the database, to try changes; it is deleted afterwards."""
        with partial_folder() as folder:
            path = folder / self.path.name
            # SQLite's own backup gives a consistent copy while other programs write. A copied file
            # would not.
            with readable_errors(self.path), closing(sqlite3.connect(path)) as target:
                self.connection.backup(target)
            with self.connect(path) as copied:
                yield copied

    def back_up(self, copy: Path) -> None:
        """Write a consistent copy into a file; other programs may write the database meanwhile.

        An existing file is replaced. Raises `StoreError`.
        """
        with readable_errors(self.path):
            back_up(self.connection, copy)

    def wait_for_locks(self, seconds: float) -> None:
        """Set how many seconds to wait for another program's lock."""
        self.connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    def interrupt(self) -> None:
        """Do nothing: a file has no server to wait for."""

    def close(self) -> None:
        """Close the file; it contains every acknowledged change."""
        self.connection.close()

    def tables_of(self) -> list[CatalogTable]:
        """Return the tables of the file."""
        run = self.connection.execute
        with self.explaining():
            names = run(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            ).fetchall()
            return [self._table(name) for (name,) in names]

    def _table(self, name: str) -> CatalogTable:
        rows = self.connection.execute(f"PRAGMA table_info({name})").fetchall()
        parents = self.connection.execute(f"PRAGMA foreign_key_list({name})").fetchall()
        key = sorted((row["pk"], row["name"]) for row in rows if row["pk"])
        known = set(Kind)
        return CatalogTable(
            name,
            {row["name"]: Kind(row["type"] if row["type"] in known else "TEXT") for row in rows},
            [column for _, column in key],
            {row["table"] for row in parents},
        )

    def set_durability(self, durability: Durability) -> None:
        """Set when commits are written to disk; a new connection has `Durability.FAST`."""
        with readable_errors(self.path):
            set_durability(self.connection, durability)

    def leave_checkpoints(self) -> None:
        """Leave checkpoints to the `Keeper`: commits of this connection never write the main file.

        The keeper first checks that the file is still the one that was opened.
        """
        with readable_errors(self.path):
            self.connection.execute("PRAGMA wal_autocheckpoint = 0")

    def begin(self, *, is_lasting: bool = True) -> bool:  # noqa: ARG002  # see set_durability
        """Begin a transaction or a savepoint; see `Database`."""
        if self.lost:
            raise StoreError(self.lost)
        connection = self.connection
        # SQLite has no transactions inside of others, but savepoints, which can be undone alone.
        is_savepoint = self._depth > 0
        if is_savepoint and not connection.in_transaction:
            # SQLite ended the outer transaction by itself (disk full, for instance). Without this
            # check, the rest of the group would be committed without its beginning.
            raise StoreError(f"{self.path}: an earlier failure undid this group of changes")
        # IMMEDIATE takes the write lock now. A transaction that begins with a read could fail
        # later, when it first writes.
        connection.execute("SAVEPOINT inner" if is_savepoint else "BEGIN IMMEDIATE")
        self._depth += 1
        if self.watch is not None and not is_savepoint:
            self._changes, self._is_certain = connection.total_changes, True
            self._begun = self.watch.begun()
        return is_savepoint

    def commit(self, *, is_savepoint: bool) -> None:
        """Store the changes since `begin`; if it raises, call `undo`."""
        # Again: the loss may have been found since `begin`.
        if self.lost:
            raise StoreError(self.lost)
        self.connection.execute("RELEASE SAVEPOINT inner" if is_savepoint else "COMMIT")
        self._depth -= 1
        if not is_savepoint:
            self._over()

    def undo(self, *, is_savepoint: bool) -> None:
        """Undo the changes since `begin`."""
        self._depth -= 1
        # After an undo, total_changes does not show whether SQLite counts the commit as a change.
        self._is_certain = False
        if not is_savepoint:
            self._roll_back()
            self._over()
        elif self.connection.in_transaction:  # SQLite may have ended it by itself: disk full
            self.connection.execute("ROLLBACK TO SAVEPOINT inner")
            # Released as well: ROLLBACK TO undoes the changes and leaves the savepoint open.
            self.connection.execute("RELEASE SAVEPOINT inner")

    def watch_commits(self) -> CommitWatch | None:
        """Start to detect commits of other programs; return None where that is not possible.

        From then on, every write of this connection must be inside `transaction`. The caller closes
        the watch after all connections of this process.
        """
        try:
            self.watch = CommitWatch(CommitCounter(self.path))
        # There is no readable WAL index, for instance on a file system that cannot share memory.
        except (OSError, ValueError):
            self.watch = None
        return self.watch

    def _over(self) -> None:
        if self.watch is not None:
            has_changed = self.connection.total_changes != self._changes
            self.watch.ended(self._begun, has_changed=has_changed, is_certain=self._is_certain)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read from one snapshot of the database, while other programs may write."""
        self.check_lost()
        connection = self.connection
        with readable_errors(self.path):
            # Inside a transaction the reads see its own changes, and a second BEGIN would fail.
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                # Nothing was written, so the end of the snapshot is a rollback.
                self._roll_back()

    def read_texts(self, read: Callable[[], T], bad_text: str) -> T:
        """Read rows; decode texts that are not UTF-8 with the error handler `bad_text`.

        Otherwise one such name would make a whole list unreadable.
        """
        try:
            return read()
        except sqlite3.OperationalError as error:
            if not str(error).startswith(NOT_UTF8):
                raise
        # Only now: this factory is a Python call for each text, and much slower than the usual one.
        connection = self.connection
        usual = connection.text_factory
        connection.text_factory = lambda data: data.decode("utf-8", bad_text)
        try:
            return read()
        finally:
            connection.text_factory = usual

    def explained(self, error: Exception) -> StoreError:
        """Return the `StoreError` for one of `errors`."""
        return explained(self.path, error)

    def _roll_back(self) -> None:
        """Roll back a failed transaction, unless SQLite has already ended it."""
        with suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
