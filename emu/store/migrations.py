"""The numbered steps that bring a database's schema up to date.

Owns the order of the steps under ``data/sql/store`` and what it means to apply one; opening and
creating files is `emu.store.database`. The number of the last step applied stands in SQLite's
``user_version``. Tables that are not of these steps (the opcode tables) are never touched.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from emu.resources import data_file

APPLICATION_ID = 0x65713265
"""SQLite ``application_id`` of our files, the letters ``eq2e``."""

_FILE_NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.sql")


@dataclass(frozen=True, slots=True)
class Step:
    """One migration: after it the schema has this `number`."""

    number: int
    name: str
    sql: str


@cache
def shipped_steps() -> tuple[Step, ...]:
    """Return all steps in order; the last one's number is this program's schema version."""
    return read_steps(data_file("sql", "store"))


def read_steps(folder: Path) -> tuple[Step, ...]:
    """Read the steps ``NNNN-name.sql`` of a folder; they must be numbered 1, 2, 3 ..."""
    steps: list[Step] = []
    for path in sorted(folder.glob("*.sql")):
        match = _FILE_NAME.fullmatch(path.name)
        if match is None or int(match[1]) != len(steps) + 1:
            raise ValueError(f"{path}: expected a name that starts with {len(steps) + 1:04d}-")
        steps.append(Step(int(match[1]), path.stem, path.read_text(encoding="utf-8")))
    return tuple(steps)


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the number of the last step applied, 0 for none."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, steps: Sequence[Step]) -> list[int]:
    """Apply the steps that are missing, each in its own transaction; return their numbers.

    The connection must be in autocommit mode. Another process that migrates at the same time does
    no harm: the version is read again under the write lock. Raises `sqlite3.Error`; the schema is
    then that of the last step that went through.
    """
    applied = []
    for step in steps:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if schema_version(connection) < step.number:
                for statement in split_statements(step.sql):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {step.number}")
                applied.append(step.number)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    return applied


def split_statements(sql: str) -> Iterator[str]:
    """Yield the statements of a script one by one.

    Python's ``executescript`` commits on its own, which would tear a step apart.
    """
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending.strip()
            pending = ""
    if any(line.strip() and not line.lstrip().startswith("--") for line in pending.splitlines()):
        raise ValueError(f"a statement does not end: {pending.strip()[:60]}")
