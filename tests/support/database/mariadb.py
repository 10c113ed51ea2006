"""A MariaDB server on this machine, with databases that live as long as a test."""

from __future__ import annotations

import functools
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pymysql
import pytest

from emu.sqldump.live import parse
from tests.support.files.eq2emu_players import Rows

SERVER = os.environ.get("EMU_MARIADB", "mysql://root@127.0.0.1")
"""A server on which tests may create databases and users."""


@functools.cache
def _fault() -> str:
    """Return why no database can be made; "" if one can."""
    try:
        with connected():
            return ""
    except pymysql.err.MySQLError as error:
        return f"no MariaDB server at {SERVER} (EMU_MARIADB): {error.args[-1]}"


def connected() -> Any:
    """Return a connection with all rights."""
    at = parse(f"{SERVER}/mysql")
    return pymysql.connect(
        user=at.user, password=at.password or "", host=at.host, port=at.port, autocommit=True
    )


def run(*statements: str) -> None:
    """Execute statements with all rights."""
    with connected() as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@contextmanager
def database(tables: Mapping[str, Rows] | None = None, *, engine: str = "InnoDB") -> Iterator[str]:
    """Make a database with tables of made-up rows; yields its URL. Skips where no server is."""
    if _fault():
        pytest.skip(_fault())
    name = f"emu_test_{secrets.token_hex(6)}"
    run(f"CREATE DATABASE {name} CHARACTER SET latin1")
    try:
        with connected() as connection, connection.cursor() as cursor:
            cursor.execute(f"USE {name}")
            for table, rows in (tables or {}).items():
                columns = rows[0] if rows else {"id": 0}
                kinds = ", ".join(f"`{one}` {_kind(value)}" for one, value in columns.items())
                cursor.execute(f"CREATE TABLE `{table}` ({kinds}) ENGINE={engine}")
                marks = ", ".join(["%s"] * len(columns))
                cursor.executemany(
                    f"INSERT INTO `{table}` VALUES ({marks})",
                    [tuple(row[column] for column in columns) for row in rows],
                )
        yield f"{SERVER}/{name}"
    finally:
        run(f"DROP DATABASE {name}")


def _kind(value: object) -> str:
    """Return the type of a column, as EQ2Emulator's tables have it for such a value."""
    if isinstance(value, int):
        return "BIGINT"
    if isinstance(value, float):
        return "FLOAT"
    if isinstance(value, str) and value[:2] == "20" and value[10:11] == " ":
        return "TIMESTAMP"
    return "VARCHAR(255)"
