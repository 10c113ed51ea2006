"""Watches the opcode rows of a database, and returns the new tables after a valid change.

A running server calls `OpcodeWatcher.poll` about once per second. As long as the opcode rows stay,
a call costs two reads of one page. After a change all rows are read and checked, which takes long
for a large table. So the server calls `poll` in a worker thread, never in two at once.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from emu.database import Database, readable_errors
from emu.errors import EmuError, StoreError
from emu.opcodes.checks import check, errors
from emu.opcodes.store import connect, read_stored_rows
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
        the new file with the log of the old one. `emu.database.keeper` handles that case.
        """
        self.path = path
        self._follows = follows
        self._first: tuple[int, int] | None = None
        self.tables: OpcodeTables | None = None
        self.problem: str | None = None
        self._database: Database | None = None
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
            self._forget()
            return None

    def close(self) -> None:
        """Close the file."""
        self._forget()

    def _poll(self) -> OpcodeTables | None:
        database = self._open()
        connection = database.connection
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        if version == self._data_version:
            return None
        # One read transaction: mark and rows belong to the same commit.
        with database.reading():
            mark = _mark(connection)
            rows = None if mark == self._mark else self._rows(connection)
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
        wrong = errors(
            check(rows, used={row.name for row in shipped_rows()}, shipped=shipped_tables())
        )
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

    def _open(self) -> Database:
        """Return the open database; open it again if the file was replaced."""
        status = self.path.stat() if self.path.exists() else None
        file = None if status is None else (status.st_dev, status.st_ino)
        if file is None:
            raise StoreError(f"{self.path}: there is no such database")
        if self._first not in (None, file):
            raise StoreError(f"{self.path}: the file was replaced; restart the server")
        if self._database is None or file != self._file:
            self._forget()
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
    if triggers >= 4:
        return schema, last
    total = connection.execute(
        "SELECT count(*), coalesce(sum(id * 31 + first_version * 7 + last_version * 3"
        " + opcode * 101 + length(name)), 0) FROM opcodes"
    ).fetchone()
    return schema, last, *total
