"""The SQLite tables that opcodes live in: made, brought up to date, and opened.

They may share a file with the tables of `emu.store`, so their schema's number stands in their own
`opcode_meta` and SQLite's ``user_version`` is left alone. Every failure is a `StoreError` of one
line. What the rows mean belongs to `emu.opcodes.store`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from emu.errors import StoreError
from emu.opcodes.rows import OpcodeRow, VersionRange
from emu.resources import data_folder

APPLICATION_ID = 0x65713265
"""SQLite ``application_id`` of this program's files, the letters ``eq2e``."""
LOCK_WAIT = 5.0
"""Seconds to wait for another program's write to end."""
COLUMNS: Mapping[str, type] = {
    "first_version": int, "last_version": int, "name": str, "opcode": int, "source": str,
    "note": str,
}  # fmt: skip
"""Columns of a row in the order of `OpcodeRow`, with the type of their values."""

_KINDS: Mapping[type, str] = {
    bytes: "bytes", str: "text", int: "a whole number", float: "a fraction",
}  # fmt: skip


@cache
def steps() -> tuple[str, ...]:
    """Return the schema's steps in order, each a SQL script."""
    paths = sorted((data_folder() / "sql").glob("opcodes-[0-9][0-9][0-9][0-9].sql"))
    return tuple(path.read_text(encoding="utf-8") for path in paths)


def connect(path: Path, *, create: bool = False, wait: float = LOCK_WAIT) -> sqlite3.Connection:
    """Open a database in autocommit mode; the tables may not be there yet.

    A new file is readable by its owner only: accounts will be in it. The connection may be handed
    to another thread. Raises `StoreError`.
    """
    with readable_errors(path):
        if not path.exists():
            if not create:
                raise StoreError(f"{path}: there is no such database")
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection = sqlite3.connect(
            path, timeout=wait, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = _text_or_bytes
        try:
            _check_owner(connection, path)
            if create:  # a file that is only looked at stays as it is
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
    return connection


def read_rows(
    connection: sqlite3.Connection, version_range: VersionRange | None = None
) -> list[OpcodeRow]:
    """Return all rows, or those of exactly one range, in the order of range and number.

    SQLite keeps any value in any column, so another tool may have left bytes or a word where text
    or a number belongs: a `StoreError` that names row and column and how to put it right.
    """
    where, values = "", ()
    if version_range is not None:
        where, values = " WHERE first_version = ? AND last_version = ?", version_range  # type: ignore[assignment]
    found = connection.execute(
        f"SELECT id, {', '.join(COLUMNS)} FROM opcodes{where}"  # noqa: S608  # no text from outside
        " ORDER BY first_version, last_version, opcode, name",
        values,
    )
    rows = []
    for number, *columns in found:
        for (name, kind), value in zip(COLUMNS.items(), columns, strict=True):
            if not isinstance(value, kind):
                raise StoreError(_wrong_type(number, columns, name, value))
        rows.append(OpcodeRow(*columns))
    return rows


def _wrong_type(number: int, columns: Sequence[Any], name: str, value: object) -> str:
    wanted = "text" if COLUMNS[name] is str else "a whole number"
    held = _KINDS.get(type(value), "nothing")
    first, last, message = columns[:3]
    return (
        f"the table opcodes has a value of a wrong type: row {number} ({message!s:.40} of"
        f" {first}-{last}), column {name} holds {held}, not {wanted}; set it with SQL where"
        f" id = {number}"
    )


def _text_or_bytes(raw: bytes) -> str | bytes:
    """Read a text; one that is not UTF-8 stays bytes, which `read_rows` refuses by its place."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _check_owner(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] not in (0, APPLICATION_ID):
        raise StoreError(f"{path}: is the database of another program; choose another file")


def schema(connection: sqlite3.Connection) -> int:
    """Return the number of the last step that was applied, 0 for none."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'opcode_meta'").fetchone():
        return 0
    row = connection.execute("SELECT value FROM opcode_meta WHERE key = 'schema'").fetchone()
    return int(row[0]) if row else 0


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Apply the steps that are missing; the caller holds the transaction.

    Raises `StoreError` when the tables were written by a newer program.
    """
    present = schema(connection)
    if present > len(steps()):
        raise StoreError(
            f"{path}: its opcode tables were written by a newer version of this program (schema"
            f" {present}, this one knows {len(steps())}); upgrade the program"
        )
    for number, script in enumerate(steps()[present:], present + 1):
        for statement in _statements(script):
            connection.execute(statement)
        connection.execute("REPLACE INTO opcode_meta VALUES ('schema', ?)", (number,))


def _statements(script: str) -> Iterator[str]:
    """Yield a script's statements; sqlite3's own ``executescript`` would commit."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


@contextmanager
def transaction(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Hold the write lock for a block; commit at its end, roll back when it raises."""
    with readable_errors(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


@contextmanager
def readable_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite and the operating system raise into one line for an operator."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {_explain(error)}") from error
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be used ({error.strerror}); check who may write there"
        ) from error


def _explain(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "is locked by another program; try again when that one is done"
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return f"is damaged or not a SQLite database ({error}); put a backup in its place"
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return f"cannot be opened for writing ({error}); check who may write there"
    if code == sqlite3.SQLITE_FULL:
        return "the disk is full; make room"
    return str(error)
