"""The opcode tables in force: from the database, and again whenever an operator has edited them.

`OpcodeWatcher` reads the opcode rows and returns the new tables after a valid change. It is called
once a second, in a worker thread, never in two at once. As long as the opcode rows stay, a call
costs two reads of one page. After a change all rows are read and checked, which takes long for a
large table. Sessions keep the table they have; a broken edit is refused, with the reason in the
log, and the tables before it stay in force.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from emu.database.sqlite import SqliteDatabase, readable_errors
from emu.errors import EmuError, StoreError
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.opcodes import OpcodeStore
from emu.opcodes.checks import check, errors
from emu.opcodes.store import TRIGGERS, are_as_shipped, connect, read_stored_rows
from emu.opcodes.table import OpcodeRow, OpcodeTables
from emu.opcodes.text import shipped_rows, shipped_tables

MAX_PROBLEMS = 3
"""Findings in `OpcodeWatcher.problem`."""

Mark = tuple[int, ...]


class OpcodeWatcher:
    """Watches the opcode tables of one database file.

    `tables` is the newest valid snapshot, None before the first. `problem` is one line that says
    why the present rows are not in use, None if they are.
    """

    def __init__(self, path: Path, *, follows: bool = True) -> None:
        """Watch a file. With `follows`, also watch a file that replaces it.

        Do not set `follows` if this process has other connections to the file: SQLite would read
        the new file with the log of the old one. `emu.database.sqlite.keeper` handles that case.
        """
        self.path = path
        self._follows = follows
        self._first: tuple[int, int] | None = None
        self.tables: OpcodeTables | None = None
        self.problem: str | None = None
        self._database: SqliteDatabase | None = None
        self._file: tuple[int, int] | None = None
        self._data_version: int | None = None
        self._mark: Mark | None = None

    def poll(self) -> OpcodeTables | None:
        """Return new tables if valid rows were committed since the last call, otherwise None.

        The first call reads the present rows. A broken edit, and a locked or missing file, set
        `problem` and leave the tables in use. An invalid change is checked once, and again after
        the next commit.
        """
        try:
            with readable_errors(self.path):
                return self._poll()
        except EmuError as error:
            self.problem = str(error)
            # The next call opens the file again and reads everything: the fault may be in the
            # connection.
            self._forget()
            return None

    def close(self) -> None:
        """Close the file."""
        self._forget()

    def _poll(self) -> OpcodeTables | None:
        database = self._open()
        connection = database.connection
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        # SQLite changes this number with every commit of another connection.
        if version == self._data_version:
            return None
        # One read transaction: mark and rows belong to the same commit.
        with database.reading():
            mark = _mark(connection)
            if mark == self._mark:
                rows = None
            elif are_as_shipped(connection):
                rows = list(shipped_rows())
            else:
                rows = self._rows(connection)
        # Set after the reading: a call that raised is repeated.
        self._data_version = version
        self._mark = mark
        return None if rows is None else self._take(rows)

    def _rows(self, connection: sqlite3.Connection) -> list[OpcodeRow] | None:
        """Return the rows; None, with `problem` set, if a value has the wrong type."""
        try:
            return read_stored_rows(connection)
        except StoreError as error:
            self.problem = f"{self.path}: {error}"
            return None

    def _take(self, rows: list[OpcodeRow]) -> OpcodeTables | None:
        """Check rows; return them as tables, or set `problem` and return None."""
        if tuple(rows) == shipped_rows():
            # The usual case: nobody has edited them. They are sound, and in memory already.
            self.problem = None
            self.tables = shipped_tables()
            return self.tables
        wrong = errors(check(rows, shipped=shipped_tables()))
        if wrong:
            shown = [f"{one.range} {one.message}".strip() for one in wrong[:MAX_PROBLEMS]]
            more = len(wrong) - len(shown)
            self.problem = (
                f"{self.path}: the opcode tables are not used: {'; '.join(shown)}"
                + (f"; and {more} more" if more else "")
                + " (see `emu opcodes check`, and `emu opcodes undo`)"
            )
            return None
        self.problem = None
        self.tables = OpcodeTables(rows)
        return self.tables

    def _open(self) -> SqliteDatabase:
        """Return the open database; open it again if the file was replaced."""
        status = self.path.stat() if self.path.exists() else None
        file = None if status is None else (status.st_dev, status.st_ino)
        if file is None:
            raise StoreError(f"{self.path}: there is no such database")
        if self._first not in (None, file):
            raise StoreError(f"{self.path}: the file was replaced; restart the server")
        if self._database is None or file != self._file:
            self._forget()
            # A locked file is tried again at the next call; a wait would delay other calls of this
            # thread.
            self._database = connect(self.path, wait=0.0)
            self._file = file
            if not self._follows:
                self._first = file
        return self._database

    def _forget(self) -> None:
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
        self._database = None
        self._data_version = self._file = self._mark = None


def _mark(connection: sqlite3.Connection) -> Mark:
    """Return numbers that change with every edit of the rows."""
    # Triggers write the history, so it has edits by any tool. But a tool that rebuilds the table
    # drops the triggers. Without them, a sum over the rows has to show the change.
    schema = connection.execute("PRAGMA schema_version").fetchone()[0]
    triggers = connection.execute(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'opcodes'"
    ).fetchone()[0]
    last = connection.execute("SELECT coalesce(max(id), 0) FROM opcode_history").fetchone()[0]
    if triggers >= TRIGGERS:
        return schema, last
    total = connection.execute(
        "SELECT count(*), coalesce(sum(id * 31 + first_version * 7 + last_version * 3"
        " + opcode * 101 + length(name)), 0) FROM opcodes"
    ).fetchone()
    return schema, last, *total


INTERVAL = 1.0
MOST_CHANGES = 50
"""The most edits that a page shows."""

Run = Callable[[Callable[[], Any]], Deferred[Any]]
"""Carries calls out in one other thread, in the order they came."""

_log = logger("opcodes")


class OpcodeSource:
    """Holds the present tables; `start` begins to look for edits."""

    def __init__(self, path: Path, scheduler: Scheduler, run: Run) -> None:
        """Load the tables, the shipped ones first into a database that has none.

        `run` carries a call out in a thread, one after the other, and answers in the reactor's.
        Raises `StoreError` when the database cannot be used.
        """
        OpcodeStore.ensure(path).close()
        self._watcher = OpcodeWatcher(path, follows=False)
        tables = self._watcher.poll()
        if tables is None:
            self._watcher.close()
            raise StoreError(
                f"{path}: the opcode tables cannot be used: {self._watcher.problem}; "
                "see `emu opcodes check`"
            )
        self._tables = tables
        self._logged: str | None = None
        self._run = run
        self._asked = False
        self._is_lost = False
        self._scheduler = scheduler
        self._looking: DelayedCall | None = None

    def lose(self) -> None:
        """Look no more: another file may have the database's name. In any thread."""
        self._is_lost = True

    def tables(self) -> OpcodeTables:
        """Return the tables that new sessions use."""
        return self._tables

    def start(self) -> None:
        """Look for edits from now on."""
        self._looking = self._scheduler.every(INTERVAL, self.look)

    async def stop(self) -> None:
        """Look no more and let go of the file."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        await self._run(self._watcher.close)

    def look(self) -> None:
        """Look for edits now; what is found counts a moment later."""
        if not self._asked and not self._is_lost:  # the last read may take longer than a second
            self._asked = True
            self._run(self._watcher.poll).addCallbacks(self._seen, self._not_seen)

    async def reread(self) -> str:
        """Look for edits and say what came of it. Raises `StoreError` when one is refused."""
        fresh = await self._run(self._watcher.poll)
        self._take(fresh)
        if self._watcher.problem is not None:
            raise StoreError(self._watcher.problem)
        return "nothing was edited" if fresh is None else "new sessions use the edited tables"

    def _seen(self, fresh: OpcodeTables | None) -> None:
        self._asked = False
        self._take(fresh)

    def _not_seen(self, failure: Failure) -> None:
        """Note that a read failed; the next one is made all the same."""
        self._asked = False
        _log.failure("looking for edits of the opcode tables failed", failure)

    def _take(self, fresh: OpcodeTables | None) -> None:
        if fresh is not None:
            self._tables = fresh
            _log.info("the opcode tables were edited; new sessions use them")
        problem = self._watcher.problem
        # The watcher reports the same problem every second; one line is enough.
        if problem != self._logged:
            self._logged = problem
            if problem is not None:
                _log.error("an edit of the opcode tables is refused: {reason}", reason=problem)


def last_changes(path: Path) -> list[dict[str, Any]]:
    """Return the newest edits of the tables, for a page; those that came with the program are none.

    Raises `StoreError`.
    """
    with OpcodeStore.open_to_read(path) as store:
        return [
            {
                "time": entry.at,
                "who": entry.who,
                "action": entry.action,
                "what": f"{entry.action} {entry.row.name} of {entry.row.range}",
            }
            for entry in store.history(limit=MOST_CHANGES)
            if entry.action != "shipped"
        ]
