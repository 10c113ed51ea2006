"""SQLite files: created whole or not at all, checked, brought up to date, backed up.

Errors of SQLite and of the system become one line that names the file and the cure.

Owns files and the connection's settings; what is in the tables belongs to whoever has the schema.
Every failure is a `StoreError` of one line that names the file and says what to do.

Durability: WAL. A commit is in the operating system's hands before it is answered, so a killed
process loses nothing and a power cut cannot damage the file. What a power cut takes back is a
matter of `Durability`.

Owns how the copy is made and named; what is in the tables belongs to whoever has the schema.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from emu.database.migrations import APPLICATION_ID, Schema, migrate
from emu.database.served import check_served, create_option, log_files
from emu.errors import DuplicateName, StoreError, StoreLocked
from emu.model import Durability
from emu.partial import flush, partial_file, take_name

LOCK_WAIT: Final = 5.0
"""Seconds to wait for another program's write to end."""
EXPLAINED: Final = (sqlite3.Error, UnicodeError, OverflowError, OSError)
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
        return StoreError(f"{path}: refused a change ({_in_one_line(error)})")
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(path, error)
    if isinstance(error, OSError):
        return StoreError(
            f"{path}: cannot be used ({error.strerror}); check [database] url and who may write"
            " there"
        )
    if isinstance(error, UnicodeDecodeError):
        # Python's sqlite3 raises it for a text of the file, and for SQLite's message about one.
        return damaged(path, "it holds text that is not UTF-8")
    return StoreError(f"{path}: a value cannot be stored ({_in_one_line(error)})")


def damaged(path: Path, detail: object) -> StoreError:
    """Return the error for a file whose bytes are not those of a database."""
    return StoreError(
        f"{path}: is damaged or not a SQLite database ({_in_one_line(detail)}); put a"
        " backup in its place, or move it away to start with an empty one"
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
        f"{path}: {_in_one_line(error)}; if another program has changed the tables, put a backup"
        " in its place"
    )


def _in_one_line(detail: object) -> str:
    """Return a message as one line: SQLite quotes the statements that are in the file."""
    return " ".join(str(detail).split())


MARK_TABLE: Final = "database_mark"
"""Where a server that uses a database has its mark; see `emu.database.keeper`."""


def back_up(connection: sqlite3.Connection, copy: Path) -> None:
    """Copy an open database into the file `copy`, in the place of one that is there.

    Other programs may write meanwhile: the copy is what was committed when it began. It is made
    under another name, checked, written to disk, and only then renamed. Only its owner may read
    it: it holds password hashes. Raises `StoreError`.
    """
    with readable_errors(copy), partial_file(copy) as fresh:
        with closing(sqlite3.connect(fresh)) as target:
            connection.backup(target)
            _check(copy, target)
            _forget_mark(target)
            # One file that can be carried away alone; whoever opens it sets WAL again.
            target.execute("PRAGMA journal_mode = DELETE")
        flush(fresh)
        fresh.replace(copy)
        flush(copy.parent)


def _check(copy: Path, target: sqlite3.Connection) -> None:
    verdict = str(target.execute("PRAGMA quick_check(1)").fetchone()[0])
    if verdict != "ok":
        raise StoreError(
            f"{copy}: not written, the database is damaged ({' '.join(verdict.split())});"
            " keep the backups that you have"
        )


def _forget_mark(target: sqlite3.Connection) -> None:
    """Remove the mark of the server that uses the database: it does not use the copy."""
    query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    if target.execute(query, (MARK_TABLE,)).fetchone() is not None:
        target.execute(f"DELETE FROM {MARK_TABLE}")  # noqa: S608  # our own name
        target.commit()


GUESTS = ("sqlite_*", "opcode*")
"""Tables that may be in a file that nobody has made his own: SQLite's, and those of opcodes."""
CHECKED_SIZE = 64 * 1024 * 1024
"""Files up to this many bytes are checked as a whole when they are opened."""


def set_durability(connection: sqlite3.Connection, durability: Durability) -> None:
    """Set when the commits of a connection are written to disk."""
    level = "FULL" if durability is Durability.SAFE else "NORMAL"
    connection.execute(f"PRAGMA synchronous = {level}")


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
    """Open an existing database as it is, whatever tables it has.

    Raises `StoreError`, also for a file that a running server has lost, and for an empty one.
    """
    check_served(path)
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
        if _is_empty(connection):
            raise StoreError(
                f"{path}: is empty: a database was here once, or something else made the file;"
                f" put a backup in its place, or {create_option()}"
            )
    return connection


def create_database(path: Path, schema: Schema) -> bool:
    """Make a database with an up-to-date schema; False when the file is there already.

    It is made under another name and then renamed, so that a file of this name is always whole.
    Only its owner may read it: it holds password hashes. Raises `StoreError`, also where a server
    has lost its database.
    """
    check_served(path)
    if path.exists():
        return False
    with readable_errors(path):
        for log in log_files(path):
            if log.exists() and log.stat().st_size:
                raise StoreError(
                    f"{path}: is not there, but what was changed in it last is, in {log.name};"
                    f" put the database back, or {create_option()}"
                )
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial_file(path) as fresh:
            _make(fresh, schema)
            is_new = take_name(fresh, path)
            flush(path.parent)
            return is_new


def begin_anew(path: Path, schema: Schema) -> bool:
    """Make a database as `create_database` does, also in the place of an empty file.

    What a lost database has left beside it is removed. False when there is a database already,
    which is left as it is. Raises `StoreError`.
    """
    with readable_errors(path):
        if path.exists():
            with closing(_connect(path, LOCK_WAIT)) as connection:
                if _owner(connection) or not _is_empty(connection):
                    return False
        for log in log_files(path):
            log.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial_file(path) as fresh:
            _make(fresh, schema)
            fresh.replace(path)
            flush(path.parent)
    return True


def _make(fresh: Path, schema: Schema) -> None:
    with closing(_connect(fresh, LOCK_WAIT)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, schema)


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Say whether a file has no table at all; SQLite takes one of no bytes for a database."""
    if connection.execute("PRAGMA user_version").fetchone()[0]:
        return False
    return connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is None


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=wait, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        set_durability(connection, Durability.FAST)
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
