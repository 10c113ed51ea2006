"""What SQLite and the system raise, as one line that names the file and says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from emu.errors import DuplicateName, StoreError, StoreLocked

LOCK_WAIT: Final = 5.0
"""Seconds to wait for another program's write to end."""
EXPLAINED: Final = (sqlite3.Error, UnicodeEncodeError, OverflowError, OSError)
"""What `explained` has words for."""


@contextmanager
def readable_errors(path: Path) -> Iterator[None]:
    """Raise what goes wrong with a database file as a `StoreError`."""
    try:
        yield
    except EXPLAINED as error:
        raise explained(path, error) from error


def explained(path: Path, error: Exception) -> StoreError:
    """Return the `StoreError` for one of the `EXPLAINED`."""
    if isinstance(error, sqlite3.IntegrityError):
        if error.sqlite_errorcode in (
            sqlite3.SQLITE_CONSTRAINT_UNIQUE,
            sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
        ):
            return DuplicateName(f"{path}: that name or number is taken ({error})")
        return StoreError(f"{path}: refused a change ({error})")
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(path, error)
    if isinstance(error, OSError):
        return StoreError(
            f"{path}: cannot be used ({error.strerror}); check [database] url and who may write"
            " there"
        )
    return StoreError(f"{path}: a value cannot be stored ({error})")


def damaged(path: Path, detail: object) -> StoreError:
    """Return the error for a file whose bytes are not those of a database."""
    return StoreError(
        f"{path}: is damaged or not a SQLite database ({detail}); put a backup in its place, or"
        " move it away to start with an empty one"
    )


def _of_sqlite(path: Path, error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLocked(f"{path}: is locked by another program; try again when that one is done")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path, error)
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreError(
            f"{path}: cannot be opened for writing ({error}); check [database] url and who may"
            " write there"
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreError(f"{path}: the disk is full; make room")
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(f"{path}: cannot be read or written ({error}); look at its disk")
    return StoreError(
        f"{path}: {error}; if another program has changed the tables, put a backup in its place"
    )
