"""Opcode tables in a file of their own or beside others: made, refused, never half done."""

from __future__ import annotations

import contextlib
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from emu.database import Migration
from emu.database.sqlite import Schema
from emu.errors import StoreError
from emu.opcodes import OpcodeStore
from emu.opcodes.store import connect, schema


def with_step(monkeypatch: pytest.MonkeyPatch, sql: str) -> Schema:
    """Let the program have one step more."""
    steps = [*schema().steps, Migration(schema().newest + 1, "more", sql)]
    longer = replace(schema(), steps=steps)
    monkeypatch.setattr("emu.opcodes.store.schema", lambda: longer)
    return longer


@pytest.mark.slow
def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "emu.sqlite"
    OpcodeStore.ensure(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_no_file_is_made_unasked(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such database"):
        OpcodeStore(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_schema_is_made_once_and_the_file_s_own_number_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 7")
    with connect(path) as database:
        assert schema().version(database.connection) == 0
    for _ in range(2):
        OpcodeStore(path).close()
        with connect(path) as database:
            assert schema().version(database.connection) == schema().newest
            assert database.connection.execute("PRAGMA user_version").fetchone()[0] == 7
            assert database.connection.execute("PRAGMA application_id").fetchone()[0] == 0


def test_a_step_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "emu.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE mine (a)")
    with_step(monkeypatch, "CREATE TABLE more (a);\nCREATE TABLE opcodes (b);\n")
    with pytest.raises(StoreError, match="already exists"):
        OpcodeStore(path)
    with connect(path) as database:
        assert database.tables.table_names() == ["mine"]


@pytest.mark.slow
def test_later_steps_are_applied_to_older_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "emu.sqlite"
    with OpcodeStore.ensure(path) as store:
        before = store.rows()
    longer = with_step(monkeypatch, "ALTER TABLE opcodes ADD COLUMN more TEXT;\n")
    with OpcodeStore(path) as store:
        assert store.rows() == before
    with connect(path) as database:
        assert longer.version(database.connection) == longer.newest
        assert "more" in database.tables.table("opcodes").columns_dict


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_lock_is_reported_as_one(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    OpcodeStore.ensure(path).close()
    with (
        connect(path) as holder,
        connect(path, wait=0.05) as waiter,
        holder.transaction(),
        pytest.raises(StoreError, match="is locked by another program"),
        waiter.transaction(),
    ):
        pass
