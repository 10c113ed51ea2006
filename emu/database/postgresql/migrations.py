"""The version of the tables on a server, and the migrations of an empty or an older database.

The table ``schema_version`` has one row: the number of the newest migration, and the oldest number
whose programs can still use the tables. Releases only add columns and tables, so that nodes of two
versions can run side by side; what is not used any more goes a release later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from emu.database.postgresql.connection import ServerConnection
from emu.database.steps import Migration
from emu.database.where import ServerUrl
from emu.errors import StoreError

LOCK: Final = 0x65713265
"""Number of the advisory lock that a migration holds: the letters ``eq2e``."""
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS schema_version (number BIGINT NOT NULL, compatible BIGINT NOT NULL)"
)


class Version(NamedTuple):
    """The version of a database's tables."""

    number: int = 0
    """0 for a database without tables."""
    compatible: int = 0


def read_version(server: ServerConnection) -> Version:
    """Return the version of a database's tables. Raises `psycopg.Error`."""
    # Not to_regclass: within a transaction it does not see a table that another one has just made.
    present = server.execute(
        "SELECT 1 FROM pg_tables WHERE schemaname = ANY(current_schemas(false))"
        " AND tablename = 'schema_version'"
    )
    if present.fetchone() is None:
        return Version()
    row = server.execute("SELECT number, compatible FROM schema_version").fetchone()
    return Version() if row is None else Version(*row)


def check_schema(server: ServerConnection, where: ServerUrl, steps: Sequence[Migration]) -> Version:
    """Raise `StoreError` unless this program can use the tables; return their version."""
    found, newest = read_version(server), steps[-1].number
    if not found.number:
        raise StoreError(
            f"{where}: has no tables of this program; the server makes them when it starts, and so"
            " does `emu database upgrade`"
        )
    if newest < found.compatible:
        raise StoreError(
            f"{where}: was upgraded for a newer version of this program (schema {found.number},"
            f" which needs {found.compatible}; this one knows {newest}); upgrade the program"
        )
    if found.number < newest:
        raise StoreError(
            f"{where}: its tables are older (schema {found.number}) than this program (schema"
            f" {newest}); run `emu database upgrade`"
        )
    return found


def migrate(
    server: ServerConnection,
    where: ServerUrl,
    steps: Sequence[Migration],
    *,
    only_if_empty: bool = False,
) -> list[int]:
    """Apply all missing migrations or none, and return their numbers.

    With `only_if_empty`, do nothing to a database that has tables of any version. Two programs may
    call it at the same time: the second one waits and finds nothing missing. Raises `StoreError`
    and `psycopg.Error`.
    """
    if only_if_empty and read_version(server).number:
        return []
    _check_encoding(server, where)
    server.command("BEGIN")
    server.is_inside = True
    try:
        # Ends with the transaction. The version is read under it.
        server.execute("SELECT pg_advisory_xact_lock(?)", (LOCK,))
        applied = _apply_missing(server, steps, only_if_empty=only_if_empty)
        server.command("COMMIT")
    except BaseException:
        if server.in_transaction:
            server.command("ROLLBACK")
        raise
    finally:
        server.outside()
    return applied


def _apply_missing(
    server: ServerConnection, steps: Sequence[Migration], *, only_if_empty: bool
) -> list[int]:
    found = read_version(server)
    if only_if_empty and found.number:
        return []
    missing = [step for step in steps if step.number > found.number]
    if missing:
        server.command(_TABLE)
        for step in missing:
            server.command(step.sql)
            found = Version(step.number, max(found.compatible, step.compatible))
        server.command("DELETE FROM schema_version")
        server.execute("INSERT INTO schema_version VALUES (?, ?)", found)
    return [step.number for step in missing]


def _check_encoding(server: ServerConnection, where: ServerUrl) -> None:
    encoding = server.execute("SHOW server_encoding").fetchone()[0]
    if encoding != "UTF8":
        raise StoreError(
            f"{where}: its texts are {encoding}; create the database with ENCODING 'UTF8'"
        )
