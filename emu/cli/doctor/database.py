"""The database: whether it is whole, of this program's schema, and has room to grow."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from emu.cli.doctor.findings import Finding, Level, fail, ok, warn
from emu.database import Database, check_version, readable_errors
from emu.database.served import served_problem
from emu.errors import EmuError
from emu.store.repository import schema
from emu.store.spool import read_spool, spool_path

DATABASE: Final = "database"
MEGABYTE: Final = 1_000_000
LEAST_SPACE: Final = 100 * MEGABYTE
"""Free bytes below which the next weeks may bring trouble."""
NO_SPACE: Final = 10 * MEGABYTE
MOST_NAMES: Final = 20
"""Names of players in one finding."""
LARGE_LOG: Final = 64 * MEGABYTE
"""A write-ahead log that nobody could fold back into the database for long."""
RESTORE: Final = "stop the server, keep the file, restore a copy of emu backup"


def look_at_database(path: Path) -> Iterator[Finding]:
    """Look into the database, and change nothing."""
    problem = served_problem(path)
    if problem:
        yield fail(
            DATABASE, problem, "docs/guides/operating.md, Backup, says how a copy is restored"
        )
        return
    if not path.exists():
        yield ok(DATABASE, f"{path} is not there yet; the first start makes it")
        return
    yield from look_at_spool(path)
    try:
        with Database.connect(path) as database:
            yield from look_into(database)
    except EmuError as error:
        yield fail(DATABASE, str(error), RESTORE)
    yield judge_space(shutil.disk_usage(path.parent).free, path.stat().st_size)
    log = path.with_name(f"{path.name}-wal")
    yield judge_log(log.stat().st_size if log.exists() else 0, path.stat().st_size)


def look_at_spool(path: Path) -> Iterator[Finding]:
    """Look for players whom a stop could not save, and for files of them that are damaged."""
    spool = spool_path(path)
    if spool.exists():
        try:
            names = ", ".join(sorted(state.name for state in read_spool(spool))[:MOST_NAMES])
        except (EmuError, OSError) as error:
            yield warn(
                DATABASE, f"{spool}: players that a stop could not save, unreadable ({error})",
                "the next start sets it aside; what it says of players is lost",
            )  # fmt: skip
        else:
            yield warn(
                DATABASE, f"{spool}: players that the last stop could not save: {names}",
                "start the server: it stores them and removes the file",
            )  # fmt: skip
    for aside in sorted(path.parent.glob(f"{spool.name}.damaged*")):
        yield warn(
            DATABASE, f"{aside}: players that a stop could not save, set aside as damaged",
            "look into it, then remove it",
        )  # fmt: skip


def look_into(database: Database) -> Iterator[Finding]:
    """Look at the schema, at every page, and at what refers to what. Raises `StoreError`."""
    connection = database.connection
    with readable_errors(database.path):
        judged = judge_schema(schema().version(connection), schema().newest)
        yield judged
        if judged.level is not Level.FAIL:
            check_version(database.path, connection, schema())
        broken = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(3)")]
        yield judge_integrity(broken)
        if broken == ["ok"]:
            yield judge_references(len(list(connection.execute("PRAGMA foreign_key_check"))))


def judge_integrity(answer: list[str]) -> Finding:
    """Judge what SQLite says of the file: ``ok``, or the first things wrong."""
    if answer == ["ok"]:
        return ok(DATABASE, "every page is whole")
    first = " ".join(answer[0].split())
    return fail(DATABASE, f"it is damaged: {first}", RESTORE)


def judge_references(lost: int) -> Finding:
    """Judge how many rows belong to a row that is not there."""
    if not lost:
        return ok(DATABASE, "every row belongs to one that is there")
    return fail(
        DATABASE, f"rows that belong to nothing: {lost}; another program has written here",
        "PRAGMA foreign_key_check in sqlite3 lists them; delete them, or restore a backup",
    )  # fmt: skip


def judge_schema(present: int, newest: int) -> Finding:
    """Judge the schema's number."""
    if present == newest:
        return ok(DATABASE, f"its schema is {present}, this program's")
    if present < newest:
        return warn(
            DATABASE, f"its schema is {present}, this program's {newest}",
            "the next start brings it up to date; make a copy before: emu backup",
        )  # fmt: skip
    return fail(
        DATABASE, f"its schema is {present}; this program knows {newest} at most",
        "upgrade the program: a newer one has written here",
    )  # fmt: skip


def judge_space(free: int, size: int) -> Finding:
    """Judge the disk: a backup and an upgrade each need the database's size again."""
    text = f"{free // MEGABYTE} MB free beside a database of {-(-size // MEGABYTE)} MB"
    if free < NO_SPACE:
        return fail(DATABASE, text, "make room: nothing can be stored on a full disk")
    if free < max(LEAST_SPACE, 2 * size):
        return warn(DATABASE, text, "make room: a backup and an upgrade need its size again")
    return ok(DATABASE, text)


def judge_log(log: int, size: int) -> Finding:
    """Judge the write-ahead log's size."""
    if log < max(LARGE_LOG, size):
        return ok(DATABASE, f"its write-ahead log has {log} bytes")
    return warn(
        DATABASE, f"its write-ahead log has {log // MEGABYTE} MB",
        "a program keeps an old view of it open: end what reads it for long (sqlite3, backups)",
    )  # fmt: skip


def read_one(path: Path, query: str, *values: object) -> tuple[Any, ...] | None:
    """Return the first row that a query finds, None for none and for what cannot be read.

    What is wrong with the database is told by `look_at_database`, not by whoever asks here.
    """
    if not path.exists():
        return None
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            row: tuple[Any, ...] | None = connection.execute(query, values).fetchone()
    except sqlite3.Error:
        return None
    return row
