"""Checks of the database: integrity, schema, and free disk space."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from emu.cli.doctor.findings import Finding, Level, fail, ok, warn
from emu.cli.doctor.ledger import check_ledger
from emu.cli.doctor.server_database import check_server_database
from emu.database import ServerUrl, Where
from emu.database.sqlite import SqliteDatabase, check_version, readable_errors
from emu.database.sqlite.served import served_problem
from emu.errors import EmuError
from emu.store import Store
from emu.store.identity import identity
from emu.store.repository import schema
from emu.store.spool import read_spool, spool_identity, spool_path

DATABASE: Final = "database"
MEGABYTE: Final = 1_000_000
LEAST_SPACE: Final = 100 * MEGABYTE
"""Free bytes below which the disk may be full within weeks."""
NO_SPACE: Final = 10 * MEGABYTE
MOST_NAMES: Final = 20
"""Maximum number of players' names in one finding."""
LARGE_LOG: Final = 64 * MEGABYTE
"""The size of a write-ahead log that has not been checkpointed for long."""
RESTORE: Final = "stop the server, keep the file, restore a copy of emu backup"


def check_database(where: Where) -> Iterator[Finding]:
    """Check the database without changing it."""
    if isinstance(where, Path):
        yield from _check_file(where)
    else:
        yield from check_server_database(where)
        yield from check_ledger(where)


def _check_file(path: Path) -> Iterator[Finding]:
    problem = served_problem(path)
    if problem:
        yield fail(DATABASE, problem, "restore a copy: docs/guides/operating.md, Backup")
        return
    if not path.exists():
        yield ok(DATABASE, f"{path} is not there yet; the first start makes it")
        return
    yield from check_spool(path)
    try:
        with SqliteDatabase.connect(path) as database:
            yield from check_tables(database)
            is_current = schema().version(database.connection) == schema().newest
        # To read an older one through the store would change it.
        if is_current:
            yield from check_ledger(path)
    except EmuError as error:
        yield fail(DATABASE, str(error), RESTORE)
    yield judge_space(shutil.disk_usage(path.parent).free, path.stat().st_size)
    log = path.with_name(f"{path.name}-wal")
    yield judge_log(log.stat().st_size if log.exists() else 0, path.stat().st_size)


def check_spool(path: Path) -> Iterator[Finding]:
    """Check for players whose state could not be saved at a stop, and for damaged files of them."""
    spool = spool_path(path)
    if spool.exists():
        try:
            names = ", ".join(sorted(state.name for state in read_spool(spool))[:MOST_NAMES])
        except (EmuError, OSError) as error:
            yield warn(
                DATABASE, f"{spool}: players that a stop could not save, unreadable ({error})",
                "the next start renames it; its players' last changes are lost",
            )  # fmt: skip
        else:
            yield _judge_spool(spool, names, is_own=_is_own_spool(spool, path))
    for why, text in (("damaged", "damaged"), ("other", "another database's")):
        for aside in sorted(path.parent.glob(f"{spool.name}.{why}*")):
            yield warn(
                DATABASE, f"{aside}: players that a stop could not save, set aside as {text}",
                "read it, then remove it",
            )  # fmt: skip


def _judge_spool(spool: Path, names: str, *, is_own: bool) -> Finding:
    if is_own:
        return warn(
            DATABASE, f"{spool}: players that the last stop could not save: {names}",
            "start the server: it saves them and removes the file",
        )  # fmt: skip
    return warn(
        DATABASE, f"{spool}: players that another database could not save: {names}",
        "put the file beside its own database; the next start here renames it and saves nobody",
    )  # fmt: skip


def _is_own_spool(spool: Path, path: Path) -> bool:
    """Return whether the next start of a database takes a file of unsaved players as its own."""
    try:
        with Store.open_for_reading(path) as store:
            return spool_identity(spool) == identity(store)
    except (EmuError, OSError):
        return True  # as the start: the store decides about each state


def check_tables(database: SqliteDatabase) -> Iterator[Finding]:
    """Check the schema, every page and all references. Raises `StoreError`."""
    connection = database.connection
    with readable_errors(database.path):
        judged = judge_schema(schema().version(connection), schema().newest)
        yield judged
        # A newer schema may have other tables, so it is not compared.
        if judged.level is not Level.FAIL:
            check_version(database.path, connection, schema())
        # Three faults are enough for the report; a damaged file may have thousands.
        broken = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(3)")]
        yield judge_integrity(broken)
        # References are checked only in an intact file, because damage also looks like missing
        # rows.
        if broken == ["ok"]:
            yield judge_references(len(list(connection.execute("PRAGMA foreign_key_check"))))


def judge_integrity(answer: list[str]) -> Finding:
    """Judge SQLite's integrity check: ``ok``, or the first faults."""
    if answer == ["ok"]:
        return ok(DATABASE, "every page is intact")
    first = " ".join(answer[0].split())
    return fail(DATABASE, f"it is damaged: {first}", RESTORE)


def judge_references(lost: int) -> Finding:
    """Judge the number of rows that refer to a missing row."""
    if not lost:
        return ok(DATABASE, "every reference is valid")
    return fail(
        DATABASE, f"rows with a missing parent: {lost}; another program has changed the database",
        "PRAGMA foreign_key_check in sqlite3 lists them; delete them, or restore a backup",
    )  # fmt: skip


def judge_schema(present: int, newest: int) -> Finding:
    """Judge the schema's version."""
    if present == newest:
        return ok(DATABASE, f"its schema is {present}, this program's")
    if present < newest:
        return warn(
            DATABASE, f"its schema is {present}, this program's {newest}",
            "the next start migrates it; make a copy before: emu backup",
        )  # fmt: skip
    return fail(
        DATABASE, f"its schema is {present}; this program supports up to {newest}",
        "upgrade the program: a newer version has migrated the database",
    )  # fmt: skip


def judge_space(free: int, size: int) -> Finding:
    """Judge the free space: a backup and an upgrade each need the database's size again."""
    text = f"{free // MEGABYTE} MB free beside a database of {-(-size // MEGABYTE)} MB"
    if free < NO_SPACE:
        return fail(DATABASE, text, "free disk space: a full disk stops all saving")
    if free < max(LEAST_SPACE, 2 * size):
        return warn(DATABASE, text, "free disk space: a backup and an upgrade need its size again")
    return ok(DATABASE, text)


def judge_log(log: int, size: int) -> Finding:
    """Judge the size of the write-ahead log."""
    if log < max(LARGE_LOG, size):
        return ok(DATABASE, f"its write-ahead log has {log} bytes")
    return warn(
        DATABASE, f"its write-ahead log has {log // MEGABYTE} MB",
        "a long read keeps it from shrinking: end other programs that read it (sqlite3, backups)",
    )  # fmt: skip


def read_one(where: Where, query: str, *values: object) -> tuple[Any, ...] | None:
    """Return the first row of a query, or None, also if the database cannot be read.

    `check_database` reports faults of the database.
    """
    if not isinstance(where, Path):
        return _read_one_of_server(where, query, values)
    path = where
    if not path.exists():
        return None
    try:
        # Read-only, because the doctor must neither create nor change a file.
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            row: tuple[Any, ...] | None = connection.execute(query, values).fetchone()
    except sqlite3.Error:
        return None
    return row


def _read_one_of_server(
    where: ServerUrl, query: str, values: tuple[object, ...]
) -> tuple[Any, ...] | None:
    try:
        with Store.open_for_reading(where) as store, store.database.explaining():
            row: tuple[Any, ...] | None = store.database.connection.execute(
                query, values
            ).fetchone()
    except EmuError:
        return None
    return row
