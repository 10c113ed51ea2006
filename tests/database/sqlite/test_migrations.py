"""Migrations are applied once, in order, all or none."""

import sqlite3
from pathlib import Path

import pytest

from emu.database import Migration
from emu.database.sqlite.migrations import (
    APPLICATION_ID,
    Schema,
    in_user_version,
    migrate,
    split_statements,
)
from emu.errors import StoreError
from emu.store.repository import schema as store_schema

SCHEMA = store_schema()


def up_to(number: int) -> Schema:
    return in_user_version(SCHEMA.steps[:number])


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def schema(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    rows = connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name")
    return [(name, sql) for name, sql in rows]


def test_the_steps_are_numbered_without_a_gap() -> None:
    assert [step.number for step in SCHEMA.steps] == list(range(1, SCHEMA.newest + 1))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1, SCHEMA.newest))
def test_an_older_schema_ends_as_a_fresh_one_and_keeps_its_rows(tmp_path: Path, start: int) -> None:
    fresh = connect(tmp_path / "fresh.sqlite")
    migrate(fresh, SCHEMA)
    older = connect(tmp_path / "older.sqlite")
    migrate(older, up_to(start))
    older.execute("INSERT INTO accounts (name, name_key, password, created) VALUES ('A','a','',1)")

    applied = migrate(older, SCHEMA)

    assert applied == list(range(start + 1, SCHEMA.newest + 1))
    assert schema(older) == schema(fresh)
    assert older.execute("SELECT name FROM accounts").fetchall() == [("A",)]
    fresh.close()
    older.close()


def test_a_schema_that_is_up_to_date_is_left_alone(tmp_path: Path) -> None:
    connection = connect(tmp_path / "emu.sqlite")
    migrate(connection, SCHEMA)
    assert migrate(connection, SCHEMA) == []
    assert SCHEMA.version(connection) == SCHEMA.newest
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


def test_a_step_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    steps = (
        Migration(1, "good", "CREATE TABLE one (id INTEGER);"),
        Migration(2, "bad", "CREATE TABLE two (id INTEGER);\nINSERT INTO nowhere VALUES (1);"),
    )
    connection = connect(tmp_path / "emu.sqlite")
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(connection, in_user_version(steps))
    assert schema(connection) == []
    assert SCHEMA.version(connection) == 0
    assert not connection.in_transaction
    connection.close()


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    connection = connect(tmp_path / "emu.sqlite")
    connection.execute("PRAGMA user_version = 2")
    with pytest.raises(StoreError, match=r"newer version of this program .schema 2, this one kn"):
        up_to(1).check(connection, tmp_path)
    up_to(2).check(connection, tmp_path)
    assert not up_to(2).is_behind(connection)
    assert up_to(3).is_behind(connection)
    connection.close()


def test_tables_of_others_in_the_same_file_stay(tmp_path: Path) -> None:
    connection = connect(tmp_path / "emu.sqlite")
    connection.execute("CREATE TABLE opcodes (name TEXT)")
    connection.execute("INSERT INTO opcodes VALUES ('OP_LoginRequestMsg')")
    migrate(connection, SCHEMA)
    assert connection.execute("SELECT name FROM opcodes").fetchall() == [("OP_LoginRequestMsg",)]
    connection.close()


def test_every_table_says_what_a_row_means(tmp_path: Path) -> None:
    connection = connect(tmp_path / "emu.sqlite")
    migrate(connection, SCHEMA)
    tables = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL"
        " AND name NOT LIKE 'sqlite_%'"
    )
    for name, sql in tables.fetchall():
        assert "-- " in sql, f"{name} has no comment"
    connection.close()


def test_statements_are_split_where_they_end() -> None:
    table = "-- a; comment\nCREATE TABLE a (\n  b TEXT -- one; two\n);\n"
    sql = table + "\nINSERT INTO a VALUES (';');\n-- end\n"
    parts = list(split_statements(sql))
    assert len(parts) == 2
    assert parts[1] == "INSERT INTO a VALUES (';');"


def test_a_statement_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="does not end"):
        list(split_statements("CREATE TABLE a (b TEXT)\n"))


def test_what_was_deleted_before_its_moment_was_kept_counts_from_the_migration(
    tmp_path: Path,
) -> None:
    connection = connect(tmp_path / "emu.sqlite")
    migrate(connection, up_to(5))
    columns = (
        "account_id, name, name_key, race, class, gender, deity, level, starting_zone, zone_id,"
        " client_version, created, deleted"
    )
    for name, deleted in (("A", 0), ("B", 1)):
        connection.execute(
            f"INSERT INTO world_characters ({columns})"
            " VALUES (1, ?, ?, 1, 1, 1, 1, 1, 1, 1, 546, 1, ?)",
            (name, name, deleted),
        )
    migrate(connection, SCHEMA)
    found = connection.execute(
        "SELECT name, abs(deleted_at - unixepoch('now')) < 60 FROM world_characters ORDER BY name"
    )
    assert found.fetchall() == [("A", None), ("B", 1)]
    connection.close()


def test_two_programs_that_migrate_at_once_apply_each_step_once(tmp_path: Path) -> None:
    first, second = (connect(tmp_path / "emu.sqlite") for _ in range(2))
    second.execute("PRAGMA busy_timeout = 0")
    steps = in_user_version([Migration(1, "one", "CREATE TABLE one (id INTEGER);")])
    locked: list[bool] = []

    def look(statement: str) -> None:
        if statement.startswith("PRAGMA user_version") and not locked:
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                migrate(second, steps)
            locked.append(True)

    first.set_trace_callback(look)
    assert migrate(first, steps) == [1]
    first.set_trace_callback(None)
    assert locked, "the version is read under the write lock"
    assert migrate(second, steps) == []
    first.close()
    second.close()
