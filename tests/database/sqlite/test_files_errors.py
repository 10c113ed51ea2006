"""Errors of SQLite and the system become one line that names the file."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from emu.database.sqlite import explained, readable_errors
from emu.errors import DuplicateName, StoreError, StoreLocked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.sqlite"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0.0)) as opened:
        opened.execute("CREATE TABLE names (name TEXT UNIQUE, odd INTEGER CHECK (odd % 2))")
        yield opened


def test_constraint_failures_are_distinguished(path: Path, connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO names VALUES ('a', 1)")
    with pytest.raises(DuplicateName, match="is taken"), readable_errors(path):
        connection.execute("INSERT INTO names VALUES ('a', 1)")
    with pytest.raises(StoreError, match="refused a change"), readable_errors(path):
        connection.execute("INSERT INTO names VALUES ('b', 2)")


@pytest.mark.parametrize("value", ["\ud800", 1 << 64])
def test_what_sqlite_cannot_hold_is_one_line_too(
    path: Path, connection: sqlite3.Connection, value: object
) -> None:
    with pytest.raises(StoreError, match="a value cannot be stored"), readable_errors(path):
        connection.execute("SELECT ?", (value,))


def test_a_lock_has_a_type_of_its_own(path: Path, connection: sqlite3.Connection) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked, match="locked by another program"), readable_errors(path):
            connection.execute("BEGIN IMMEDIATE")


def test_what_the_system_says_names_the_setting(path: Path) -> None:
    line = str(explained(path, PermissionError(13, "Permission denied")))
    assert line.startswith(f"{path}: cannot be used (Permission denied); check [database] url")


def test_other_errors_pass_unchanged(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), readable_errors(path):
        raise ZeroDivisionError
