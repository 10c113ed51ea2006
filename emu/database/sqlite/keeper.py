"""Checkpoints of the database file of a running server, and detection of its loss.

SQLite acknowledges a commit when it is in the log (``NAME-wal``), in the operating system's hands.
A `Keeper` regularly flushes the log to disk and copies it into the main file (a checkpoint), so
that a power cut loses only the commits since then. It also detects that the main file was deleted,
replaced by another file, or overwritten by a copy. SQLite notices none of this, and its next
checkpoint would mix the old log with the new file.

Each checkpoint first increments a mark in the database. The check reads the main file without its
log (``immutable``). An older mark, or the mark of another server, means that the content is not
what this server wrote. The module has no thread and no clock: the caller calls it outside of the
reactor's thread.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple

from emu.database.sqlite.commits import CommitWatch
from emu.database.sqlite.files import (
    LOCK_WAIT,
    MARK_TABLE,
    back_up,
    connect_database,
    readable_errors,
)
from emu.database.sqlite.served import FileKey, Loss, file_key, log_files
from emu.errors import StoreError, StoreLocked
from emu.system import flush

DOUBTS: Final = 2
"""Checks in a row with a wrong mark, before the main file counts as overwritten.

A checkpoint of another program, or an unfinished copy, causes a wrong mark for a moment.
"""
NOT_OURS: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""SQLite's error codes for a file that is not a database, or that lacks the mark's table."""
READ_MARK: Final = f"SELECT run, turn FROM {MARK_TABLE} WHERE id = 1"  # noqa: S608  # our own name

WRITE_MARK: Final = f"REPLACE INTO {MARK_TABLE} VALUES (1, ?, ?)"  # noqa: S608  # the same


class _Mark(NamedTuple):
    run: str
    turn: int


class Keeper:
    """The database file of a server: `begin`, then `check` and `checkpoint`, then `close`.

    All but `path` is for one thread at a time. Raises `StoreError`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = 0
        """Completed checkpoints: the main file then had every commit."""
        self.watch: CommitWatch | None = None
        """Detects other programs' commits; the keeper reports the mark to it as our own commit."""
        self._connection: sqlite3.Connection | None = None
        self._file: FileKey = (0, 0)
        self._log: FileKey | None = None
        self._mark = _Mark(secrets.token_hex(8), 0)
        self._written = 0
        """Turn of the mark at the last complete checkpoint: the main file has at least this one."""
        self._state: tuple[int, ...] | None = None
        """Size and times of the main file when its mark was right."""
        self._version = -1
        """SQLite's ``data_version``, which changes with every commit of another connection."""
        self._is_behind = True
        """The main file lacks a commit."""
        self._doubts = 0
        self._is_half_written = False
        """The last checkpoint has failed: a part of it may be in the main file."""
        self.loss: Loss | None = None

    def begin(self) -> FileKey:
        """Open and mark the file, which has the store's tables; return its device and inode."""
        # A connection of its own: the checks must not wait for the store's transactions.
        connection = connect_database(self.path, wait=LOCK_WAIT)
        self._connection = connection
        with readable_errors(self.path):
            # An automatic checkpoint would write the main file without a check of its mark.
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute(WRITE_MARK, self._mark)
            self._file = file_key(self.path) or self._file
            self._log = file_key(log_files(self.path)[0])
        self._write_out()
        return self._file

    def check(self) -> Loss | None:
        """Return how the file was lost, or None; cheap while nothing has changed."""
        if self.loss is None:
            with readable_errors(self.path):
                self.loss = self._find_loss()
        return self.loss

    def checkpoint(self) -> Loss | None:
        """Flush the log to disk, then copy it into the main file; do nothing if the file is lost.

        A program that reads an old state for long delays the main file, but not the log.
        """
        # While there is a doubt, a checkpoint could write the log into a foreign file.
        if self.check() is not None or self._doubts:
            return self.loss
        with readable_errors(self.path):
            if self._committed() or self._is_behind:
                self._write_out()
        return None

    def rescue(self, copy: Path) -> None:
        """Copy the lost database into a file; a deleted file exists while it is open.

        This is not possible for an overwritten file.
        """
        back_up(self._use(), copy)

    def abandon(self) -> None:
        """Remove the log of the lost file, so that no program reads it with the new file.

        The log is emptied first: when the last connection closes, SQLite would otherwise copy it
        into the new main file.
        """
        for log in log_files(self.path):
            with suppress(OSError):
                if log.name.endswith("-wal"):
                    # The log may belong to a program that opened the new file meanwhile; its
                    # changes must survive.
                    if file_key(log) != self._log:
                        return  # the log of another program, which already uses the new file
                    # Truncated before it is unlinked: our open connections would still copy its
                    # frames.
                    os.truncate(log, 0)
                log.unlink()

    def close(self) -> None:
        """Close the file; SQLite makes a checkpoint if no other program has it open."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _use(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self.path}: is not open")
        return self._connection

    def _find_loss(self) -> Loss | None:
        # Cheapest first: a stat call finds a deleted or replaced file; only a commit of another
        # connection or a changed main file needs a read.
        present = file_key(self.path)
        if present is None:
            return Loss.DELETED
        # A file that was moved to this name has another inode.
        if present != self._file:
            return Loss.REPLACED
        try:
            if self._committed() and self._read(self._use()) != self._mark:
                self._log = None  # another program wrote other content through the log
                return Loss.OVERWRITTEN
            state = self._main_state()
            # An unchanged main file was right at the last check. After a checkpoint that has
            # failed, its content proves nothing until the next one has completed it: the log, which
            # has all of it, must not be abandoned.
            if self._is_half_written or (state == self._state and not self._doubts):
                return None
            if self._is_marked():
                self._state, self._doubts = state, 0
                return None
        except sqlite3.Error as error:
            if _code(error) not in NOT_OURS:
                raise  # an unreadable disk says nothing about the content
        # One wrong reading may be a checkpoint of another program in progress; a second one is not.
        self._doubts += 1
        return Loss.OVERWRITTEN if self._doubts >= DOUBTS else None

    def _committed(self) -> bool:
        """Return whether another connection has committed since the last call."""
        version = int(self._use().execute("PRAGMA data_version").fetchone()[0])
        if version != self._version:
            self._version = version
            self._is_behind = True
            return True
        return False

    def _write_out(self) -> None:
        """Increment the mark, flush the log to disk, and copy it into the main file."""
        connection = self._use()
        # First the mark: once the main file has this turn, it also has every commit before it.
        turn = self._count_up(connection)
        log = log_files(self.path)[0]
        if log.exists():
            # SQLite also flushes it, but only if no reader prevents the copy.
            flush(log)
        self._is_half_written = True
        busy, frames, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._is_half_written = False
        self._state = self._main_state()
        # A reader with an old snapshot stops the copy partway. The rest follows with a later
        # checkpoint.
        if not busy and frames == copied:
            self._written = turn
            # A commit after _count_up is in the main file, or changes data_version.
            self._is_behind = False
            self.checkpoints += 1

    def _count_up(self, connection: sqlite3.Connection) -> int:
        turn = self._mark.turn + 1
        # While another program holds the lock, the old mark is still right: check again later.
        with suppress(StoreLocked), readable_errors(self.path):
            connection.execute("BEGIN IMMEDIATE")
            begun = 0 if self.watch is None else self.watch.begun()
            try:
                connection.execute(WRITE_MARK, (self._mark.run, turn))
                connection.execute("COMMIT")
            # BaseException: a transaction that stays open would block every other writer.
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            finally:
                if self.watch is not None:
                    self.watch.ended(begun, has_changed=True)
            # Only after the commit: otherwise the next check would miss a mark that was never
            # written.
            self._mark = self._mark._replace(turn=turn)
        return self._mark.turn

    def _main_state(self) -> tuple[int, ...]:
        # The time of the last change of the inode (ctime) as well: a copy tool may restore the
        # other one (mtime).
        status = self.path.stat()
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def _is_marked(self) -> bool:
        """Return whether the main file, read without its log, has the mark that was written."""
        # `immutable` makes SQLite ignore the log and all locks: it reads only the main file.
        name = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(name, uri=True)) as main:
            mark = self._read(main)
        # A checkpoint that a reader stopped partway may have copied a newer mark.
        return mark.run == self._mark.run and mark.turn >= self._written

    @staticmethod
    def _read(connection: sqlite3.Connection) -> _Mark:
        row = connection.execute(READ_MARK).fetchone()
        return _Mark("", 0) if row is None else _Mark(str(row[0]), int(row[1]))


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF
