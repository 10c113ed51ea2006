"""A database as the first released schema had it: rows in every table, and opcodes beside them."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

DUMP = Path(__file__).parents[2] / "vectors" / "released-store.sql"
SCHEMA = 5
"""The number of that schema."""


def released_database(path: Path) -> Path:
    """Make the file, as that program had left it when it was stopped."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(DUMP.read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode = WAL")
    return path
