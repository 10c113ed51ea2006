"""Numbered migrations, which bring a schema up to date.

This module applies migrations; `emu.database.sqlite.files` opens and creates files. Several schemas
may share a file, each with its own version number. A schema changes only its own tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emu.database.steps import Migration
from emu.errors import StoreError

APPLICATION_ID: Final = 0x65713265
"""SQLite ``application_id`` of the server's files: the letters ``eq2e``."""


@dataclass(frozen=True, slots=True)
class Schema:
    """Migrations in order, and the place where a file stores the number of the last one applied."""

    steps: Sequence[Migration]
    version: Callable[[sqlite3.Connection], int]
    """Returns the number, 0 for none."""
    set_version: Callable[[sqlite3.Connection, int], object]

    @property
    def newest(self) -> int:
        """The number of the last step: this program's version of the schema."""
        return self.steps[-1].number

    def is_behind(self, connection: sqlite3.Connection) -> bool:
        """Return whether a database lacks migrations."""
        return self.version(connection) < self.newest

    def check(self, connection: sqlite3.Connection, path: Path) -> None:
        """Raise `StoreError` if a newer program wrote the tables."""
        version = self.version(connection)
        if version > self.newest:
            raise StoreError(
                f"{path}: was written by a newer version of this program (schema {version}, this"
                f" one knows {self.newest}); upgrade the program, or choose another file"
            )


def in_user_version(steps: Sequence[Migration]) -> Schema:
    """Return a file's main schema, whose number is SQLite's ``user_version``."""

    def version(connection: sqlite3.Connection) -> int:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])

    def set_version(connection: sqlite3.Connection, number: int) -> None:
        # Set in the same transaction, so a file with tables always has its owner.
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {number}")

    return Schema(steps, version, set_version)


def migrate(connection: sqlite3.Connection, schema: Schema) -> list[int]:
    """Apply all missing migrations or none, and return their numbers.

    The connection must be in autocommit mode. Two processes may migrate at the same time, because
    the version is read under the write lock. Raises `sqlite3.Error`.
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
    """Do what `migrate` does, inside the caller's transaction."""
    # Under the write lock: another process may have migrated since the caller looked.
    present = schema.version(connection)
    missing = [step for step in schema.steps if step.number > present]
    for step in missing:
        for statement in split_statements(step.sql):
            connection.execute(statement)
        # After each step and in the same transaction, so a file is never between two versions.
        schema.set_version(connection, step.number)
    return [step.number for step in missing]


def split_statements(sql: str) -> Iterator[str]:
    """Yield the statements of a script one by one.

    ``executescript`` of Python commits first, so a failed migration would be half applied.
    """
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        # SQLite itself decides where a statement ends: a trigger has semicolons inside.
        if sqlite3.complete_statement(pending):
            yield pending.strip()
            pending = ""
    # Comments after the last statement are no statement.
    if any(line.strip() and not line.lstrip().startswith("--") for line in pending.splitlines()):
        raise ValueError(f"a statement does not end: {pending.strip()[:60]}")
