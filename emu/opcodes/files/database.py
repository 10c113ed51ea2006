"""Opcode rows as an SQLite database: for questions in SQL, and from one server to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import sqlite_utils

from emu.database import readable_errors
from emu.opcodes.rows import OpcodeRow
from emu.opcodes.stored.database import COLUMNS, KEY, connect, read_rows

HEAD = b"SQLite format 3\0"
"""How every such file begins."""


def write_database(rows: Iterable[OpcodeRow], path: Path) -> None:
    """Put rows into the table `opcodes` of a fresh file. Raises `StoreError`."""
    with readable_errors(path), closing(sqlite_utils.Database(path)) as database:
        table = database.table("opcodes")
        table.create(dict(COLUMNS), pk=KEY, not_null=COLUMNS)
        table.create_index(["name"])
        table.insert_all([tuple(COLUMNS), *(row.cells for row in rows)])


def read_database(path: Path) -> Iterator[tuple[str, OpcodeRow]]:
    """Yield the rows of such a file, or of a server's database, with their range as their place.

    Raises `StoreError` when it has no opcode tables.
    """
    with connect(path) as database, readable_errors(path):
        for row in read_rows(database.connection):
            yield f"{row.range}", row
