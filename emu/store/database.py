"""Opening a database file: created whole or not at all, checked, brought up to date, backed up.

Owns files and the connection's settings; what is in the tables belongs to the row modules. Every
failure is a `StoreError` of one line that names the file and says what to do.

Durability: WAL with ``synchronous = NORMAL``. A commit is then in the operating system's hands
before it is answered, so a killed process loses nothing and a power cut cannot damage the file; at
worst a power cut takes back the last moments' commits. ``FULL`` would pay one disk flush for every
login to close that gap.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from emu.errors import DuplicateName, StoreError
from emu.store.migrations import APPLICATION_ID, Step, migrate, schema_version, shipped_steps

LOCK_WAIT = 5.0
"""Seconds to wait for another program's write to end."""
CHECKED_SIZE = 64 * 1024 * 1024
"""Files up to this many bytes are checked as a whole when they are opened."""


def open_database(
    path: Path, *, wait: float = LOCK_WAIT, steps: Sequence[Step] | None = None
) -> sqlite3.Connection:
    """Open an existing database, bringing an older schema up to date after a backup.

    The connection is in autocommit mode and may be handed to another thread. `wait` is how many
    seconds to wait for another program's lock. Raises `StoreError`.
    """
    steps = shipped_steps() if steps is None else steps
    _must_exist(path)
    with readable_errors(path):
        connection = _connect(path, wait)
        try:
            _check_owner(path, connection, steps)
            _check_pages(path, connection)
            connection.execute("BEGIN IMMEDIATE")  # shows now whether the file can be written
            connection.execute("ROLLBACK")
            connection.execute("PRAGMA journal_mode = WAL")
            if schema_version(connection) < steps[-1].number:
                _back_up(path, connection)
                migrate(connection, steps)
        except BaseException:
            connection.close()
            raise
    return connection


def look_at_database(path: Path, *, wait: float = LOCK_WAIT) -> sqlite3.Connection:
    """Open an existing database to read it, whatever other programs are writing meanwhile.

    Only an older schema is written to: it is brought up to date first, as `open_database` does.
    The connection is in autocommit mode, may be handed to another thread, and cannot change
    anything. Raises `StoreError`.
    """
    _must_exist(path)
    with readable_errors(path):
        connection = _connect(path, wait)
        try:
            _check_owner(path, connection, shipped_steps())
            if schema_version(connection) < shipped_steps()[-1].number:
                open_database(path, wait=wait).close()
            connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
    return connection


def create_database(path: Path, *, steps: Sequence[Step] | None = None) -> bool:
    """Make a database with an up-to-date schema; False when the file is there already.

    It is made under another name and then renamed, so that a file of this name is always whole.
    Only its owner may read it: it holds password hashes.
    """
    if path.exists():
        return False
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(6)}.new")
    with readable_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            connection = _connect(fresh, LOCK_WAIT)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                migrate(connection, shipped_steps() if steps is None else steps)
            finally:
                connection.close()
            return _take_name(fresh, path)
        finally:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{fresh}{suffix}").unlink(missing_ok=True)


def _take_name(fresh: Path, path: Path) -> bool:
    try:
        os.link(fresh, path)  # unlike a rename it never replaces a file
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        fresh.rename(path)
    return True


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=wait, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _must_exist(path: Path) -> None:
    if not path.exists():
        raise StoreError(
            f"{path}: there is no such database; the server makes it when it starts, and so does"
            " `emu account add NAME`"
        )


def _check_owner(path: Path, connection: sqlite3.Connection, steps: Sequence[Step]) -> None:
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    version = schema_version(connection)
    if owner not in (0, APPLICATION_ID) or (owner == 0 and version != 0):
        raise StoreError(
            f"{path}: is the database of another program; choose another file in [database] url"
        )
    if version > steps[-1].number:
        raise StoreError(
            f"{path}: was written by a newer version of this program (schema {version}, this one"
            f" knows {steps[-1].number}); upgrade the program, or choose another file"
        )


def _check_pages(path: Path, connection: sqlite3.Connection) -> None:
    if path.stat().st_size <= CHECKED_SIZE:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise StoreError(_damaged(path, " ".join(verdict.split())))


def _back_up(path: Path, connection: sqlite3.Connection) -> None:
    """Copy an older database beside itself before its schema is changed."""
    version = schema_version(connection)
    if version == 0:
        return  # nothing of ours is in it yet
    copy = path.with_name(f"{path.name}.schema{version}.bak")
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(6)}.bak")
    try:
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        target = sqlite3.connect(fresh)
        try:
            connection.backup(target)
        finally:
            target.close()
        fresh.replace(copy)
    finally:
        fresh.unlink(missing_ok=True)


def _damaged(path: Path, detail: object) -> str:
    return (
        f"{path}: is damaged or not a SQLite database ({detail}); put a backup in its place, or"
        " move it away to start with an empty one"
    )


@contextmanager
def readable_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite and the operating system raise into one line for an operator."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorcode in (
            sqlite3.SQLITE_CONSTRAINT_UNIQUE,
            sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
        ):
            raise DuplicateName(f"{path}: that name or number is taken ({error})") from error
        raise StoreError(f"{path}: refused a change ({error})") from error
    except sqlite3.Error as error:
        raise StoreError(_explain(path, error)) from error
    except (UnicodeEncodeError, OverflowError) as error:
        raise StoreError(f"{path}: a value cannot be stored ({error})") from error
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be used ({error.strerror}); check [database] url and who may write"
            " there"
        ) from error


def _explain(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"{path}: is locked by another program; try again when that one is done"
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return _damaged(path, error)
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return (
            f"{path}: cannot be opened for writing ({error}); check [database] url and who may"
            " write there"
        )
    if code == sqlite3.SQLITE_FULL:
        return f"{path}: the disk is full; make room"
    return f"{path}: {error}"


def roll_back(connection: sqlite3.Connection) -> None:
    """End a transaction that failed; SQLite may have ended it already."""
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
