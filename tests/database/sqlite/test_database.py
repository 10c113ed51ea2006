"""A change is stored completely or not at all: alone, in a group, and with other programs."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from emu.database import Migration
from emu.database.sqlite import SqliteDatabase, in_user_version
from emu.errors import DuplicateName, StoreError

SCHEMA = in_user_version([Migration(1, "names", "CREATE TABLE names (name TEXT PRIMARY KEY);")])


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with SqliteDatabase.create(tmp_path / "names.sqlite", SCHEMA) as opened:
        yield opened


def add(database: SqliteDatabase, name: str) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT INTO names VALUES (?)", (name,))


def names(database: SqliteDatabase) -> list[str]:
    found = database.connection.execute("SELECT name FROM names ORDER BY name")
    return [row["name"] for row in found]


def test_a_group_is_stored_whole(database: SqliteDatabase) -> None:
    with database.transaction():
        add(database, "a")
        add(database, "b")
    assert names(database) == ["a", "b"]


def test_a_savepoint_fails_alone_and_leaves_nothing(database: SqliteDatabase) -> None:
    statements: list[str] = []
    database.connection.set_trace_callback(statements.append)
    with database.transaction():
        add(database, "a")
        with pytest.raises(DuplicateName), database.transaction() as connection:  # noqa: PT012
            connection.execute("INSERT INTO names VALUES ('torn')")
            add(database, "a")
        add(database, "b")
    database.connection.set_trace_callback(None)
    assert names(database) == ["a", "b"]
    begun = [one for one in statements if one.startswith("SAVEPOINT")]
    ended = [one for one in statements if one.startswith("RELEASE")]
    assert len(begun) == len(ended) == 4, "a part that is not released stays open"


def test_a_group_that_fails_stores_nothing(database: SqliteDatabase) -> None:
    with pytest.raises(ZeroDivisionError), database.transaction():  # noqa: PT012
        add(database, "a")
        raise ZeroDivisionError
    add(database, "b")
    assert names(database) == ["b"]


def test_nothing_is_stored_by_itself_after_a_group_was_undone(database: SqliteDatabase) -> None:
    with (  # noqa: PT012
        pytest.raises(StoreError, match="undid this group"),
        database.transaction() as connection,
    ):
        add(database, "a")
        connection.execute("ROLLBACK")  # as SQLite does by itself when the disk is full
        add(database, "b")
    assert names(database) == []


def test_a_view_stays_the_same_while_others_write(database: SqliteDatabase) -> None:
    add(database, "a")
    with closing(sqlite3.connect(database.path)) as other, database.reading():
        assert names(database) == ["a"]
        with other:
            other.execute("DELETE FROM names")
        assert names(database) == ["a"]
        with database.reading():
            assert names(database) == ["a"], "a view within a view is the same view"
    assert names(database) == []


def test_a_copy_is_thrown_away(database: SqliteDatabase) -> None:
    add(database, "a")
    with database.trial() as copied:
        add(copied, "b")
        assert names(copied) == ["a", "b"]
        place = copied.path
    assert names(database) == ["a"]
    assert not place.parent.exists()


def test_sqlite_utils_works_inside_a_transaction(database: SqliteDatabase) -> None:
    table = database.tables.table("names")
    with pytest.raises(ZeroDivisionError), database.transaction():  # noqa: PT012
        table.upsert_all([{"name": "a"}, {"name": "b"}], pk="name")
        raise ZeroDivisionError
    assert names(database) == []
    with database.transaction():
        table.insert({"name": "c"})
        with pytest.raises(DuplicateName), database.transaction():
            table.insert_all([{"name": "d"}, {"name": "c"}])
    assert names(database) == ["c"]


def test_looking_changes_nothing_and_waits_for_nobody(database: SqliteDatabase) -> None:
    with SqliteDatabase.open_for_reading(database.path, SCHEMA, wait=0.0) as seen:
        with database.transaction():
            assert names(seen) == []
        with pytest.raises(StoreError, match="cannot be opened for writing"):
            add(seen, "a")


def test_connecting_takes_a_file_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with pytest.raises(StoreError, match="no such database"):
        SqliteDatabase.connect(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE names (name TEXT)")
    with SqliteDatabase.connect(path) as database:
        assert names(database) == []
        assert SCHEMA.version(database.connection) == 0
