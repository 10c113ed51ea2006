"""The numbered steps that bring a schema up to date.

Owns the order of steps and what it means to apply them; opening and creating files is
`emu.database.files`. Several schemas may share a file, each with a number of its own: what is not
of a schema's steps is never touched by it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emu.errors import StoreError

APPLICATION_ID: Final = 0x65713265
"""SQLite ``application_id`` of our files, the letters ``eq2e``."""

_FILE_NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One migration: after it the schema has this `number`."""

    number: int
    name: str
    sql: str


@dataclass(frozen=True, slots=True)
class Schema:
    """Steps in order, and where the number of the last one applied stands."""

    steps: Sequence[Migration]
    version: Callable[[sqlite3.Connection], int]
    """Returns the number, 0 for none."""
    set_version: Callable[[sqlite3.Connection, int], object]

    @property
    def newest(self) -> int:
        """The number of the last step: this program's version of the schema."""
        return self.steps[-1].number

    def is_behind(self, connection: sqlite3.Connection) -> bool:
        """Say whether steps are missing in a database."""
        return self.version(connection) < self.newest

    def check(self, connection: sqlite3.Connection, path: Path) -> None:
        """Raise `StoreError` for tables that a newer program wrote."""
        version = self.version(connection)
        if version > self.newest:
            raise StoreError(
                f"{path}: was written by a newer version of this program (schema {version}, this"
                f" one knows {self.newest}); upgrade the program, or choose another file"
            )


def in_user_version(steps: Sequence[Migration]) -> Schema:
    """Return the schema that a file is known by: its number stands in SQLite's ``user_version``."""

    def version(connection: sqlite3.Connection) -> int:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])

    def set_version(connection: sqlite3.Connection, number: int) -> None:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {number}")

    return Schema(steps, version, set_version)


def read_steps(folder: Path) -> tuple[Migration, ...]:
    """Read the steps ``NNNN-name.sql`` of a folder; they must be numbered 1, 2, 3 ..."""
    steps: list[Migration] = []
    for path in sorted(folder.glob("*.sql")):
        match = _FILE_NAME.fullmatch(path.name)
        if match is None or int(match[1]) != len(steps) + 1:
            raise ValueError(f"{path}: expected a name that starts with {len(steps) + 1:04d}-")
        steps.append(Migration(int(match[1]), path.stem, path.read_text(encoding="utf-8")))
    return tuple(steps)


def migrate(connection: sqlite3.Connection, schema: Schema) -> list[int]:
    """Apply the steps that are missing, all of them or none, and return their numbers.

    The connection must be in autocommit mode. Another process that migrates at the same time does
    no harm: the version is read under the write lock. Raises `sqlite3.Error`.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        applied = apply_missing(connection, schema)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return applied


def apply_missing(connection: sqlite3.Connection, schema: Schema) -> list[int]:
    """Do what `migrate` does inside a transaction that the caller holds."""
    present = schema.version(connection)
    missing = [step for step in schema.steps if step.number > present]
    for step in missing:
        for statement in split_statements(step.sql):
            connection.execute(statement)
        schema.set_version(connection, step.number)
    return [step.number for step in missing]


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
