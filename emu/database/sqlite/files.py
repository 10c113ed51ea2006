"""Creation, opening, checking, migration and backup of SQLite files.

A file is created completely or not at all. Every failure is a `StoreError` of one line, with the
file, the fault and the cure. The tables belong to the packages with a `Schema`.

Files are in WAL mode. A commit is in the operating system's hands before it is acknowledged: a
killed process loses nothing, and a power cut cannot damage the file. `Durability` decides what a
power cut can lose.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from emu.database.sqlite.holder import lock_holder
from emu.database.sqlite.migrations import APPLICATION_ID, Schema, migrate
from emu.database.sqlite.served import check_served, create_option, log_files
from emu.errors import DuplicateName, StoreError, StoreLocked
from emu.files import partial_file, take_name
from emu.model import Durability
from emu.system import flush

LOCK_WAIT: Final = 5.0
"""Seconds to wait for another program's write to end."""
EXPLAINED: Final = (sqlite3.Error, UnicodeError, OverflowError, OSError)
"""Errors that `explained` turns into a `StoreError`."""


@contextmanager
def readable_errors(path: Path) -> Iterator[None]:
    """Turn the errors of a database file into `StoreError`."""
    try:
        yield
    except EXPLAINED as error:
        raise explained(path, error) from error


def explained(path: Path, error: Exception) -> StoreError:
    """Return the `StoreError` for one of the `EXPLAINED`."""
    if isinstance(error, sqlite3.IntegrityError):
        # Other constraints, such as a foreign key, are no conflict of names and need another cure.
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
            f"{path}: cannot be used ({error.strerror}); check [database] url and the"
            " permissions of its folder"
        )
    if isinstance(error, UnicodeDecodeError):
        # Python's sqlite3 raises it for a text of the file, and for SQLite's message about one.
        return damaged(path, "it holds text that is not UTF-8")
    return StoreError(f"{path}: a value cannot be stored ({_in_one_line(error)})")


def damaged(path: Path, detail: object) -> StoreError:
    """Return the error for a file that is not a database, or a damaged one."""
    return StoreError(
        f"{path}: is damaged or not a SQLite database ({_in_one_line(detail)}); put a"
        " backup in its place, or move it away to start with an empty one"
    )


def _of_sqlite(path: Path, error: sqlite3.Error) -> StoreError:
    # The low byte is the primary code; the rest distinguishes causes of the same fault.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        holder = lock_holder(path)
        which = f" ({holder})" if holder else ""
        return StoreLocked(
            f"{path}: is locked by another program{which}; try again when that one is done"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path, error)
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreError(
            f"{path}: cannot be opened for writing ({error}); check [database] url and the"
            " permissions of its folder"
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreError(f"{path}: the disk is full; free some space")
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(
            f"{path}: cannot be read or written ({error}); check its disk, and whether it is full"
        )
    return StoreError(
        f"{path}: {_in_one_line(error)}; if another program has changed the tables, put a backup"
        " in its place"
    )


def _in_one_line(detail: object) -> str:
    """Return a message as one line; SQLite's messages may quote statements of the file."""
    return " ".join(str(detail).split())


MARK_TABLE: Final = "database_mark"
"""Table with the mark of the server that uses the database; see `emu.database.sqlite.keeper`."""


def back_up(connection: sqlite3.Connection, copy: Path) -> None:
    """Copy an open database into the file `copy`, replacing an existing file.

    Other programs may write meanwhile: the copy has the state at its beginning. It is written under
    another name, checked, flushed to disk, and then renamed. Only its owner may read it, because it
    contains password hashes. Raises `StoreError`.
    """
    with readable_errors(copy), partial_file(copy) as fresh:
        copy_into(connection, fresh, copy)
        fresh.replace(copy)
        # The folder, too: a rename is only durable when the folder is on the disk.
        flush(copy.parent)


def copy_into(
    connection: sqlite3.Connection,
    fresh: Path,
    name: Path,
    change: Callable[[sqlite3.Connection], object] = lambda _copy: None,
) -> None:
    """Copy an open database into an empty file, as `back_up` does; `name` is for errors.

    `change` is made in the copy before it is on the disk.
    """
    with closing(sqlite3.connect(fresh)) as target:
        connection.backup(target)
        _check(name, target)
        # The copy is no server's file. With the mark, a server on it would suspect a foreign
        # writer.
        _forget_mark(target)
        # Without WAL the copy is a single file. The next `open_database` sets WAL again.
        target.execute("PRAGMA journal_mode = DELETE")
        change(target)
    # To the disk before a rename: after a power cut the name must not stand for an empty file.
    flush(fresh)


def _check(copy: Path, target: sqlite3.Connection) -> None:
    verdict = str(target.execute("PRAGMA quick_check(1)").fetchone()[0])
    if verdict != "ok":
        raise StoreError(
            f"{copy}: not written, the database is damaged ({' '.join(verdict.split())});"
            " keep the existing backups"
        )


def _forget_mark(target: sqlite3.Connection) -> None:
    """Remove the mark of the running server, which does not use the copy."""
    query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
    if target.execute(query, (MARK_TABLE,)).fetchone() is not None:
        target.execute(f"DELETE FROM {MARK_TABLE}")  # noqa: S608  # our own name
        target.commit()


GUESTS = ("sqlite_*", "opcode*")
"""Tables that may be in a file without an application id: SQLite's and those of opcodes."""
CHECKED_SIZE = 64 * 1024 * 1024
"""Files up to this many bytes are checked completely when they are opened."""
MOST_REMEMBERED = 100
"""Of how many files a process remembers that it has checked them."""


def set_durability(connection: sqlite3.Connection, durability: Durability) -> None:
    """Set when the commits of a connection are written to disk."""
    level = "FULL" if durability is Durability.SAFE else "NORMAL"
    connection.execute(f"PRAGMA synchronous = {level}")


def open_database(path: Path, schema: Schema, *, wait: float = LOCK_WAIT) -> sqlite3.Connection:
    """Open an existing database; migrate an older schema, after a backup.

    The connection is in autocommit mode, and may be passed to another thread. `wait` is the time in
    seconds to wait for another program's lock. Raises `StoreError`.
    """
    connection = connect_database(path, wait=wait)
    with _closed_when_it_fails(path, connection):
        # Before any write: this may be the database of a newer program or of another one.
        check_version(path, connection, schema)
        _check_pages(path, connection)
        connection.execute("BEGIN IMMEDIATE")  # fails here if the file cannot be written
        connection.execute("ROLLBACK")
        connection.execute("PRAGMA journal_mode = WAL")
        # Under no lock; `migrate` checks again under the write lock.
        if schema.is_behind(connection):
            _back_up(path, connection, schema)
            migrate(connection, schema)
        _remember_checked(path)
    return connection


def open_for_reading(path: Path, schema: Schema, *, wait: float = LOCK_WAIT) -> sqlite3.Connection:
    """Open an existing database for reading; writes of other programs do not block it.

    An older schema is migrated first, as by `open_database`. The connection is in autocommit mode,
    may be passed to another thread, and cannot change anything. Raises `StoreError`.
    """
    connection = connect_database(path, wait=wait)
    with _closed_when_it_fails(path, connection):
        check_version(path, connection, schema)
        if schema.is_behind(connection):
            # Migrations write, so a connection that may write makes them and closes.
            open_database(path, schema, wait=wait).close()
        # Not `mode=ro`: a reader in WAL mode must be able to write the log's index.
        connection.execute("PRAGMA query_only = ON")
    return connection


def connect_database(path: Path, *, wait: float = LOCK_WAIT) -> sqlite3.Connection:
    """Open an existing database with any tables, and without migrations.

    Raises `StoreError`, also for an empty file and for one that a running server has lost.
    """
    check_served(path)
    # sqlite3 would create a missing file, and a typing error would be a new, empty database.
    if not path.exists():
        raise StoreError(
            f"{path}: there is no such database; the server creates it when it starts, and so does"
            " `emu account add NAME`"
        )
    with readable_errors(path):
        connection = _connect(path, wait)
    with _closed_when_it_fails(path, connection):
        # 0 is a file without an owner: it may be a database of opcodes; `check_version` decides.
        if _owner(connection) not in (0, APPLICATION_ID):
            raise _of_another_program(path)
        if _is_empty(connection):
            raise StoreError(
                f"{path}: is empty: a database was here once, or something else made the file;"
                f" put a backup in its place, or {create_option()}"
            )
    return connection


def create_database(path: Path, schema: Schema) -> bool:
    """Create a database with the newest schema; return False if the file exists already.

    The file is written under another name and then renamed, so it is always complete. Only its
    owner may read it, because it contains password hashes. Raises `StoreError`, also if a server
    has lost its database there.
    """
    check_served(path)
    if path.exists():
        return False
    with readable_errors(path):
        # A log without its database has the last changes of a lost one. SQLite would mix it with
        # the new file.
        for log in log_files(path):
            if log.exists() and log.stat().st_size:
                raise StoreError(
                    f"{path}: is not there, but what was changed in it last is, in {log.name};"
                    f" put the database back, or {create_option()}"
                )
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial_file(path) as fresh:
            _make(fresh, schema)
            # Two programs may create the database at the same time: the first one wins.
            is_new = take_name(fresh, path)
            flush(path.parent)
            return is_new


def begin_anew(path: Path, schema: Schema) -> bool:
    """Create a database as `create_database` does, also in place of an empty file.

    The logs of a lost database are removed. Return False, and change nothing, if there is a
    database with tables. Raises `StoreError`.
    """
    with readable_errors(path):
        # The file is opened and not only measured: it may have bytes and still no tables.
        if path.exists():
            with closing(_connect(path, LOCK_WAIT)) as connection:
                if _owner(connection) or not _is_empty(connection):
                    return False
        # Old logs belong to the lost database and would be read with the new one.
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
    """Return whether a file has no tables; for SQLite, a file of 0 bytes is a database."""
    # A database of ours has a version even if somebody removed its tables.
    if connection.execute("PRAGMA user_version").fetchone()[0]:
        return False
    return connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is None


def _connect(path: Path, wait: float) -> sqlite3.Connection:
    # Autocommit: this package begins its transactions itself. The cache of statements holds all
    # that a login needs.
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
    """Raise `StoreError` for tables of another program, or of a newer version of this one."""
    version = schema.version(connection)
    # A version below 0 is none of ours, and tables without our application id belong to somebody
    # else.
    if version < 0 or (_owner(connection) == 0 and (version or _has_foreign_tables(connection))):
        raise _of_another_program(path)
    schema.check(connection, path)


def _has_foreign_tables(connection: sqlite3.Connection) -> bool:
    query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND NOT (name GLOB ? OR name GLOB ?)"
    return connection.execute(query, GUESTS).fetchone() is not None


_checked: dict[tuple[int, int], tuple[int, int]] = {}
"""Time of the last change and size of each checked file, by its device and number there."""


def _check_pages(path: Path, connection: sqlite3.Connection) -> None:
    """Check all pages, unless this process has done so and the file is unchanged.

    A server opens its database five times when it starts. The log of SQLite is not compared: it has
    a sum for each page.
    """
    found = path.stat()
    state = _checked.get((found.st_dev, found.st_ino))
    # A complete check of a large file would delay the start by seconds.
    if found.st_size <= CHECKED_SIZE and state != (found.st_mtime_ns, found.st_size):
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise damaged(path, " ".join(verdict.split()))


def _remember_checked(path: Path) -> None:
    # After the mode of the log and migrations, which change the file.
    found = path.stat()
    if len(_checked) >= MOST_REMEMBERED:
        _checked.clear()
    _checked[found.st_dev, found.st_ino] = found.st_mtime_ns, found.st_size


def _back_up(path: Path, connection: sqlite3.Connection, schema: Schema) -> None:
    """Back up an older database in its own folder before its migration."""
    version = schema.version(connection)
    if version == 0:
        return  # it has no tables of this schema yet
    back_up(connection, path.with_name(f"{path.name}.schema{version}.bak"))
