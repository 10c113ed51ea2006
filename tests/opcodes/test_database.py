"""Opcode tables in a file of their own or beside others: made, refused, never half done."""

from __future__ import annotations

import contextlib
import sqlite3
import stat
from pathlib import Path

import pytest

from emu.errors import StoreError
from emu.opcodes import OpcodeStore, database
from emu.opcodes.database import connect, migrate, readable_errors, schema, steps, transaction


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "emu.sqlite"
    connect(path, create=True).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_file_is_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such database"):
        connect(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_the_schema_is_made_once_and_user_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    connection = connect(path, create=True)
    connection.execute("PRAGMA user_version = 7")
    assert schema(connection) == 0
    for _ in range(2):
        with transaction(connection, path):
            migrate(connection, path)
        assert schema(connection) == len(steps())
    assert connection.execute("PRAGMA user_version").fetchone() == (7,)
    connection.close()


def test_a_step_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = (*steps(), "CREATE TABLE more (a);\nCREATE TABLE opcodes (b);\n")
    monkeypatch.setattr(database, "steps", lambda: broken)
    path = tmp_path / "emu.sqlite"
    connection = connect(path, create=True)
    with pytest.raises(StoreError, match="already exists"), transaction(connection, path):
        migrate(connection, path)
    assert connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    connection.close()


def test_later_steps_are_applied_to_older_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "emu.sqlite"
    with OpcodeStore.ensure(path) as store:
        before = store.rows()
    more = (*steps(), "ALTER TABLE opcodes ADD COLUMN more TEXT;\n")
    monkeypatch.setattr(database, "steps", lambda: more)
    monkeypatch.setattr("emu.opcodes.store.steps", lambda: more)
    with OpcodeStore(path) as store:
        assert store.rows() == before
    connection = connect(path)
    assert schema(connection) == len(more)
    assert connection.execute("SELECT more FROM opcodes LIMIT 1").fetchone() == (None,)
    connection.close()


def test_tables_of_a_newer_program_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    OpcodeStore.ensure(path).close()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE opcode_meta SET value = 99 WHERE key = 'schema'")
    with pytest.raises(StoreError, match=r"newer version of this program .schema 99"):
        OpcodeStore(path)


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA application_id = 12345")
    with pytest.raises(StoreError, match="another program"):
        OpcodeStore(path)


def test_what_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, not a database " * 50)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a SQLite database"):
        OpcodeStore(path)
    assert path.read_bytes() == before


def test_a_lock_is_told_as_one(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    OpcodeStore.ensure(path).close()
    holder, waiter = connect(path), connect(path, wait=0.05)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="is locked by another program"), transaction(waiter, path):
        pass
    holder.close()
    waiter.close()


def test_a_folder_that_is_none_is_told() -> None:
    with pytest.raises(StoreError, match="cannot be used"), readable_errors(Path("x")):
        Path("/dev/null/x").mkdir()
