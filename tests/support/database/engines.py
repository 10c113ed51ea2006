"""PostgreSQL for tests: an installed server, or one from PyPI; a database of its own for each test.

The installed server is 127.0.0.1:5432, or `EMU_POSTGRESQL`. Without one, the package `pgserver`
brings one along. Without either, the tests that need it are skipped and say so.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from emu.database import ServerUrl
from emu.errors import StoreError
from emu.store import Store

INSTALLED = "postgresql://postgres@127.0.0.1:5432/postgres"


def connect(where: ServerUrl) -> Any:
    """Connect with the driver itself, in autocommit mode."""
    import psycopg  # noqa: PLC0415  # an extra

    given = {"host": where.host, "user": where.user, "dbname": where.database}
    return psycopg.connect(
        **{**given, "port": where.port or "5432"},  # type: ignore[arg-type]  # libpq takes texts
        password=where.password or None, connect_timeout=2, autocommit=True,
    )  # fmt: skip


def run(where: ServerUrl, sql: str) -> list[Any]:
    """Carry out a statement, and return its rows."""
    with closing(connect(where)) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


@cache
def server() -> tuple[ServerUrl | None, str]:
    """Return a server's URL, or None with the reason."""
    if find_spec("psycopg") is None:
        return None, "psycopg is not installed"
    where = ServerUrl.parse(os.environ.get("EMU_POSTGRESQL") or INSTALLED)
    try:
        run(where, "SELECT 1")
    except Exception as error:  # noqa: BLE001  # whatever: there is none
        if find_spec("pgserver") is None:
            return None, f"no PostgreSQL at {where} and no package pgserver: {error}"[:200]
        pgserver: Any = import_module("pgserver")

        folder = tempfile.TemporaryDirectory(prefix="emu-pg-")
        running = pgserver.get_server(folder.name)
        atexit.register(folder.cleanup)
        atexit.register(running.cleanup)
        where = ServerUrl.parse(running.get_uri())
    return where, ""


def postgresql() -> ServerUrl:
    """Return the URL of a server; skip the test without one."""
    where, reason = server()
    if where is None:
        pytest.skip(reason)
    return where


_numbers = iter(range(1_000_000))


@contextmanager
def empty_database() -> Iterator[ServerUrl]:
    """Make a database without tables; drop it afterwards, with its connections."""
    where = postgresql()
    name = f"emu_test_{os.getpid()}_{next(_numbers)}"
    run(where, f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
    try:
        yield replace(where, database=name)
    finally:
        run(where, f"DROP DATABASE {name} WITH (FORCE)")


@cache
def shared_database() -> tuple[ServerUrl, Any, str]:
    """Return a database that all tests of this process share, and how to empty its tables."""
    made = empty_database()
    where = made.__enter__()
    atexit.register(made.__exit__, None, None, None)
    Store.create(where).close()
    connection = connect(where)
    # Neither waits for the disk, nor for the foreign keys of the other tables. Stores wait for the
    # disk: tests count round trips, and a commit that is answered at once would make two of one.
    connection.execute("SET synchronous_commit = off; SET session_replication_role = replica")
    tables = connection.execute(
        "SELECT tablename FROM pg_tables"
        " WHERE schemaname = 'public' AND tablename <> 'schema_version'"
    ).fetchall()
    sequences = connection.execute("SELECT sequencename FROM pg_sequences").fetchall()
    # DELETE and not TRUNCATE, which takes half a second: it writes new files.
    statements = [f"DELETE FROM {name}" for (name,) in tables]
    statements += [f"SELECT setval('{name}', 1, false)" for (name,) in sequences]
    return where, connection, "; ".join(statements)


@contextmanager
def store_database() -> Iterator[ServerUrl]:
    """Return a database whose tables are empty, as those of a new one."""
    postgresql()
    where, connection, emptying = shared_database()
    connection.execute(emptying)
    yield where


@contextmanager
def postgresql_store() -> Iterator[Store]:
    """Open a store with nothing in it."""
    with store_database() as where, Store.open(where) as store:
        yield store


def refusal(where: ServerUrl) -> str:
    """Return why a database cannot be opened."""
    try:
        Store.open(where).close()
    except StoreError as error:
        return str(error)
    raise AssertionError(f"{where} was opened")
