"""Opening a database file: created whole or not at all, checked, brought up to date, backed up.

Owns files and the connection's settings; what is in the tables belongs to whoever has the schema.
Every failure is a `StoreError` of one line that names the file and says what to do.

Durability: WAL with ``synchronous = NORMAL``. A commit is then in the operating system's hands
before it is answered, so a killed process loses nothing and a power cut cannot damage the file; at
worst a power cut takes back the last moments' commits. ``FULL`` would pay one disk flush for every
login to close that gap.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from emu.database.backup import back_up, fresh_file
from emu.database.errors import LOCK_WAIT, damaged, readable_errors
from emu.database.migrations import APPLICATION_ID, Schema, migrate
from emu.errors import StoreError

GUESTS = ("sqlite_*", "opcode*")
"""Tables that may be in a file that nobody has made his own: SQLite's, and those of opcodes."""
CHECKED_SIZE = 64 * 1024 * 1024
"""Files up to this many bytes are checked as a whole when they are opened."""


def open_database(path: Path, schema: Schema, *, wait: float = LOCK_WAIT) -> sqlite3.Connection:
    """Open an existing database, bringing an older schema up to date after a backup.

    The connection is in autocommit mode and may be handed to another thread. `wait` is how many
    seconds to wait for another program's lock. Raises `StoreError`.
    """
    connection = connect_database(path, wait=wait)
    with _closed_when_it_fails(path, connection):
        check_version(path, connection, schema)
        _check_pages(path, connection)
        connection.execute("BEGIN IMMEDIATE")  # shows now whether the file can be written
        connection.execute("ROLLBACK")
        connection.execute("PRAGMA journal_mode = WAL")
        if schema.is_behind(connection):
            _back_up(path, connection, schema)
            migrate(connection, schema)
    return connection


def look_at_database(path: Path, schema: Schema, *, wait: float = LOCK_WAIT) -> sqlite3.Connection:
    """Open an existing database to read it, whatever other programs are writing meanwhile.

    Only an older schema is written to: it is brought up to date first, as `open_database` does.
    The connection is in autocommit mode, may be handed to another thread, and cannot change
    anything. Raises `StoreError`.
    """
    connection = connect_database(path, wait=wait)
    with _closed_when_it_fails(path, connection):
        check_version(path, connection, schema)
        if schema.is_behind(connection):
            open_database(path, schema, wait=wait).close()
        connection.execute("PRAGMA query_only = ON")
    return connection


def connect_database(path: Path, *, wait: float = LOCK_WAIT) -> sqlite3.Connection:
    """Open an existing database as it is, whatever tables it has. Raises `StoreError`."""
    if not path.exists():
        raise StoreError(
            f"{path}: there is no such database; the server makes it when it starts, and so does"
            " `emu account add NAME`"
        )
    with readable_errors(path):
        connection = _connect(path, wait)
    with _closed_when_it_fails(path, connection):
        if _owner(connection) not in (0, APPLICATION_ID):
            raise _of_another_program(path)
    return connection


def create_database(path: Path, schema: Schema) -> bool:
    """Make a database with an up-to-date schema; False when the file is there already.

    It is made under another name and then renamed, so that a file of this name is always whole.
    Only its owner may read it: it holds password hashes.
    """
    if path.exists():
        return False
    with readable_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh_file(path) as fresh:
            with closing(_connect(fresh, LOCK_WAIT)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                migrate(connection, schema)
            return _take_name(fresh, path)


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


@contextmanager
def _closed_when_it_fails(path: Path, connection: sqlite3.Connection) -> Iterator[None]:
    with readable_errors(path):
        try:
            yield
        except BaseException:
            connection.close()
            raise


def _owner(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _of_another_program(path: Path) -> StoreError:
    return StoreError(
        f"{path}: is the database of another program; choose another file in [database] url"
    )


def check_version(path: Path, connection: sqlite3.Connection, schema: Schema) -> None:
    """Raise `StoreError` for the tables of another program, or of a newer one."""
    version = schema.version(connection)
    if version < 0 or (_owner(connection) == 0 and (version or _has_foreign_tables(connection))):
        raise _of_another_program(path)
    schema.check(connection, path)


def _has_foreign_tables(connection: sqlite3.Connection) -> bool:
    query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND NOT (name GLOB ? OR name GLOB ?)"
    return connection.execute(query, GUESTS).fetchone() is not None


def _check_pages(path: Path, connection: sqlite3.Connection) -> None:
    if path.stat().st_size <= CHECKED_SIZE:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise damaged(path, " ".join(verdict.split()))


def _back_up(path: Path, connection: sqlite3.Connection, schema: Schema) -> None:
    """Copy an older database beside itself before its schema is changed."""
    version = schema.version(connection)
    if version == 0:
        return  # nothing of ours is in it yet
    back_up(connection, path.with_name(f"{path.name}.schema{version}.bak"))
