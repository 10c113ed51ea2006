"""A database file is complete, or refused with one line that names it."""

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from emu.database import Migration
from emu.database.sqlite import Schema, in_user_version
from emu.database.sqlite.files import create_database, open_database, open_for_reading
from emu.errors import StoreError
from emu.opcodes import OpcodeStore
from emu.store import Store
from emu.store.repository import schema

SCHEMA = schema()
OLDER = in_user_version(SCHEMA.steps[:2])


def with_steps(*steps: Migration) -> Schema:
    return in_user_version(steps)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "state" / "emu.sqlite"
    assert create_database(made, SCHEMA)
    return made


def refusal(path: Path, **options: float) -> str:
    with pytest.raises(StoreError) as caught:
        open_database(path, SCHEMA, **options)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{path}: ")
    return text


def test_a_fresh_database_has_the_whole_schema_and_only_its_owner_reads_it(path: Path) -> None:
    with closing(open_database(path, SCHEMA)) as connection:
        assert SCHEMA.version(connection) == SCHEMA.newest
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 1, "NORMAL"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [item.name for item in path.parent.iterdir()] == ["emu.sqlite"]


def test_an_existing_file_is_never_replaced(path: Path) -> None:
    before = path.read_bytes()
    assert not create_database(path, SCHEMA)
    assert path.read_bytes() == before


def test_a_creation_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such table"):
        create_database(
            tmp_path / "emu.sqlite", with_steps(Migration(1, "bad", "INSERT INTO no VALUES (1);"))
        )
    assert list(tmp_path.iterdir()) == []


def test_a_missing_database_is_not_made_by_opening(tmp_path: Path) -> None:
    assert "there is no such database" in refusal(tmp_path / "emu.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_newer_schema_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA.newest + 1}")
    assert "newer version of this program (schema " in refusal(path)


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 77")
        connection.execute("CREATE TABLE accounts (x)")
    before = path.read_bytes()
    assert "another program" in refusal(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE customers (id INTEGER)", "PRAGMA user_version = -5"]
)
def test_a_database_without_an_application_id_is_refused(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    before = path.read_bytes()
    assert "another program" in refusal(path)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_file_of_opcodes_takes_the_other_tables_in(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    OpcodeStore.ensure(path).close()
    Store.open(path).close()


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database at all" * 400)


def torn(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def scribbled(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[4096 : 4096 * 6] = b"\xa5" * (4096 * 5)
    path.write_bytes(bytes(whole))


@pytest.mark.parametrize("spoil", [garbage, torn, scribbled])
def test_a_damaged_file_is_refused_and_left_as_it_is(
    path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(path)
    before = path.read_bytes()
    assert "damaged or not a SQLite database" in refusal(path)
    assert path.read_bytes() == before


def test_a_file_is_checked_again_when_it_has_changed(path: Path) -> None:
    open_database(path, schema()).close()
    first = path.stat()
    scribbled(path)
    os.utime(path, ns=(first.st_atime_ns, first.st_mtime_ns))
    # A server opens its database several times when it starts, and checks it once.
    open_database(path, schema()).close()
    os.utime(path, ns=(first.st_atime_ns, first.st_mtime_ns + 1))
    assert "damaged or not a SQLite database" in refusal(path)
    assert "damaged or not a SQLite database" in refusal(path)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    assert "cannot be opened" in refusal(tmp_path)


def test_a_place_where_nothing_can_be_written_is_named() -> None:
    path = Path("/proc/emu/emu.sqlite")
    with pytest.raises(StoreError, match=r"/proc/emu/emu\.sqlite: cannot be used .*\[database\]"):
        create_database(path, SCHEMA)


def test_a_locked_database_is_named_after_the_wait(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "locked by another program" in refusal(path, wait=0.05)


def test_an_older_database_is_backed_up_and_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    create_database(path, OLDER)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO accounts (name, name_key, password, created) VALUES ('A', 'a', '', 1)"
        )
    open_database(path, SCHEMA).close()
    with closing(open_database(path, SCHEMA)) as connection:
        assert SCHEMA.version(connection) == SCHEMA.newest
    copy = tmp_path / "emu.sqlite.schema2.bak"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        assert SCHEMA.version(connection) == 2
        assert connection.execute("SELECT name FROM accounts").fetchall() == [("A",)]
    assert sorted(item.name for item in tmp_path.iterdir()) == ["emu.sqlite", copy.name]


def test_a_migration_that_fails_leaves_the_older_database(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    good = SCHEMA.steps[:1]
    create_database(path, with_steps(*good))
    with pytest.raises(StoreError, match="no such table"):
        open_database(path, with_steps(*good, Migration(2, "bad", "DELETE FROM nowhere;")))
    with closing(open_database(path, with_steps(*good))) as connection:
        assert SCHEMA.version(connection) == 1


def test_a_file_that_others_made_first_gets_our_tables_too(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE opcodes (name TEXT)")
    with closing(open_database(path, SCHEMA)) as connection:
        assert SCHEMA.version(connection) == SCHEMA.newest
        assert connection.execute("SELECT count(*) FROM opcodes").fetchone()[0] == 0


def test_looking_waits_for_no_writer_and_changes_nothing(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(open_for_reading(path, SCHEMA, wait=0.0)) as connection:
            assert connection.execute("SELECT count(*) FROM accounts").fetchone()[0] == 0
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                connection.execute("DELETE FROM accounts")


def test_looking_brings_an_older_schema_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    create_database(path, OLDER)
    with closing(open_for_reading(path, SCHEMA)) as connection:
        assert SCHEMA.version(connection) == SCHEMA.newest
        assert connection.execute("SELECT count(*) FROM client_logs").fetchone()[0] == 0


def test_looking_refuses_what_opening_refuses(tmp_path: Path, path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such database"):
        open_for_reading(tmp_path / "none.sqlite", SCHEMA)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    with pytest.raises(StoreError, match="newer version of this program"):
        open_for_reading(path, SCHEMA)


def test_a_file_system_without_hard_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    path = tmp_path / "emu.sqlite"
    assert create_database(path, SCHEMA)
    open_database(path, SCHEMA).close()
    assert [item.name for item in tmp_path.iterdir()] == ["emu.sqlite"]
