"""The database file under a running server: written to disk in time, and recognised.

SQLite answers a commit when it is in the log (``NAME-wal``), in the operating system's hands. A
`Keeper` writes the log to disk and copies it into the main file (a checkpoint), so that a power cut
takes back no more than what was committed since. It also finds out that the main file is no longer
the one that was opened: deleted, replaced by another, or overwritten by a copy. SQLite itself
notices none of that, and its next checkpoint would mix the two.

To recognise content, each checkpoint first counts up a mark in the database. The main file is then
read without its log (``immutable``): an older mark, or another server's, is not what was written.
Holds no thread and no clock; whoever has it calls it outside of the reactor's thread.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple

from emu.database.commits import CommitWatch
from emu.database.files import LOCK_WAIT, MARK_TABLE, back_up, connect_database, readable_errors
from emu.database.served import FileKey, Loss, file_key, log_files
from emu.errors import StoreError, StoreLocked
from emu.partial import flush

DOUBTS: Final = 2
"""Looks in a row at a main file whose mark is wrong, before it counts as overwritten.

A copy in the middle of its work, or another program's checkpoint, may look like that for a moment.
"""
NOT_OURS: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""What SQLite says of a file that is no database, or has no such table."""
READ_MARK: Final = f"SELECT run, turn FROM {MARK_TABLE} WHERE id = 1"  # noqa: S608  # our own name

WRITE_MARK: Final = f"REPLACE INTO {MARK_TABLE} VALUES (1, ?, ?)"  # noqa: S608  # the same


class _Mark(NamedTuple):
    run: str
    turn: int


class Keeper:
    """One database file that a server uses; `begin`, then `check` and `checkpoint`, then `close`.

    Everything but `path` belongs to one thread at a time. Raises `StoreError`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = 0
        """How many times the main file got all that was committed."""
        self.watch: CommitWatch | None = None
        """Tells the server's own commits from those of others; the mark is one of its own."""
        self._connection: sqlite3.Connection | None = None
        self._file: FileKey = (0, 0)
        self._log: FileKey | None = None
        self._mark = _Mark(secrets.token_hex(8), 0)
        self._written = 0
        """The turn that the main file has at least."""
        self._state: tuple[int, ...] | None = None
        """The main file's state when its mark was right; it is read again when that changes."""
        self._version = -1
        """SQLite's ``data_version``, which changes with every commit of another connection."""
        self._is_behind = True
        """Whether the main file lacks something that was committed."""
        self._doubts = 0
        self.loss: Loss | None = None

    def begin(self) -> FileKey:
        """Open the file, which has the store's tables; mark it; return what it is known by."""
        connection = connect_database(self.path, wait=LOCK_WAIT)
        self._connection = connection
        with readable_errors(self.path):
            # Whoever writes must not do it on the way: the mark has to be looked at first.
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute(WRITE_MARK, self._mark)
            self._file = file_key(self.path) or self._file
            self._log = file_key(log_files(self.path)[0])
        self._write_out()
        return self._file

    def check(self) -> Loss | None:
        """Look whether the file is still ours; cheap while nothing has changed."""
        if self.loss is None:
            with readable_errors(self.path):
                self.loss = self._look()
        return self.loss

    def checkpoint(self) -> Loss | None:
        """Write what was committed to disk, the log first; nothing when the file is not ours.

        A program that reads an old state for long keeps the main file behind, but not the log.
        """
        if self.check() is not None or self._doubts:
            return self.loss
        with readable_errors(self.path):
            if self._committed() or self._is_behind:
                self._write_out()
        return None

    def rescue(self, copy: Path) -> None:
        """Write what the server had into a file: a deleted file lives while somebody has it open.

        There is no such copy of an overwritten file.
        """
        back_up(self._use(), copy)

    def abandon(self) -> None:
        """Keep the log of the lost file from being read together with what is there now.

        Also when the connections to it are closed: SQLite would copy the log into the main file
        then, which it cannot do with an empty one.
        """
        for log in log_files(self.path):
            with suppress(OSError):
                if log.name.endswith("-wal"):
                    if file_key(log) != self._log:
                        return  # another program's: it works on the new file already
                    os.truncate(log, 0)
                log.unlink()

    def close(self) -> None:
        """Close the file; SQLite writes out the log when nobody else has it open."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _use(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self.path}: is not open")
        return self._connection

    def _look(self) -> Loss | None:
        present = file_key(self.path)
        if present is None:
            return Loss.DELETED
        if present != self._file:
            return Loss.REPLACED
        try:
            if self._committed() and self._read(self._use()) != self._mark:
                self._log = None  # another program has put other content in, by way of the log
                return Loss.OVERWRITTEN
            state = self._main_state()
            if state == self._state and not self._doubts:
                return None
            if self._is_marked():
                self._state, self._doubts = state, 0
                return None
        except sqlite3.Error as error:
            if _code(error) not in NOT_OURS:
                raise  # a disk that cannot be read says nothing about the content
        self._doubts += 1
        return Loss.OVERWRITTEN if self._doubts >= DOUBTS else None

    def _committed(self) -> bool:
        """Say whether others have committed anything since the last time, and remember it."""
        version = int(self._use().execute("PRAGMA data_version").fetchone()[0])
        if version != self._version:
            self._version = version
            self._is_behind = True
            return True
        return False

    def _write_out(self) -> None:
        """Count the mark up, write the log to disk, and copy it into the main file."""
        connection = self._use()
        turn = self._count_up(connection)
        log = log_files(self.path)[0]
        if log.exists():
            # SQLite does that as well, but not while a reader keeps it from copying anything.
            flush(log)
        busy, frames, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._state = self._main_state()
        if not busy and frames == copied:
            self._written = turn
            # What was committed in between is in the main file, or makes another version.
            self._is_behind = False
            self.checkpoints += 1

    def _count_up(self, connection: sqlite3.Connection) -> int:
        turn = self._mark.turn + 1
        with suppress(StoreLocked), readable_errors(self.path):
            connection.execute("BEGIN IMMEDIATE")
            begun = 0 if self.watch is None else self.watch.begun()
            try:
                connection.execute(WRITE_MARK, (self._mark.run, turn))
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            finally:
                if self.watch is not None:
                    self.watch.ended(begun, has_changed=True)
            self._mark = self._mark._replace(turn=turn)
        return self._mark.turn

    def _main_state(self) -> tuple[int, ...]:
        status = self.path.stat()
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def _is_marked(self) -> bool:
        """Read the main file without its log, and compare the mark with what was written."""
        name = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(name, uri=True)) as main:
            mark = self._read(main)
        return mark.run == self._mark.run and mark.turn >= self._written

    @staticmethod
    def _read(connection: sqlite3.Connection) -> _Mark:
        row = connection.execute(READ_MARK).fetchone()
        return _Mark("", 0) if row is None else _Mark(str(row[0]), int(row[1]))


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF
