"""Opening a database of any engine.

PostgreSQL's driver is imported only when a URL of it is opened: it is an extra, and the server with
a SQLite file does not need it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from emu.database.database import Database
from emu.database.sqlite import LOCK_WAIT, Schema, SqliteDatabase
from emu.database.steps import Migration
from emu.database.where import ServerUrl, Where
from emu.errors import StoreError

if TYPE_CHECKING:
    from emu.database.postgresql import PostgresqlDatabase
    from emu.database.postgresql.report import ServerReport


@dataclass(frozen=True, slots=True)
class Schemas:
    """One schema for every engine."""

    sqlite: Schema
    postgresql: Sequence[Migration]


def open_database(where: Where, schemas: Schemas, *, wait: float = LOCK_WAIT) -> Database:
    """Open an existing database. A SQLite file with an older schema is migrated.

    `wait` is how many seconds to wait for another program's lock. Raises `StoreError`, also for a
    server's database whose schema is older: `emu database upgrade` migrates it.
    """
    if isinstance(where, ServerUrl):
        return _server(where).open(where, schemas.postgresql, wait=wait)
    return SqliteDatabase.open(where, schemas.sqlite, wait=wait)


def open_for_reading(where: Where, schemas: Schemas, *, wait: float = LOCK_WAIT) -> Database:
    """Open an existing database for reading; writes of other programs do not block it."""
    if isinstance(where, ServerUrl):
        return _server(where).open(where, schemas.postgresql, wait=wait, is_for_reading=True)
    return SqliteDatabase.open_for_reading(where, schemas.sqlite, wait=wait)


def create_database(where: Where, schemas: Schemas, *, wait: float = LOCK_WAIT) -> Database:
    """Open a database; create the file, or the tables on a server, if they are missing."""
    if isinstance(where, ServerUrl):
        return _server(where).create(where, schemas.postgresql, wait=wait)
    return SqliteDatabase.create(where, schemas.sqlite, wait=wait)


def upgrade_database(where: Where, schemas: Schemas) -> list[int]:
    """Apply all missing migrations, and return their numbers. Raises `StoreError`."""
    if isinstance(where, ServerUrl):
        return _server(where).upgrade(where, schemas.postgresql)
    with SqliteDatabase.connect(where) as before:
        present = schemas.sqlite.version(before.connection)
    SqliteDatabase.open(where, schemas.sqlite).close()
    return [step.number for step in schemas.sqlite.steps if step.number > present]


def read_server(
    where: ServerUrl,
    schemas: Schemas,
    moment: Callable[[], float],
    steady: Callable[[], float],
) -> ServerReport:
    """Return what an operator wants to know of a server. Raises `StoreError`."""
    _server(where)
    from emu.database.postgresql.report import read_report  # noqa: PLC0415  # an extra

    return read_report(where, schemas.postgresql, moment, steady)


def check_server(where: ServerUrl, schemas: Schemas) -> None:
    """Raise `StoreError` if a server cannot start with this database; it may have no tables."""
    _server(where).check(where, schemas.postgresql)


def exists(where: Where) -> bool:
    """Return whether a SQLite file exists; a database on a server counts as existing."""
    return not isinstance(where, Path) or where.exists()


def _server(where: ServerUrl) -> type[PostgresqlDatabase]:
    if find_spec("psycopg") is None:
        raise StoreError(
            f"{where}: this needs PostgreSQL's driver; install it with:"
            ' pip install "eq2emu[cluster]"'
        )
    from emu.database.postgresql import PostgresqlDatabase  # noqa: PLC0415  # an extra

    return PostgresqlDatabase
