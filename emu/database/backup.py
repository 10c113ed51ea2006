"""A copy of a database that other programs go on writing: of one moment, whole or not there.

Owns how the copy is made and named; what is in the tables belongs to whoever has the schema.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from emu.database.errors import readable_errors
from emu.errors import StoreError


def back_up(connection: sqlite3.Connection, copy: Path) -> None:
    """Copy an open database into the file `copy`, in the place of one that is there.

    Other programs may write meanwhile: the copy is what was committed when it began. It is made
    under another name, checked, written to disk, and only then renamed. Only its owner may read
    it: it holds password hashes. Raises `StoreError`.
    """
    with readable_errors(copy), fresh_file(copy) as fresh:
        with closing(sqlite3.connect(fresh)) as target:
            connection.backup(target)
            _check(copy, target)
            # One file that can be carried away alone; whoever opens it sets WAL again.
            target.execute("PRAGMA journal_mode = DELETE")
        _flush(fresh)
        fresh.replace(copy)
        _flush(copy.parent)


@contextmanager
def fresh_file(path: Path) -> Iterator[Path]:
    """Make an empty file beside one that is to be, which only its owner may read.

    It is gone afterwards, with what SQLite puts beside it, unless it was given another name.
    """
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new")
    try:
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield fresh
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{fresh}{suffix}").unlink(missing_ok=True)


def _check(copy: Path, target: sqlite3.Connection) -> None:
    verdict = str(target.execute("PRAGMA quick_check(1)").fetchone()[0])
    if verdict != "ok":
        raise StoreError(
            f"{copy}: not written, the database is damaged ({' '.join(verdict.split())});"
            " keep the backups that you have"
        )


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
