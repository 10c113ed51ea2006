"""Rows of models: path -> number, as imported from EQ2Emulator's table `appearances`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection


def numbers(connection: sqlite3.Connection, paths: Collection[str]) -> dict[str, int]:
    """Return the numbers of those paths that are known; paths are in lower case."""
    rows = connection.execute(
        "SELECT path, number FROM models WHERE path IN (SELECT value FROM json_each(?))",
        (json.dumps([*paths]),),
    )
    return {path: number for path, number in rows}  # noqa: C416  # rows, not pairs


def add(connection: sqlite3.Connection, path: str, number: int) -> bool:
    """Store a model unless its path is known already; True when it is new."""
    added = connection.execute("INSERT OR IGNORE INTO models VALUES (?, ?)", (path, number))
    return added.rowcount == 1
