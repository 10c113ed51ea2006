"""The SQLite tables that opcodes live in, and how their rows are read.

They may share a file with the tables of `emu.store`, so the number of their schema stands in their
own `opcode_meta`. What the rows mean belongs to `emu.opcodes.stored.store`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from emu.database import LOCK_WAIT, Database, Schema, read_steps
from emu.errors import StoreError
from emu.opcodes.rows import OpcodeRow, VersionRange
from emu.resources import data_file

COLUMNS: Mapping[str, type] = {
    "first_version": int, "last_version": int, "name": str, "opcode": int, "source": str,
    "note": str,
}  # fmt: skip
"""Columns of a row in the order of `OpcodeRow`, with the type of their values."""
KEY = ("first_version", "last_version", "name")
"""Columns that no two rows share."""

_KINDS: Mapping[type, str] = {
    bytes: "bytes", str: "text", int: "a whole number", float: "a fraction",
}  # fmt: skip


@cache
def schema() -> Schema:
    """Return the schema of the opcode tables."""
    return Schema(read_steps(data_file("sql", "opcodes")), _version, _set_version)


def _version(connection: sqlite3.Connection) -> int:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'opcode_meta'").fetchone():
        return 0
    row = connection.execute("SELECT value FROM opcode_meta WHERE key = 'schema'").fetchone()
    return int(row[0]) if row else 0


def _set_version(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("REPLACE INTO opcode_meta VALUES ('schema', ?)", (number,))


def connect(path: Path, *, wait: float = LOCK_WAIT) -> Database:
    """Open an existing file; the tables may not be there yet. Raises `StoreError`."""
    database = Database.connect(path, wait=wait)
    database.connection.text_factory = _text_or_bytes
    return database


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
        f"SELECT rowid, {', '.join(COLUMNS)} FROM opcodes{where}"  # noqa: S608  # no text from outside
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
