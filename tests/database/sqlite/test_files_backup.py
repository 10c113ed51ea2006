"""A backup is a complete snapshot, only readable by its owner, and renamed only if it is valid."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from emu.database.sqlite.files import back_up
from emu.errors import StoreError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "emu.sqlite"
    with closing(sqlite3.connect(made)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE numbers (number INTEGER)")
        connection.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(5000)])
        connection.commit()
    return made


def numbers(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM numbers").fetchone()[0])


def test_what_another_program_has_not_committed_is_not_in_the_copy(path: Path) -> None:
    copy = path.with_name("copy")
    with closing(sqlite3.connect(path)) as writer, closing(sqlite3.connect(path)) as reader:
        writer.execute("INSERT INTO numbers VALUES (1)")
        writer.commit()  # in the WAL only
        writer.execute("INSERT INTO numbers VALUES (2)")
        back_up(reader, copy)
        writer.commit()
    assert numbers(copy) == 5001
    assert numbers(path) == 5002


def test_the_copy_is_one_file_and_its_owners_alone(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        back_up(connection, folder / "copy")
    assert [item.name for item in folder.iterdir()] == ["copy"]
    assert stat.S_IMODE((folder / "copy").stat().st_mode) == 0o600


def test_a_damaged_database_does_not_take_the_place_of_a_good_copy(path: Path) -> None:
    copy = path.with_name("copy")
    with closing(sqlite3.connect(path)) as connection:
        back_up(connection, copy)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    content[2 * 4096 : 4 * 4096] = b"\xff" * 8192
    path.write_bytes(content)
    with (
        closing(sqlite3.connect(path)) as connection,
        pytest.raises(StoreError, match="not written, the database is damaged"),
    ):
        back_up(connection, copy)
    assert numbers(copy) == 5000
    assert sorted(item.name for item in path.parent.iterdir() if item.name[0] == ".") == []


def test_a_folder_that_is_not_there_is_one_line(path: Path) -> None:
    copy = path.parent / "none" / "copy"
    with (
        closing(sqlite3.connect(path)) as connection,
        pytest.raises(StoreError, match=rf"^{copy}: .*") as caught,
    ):
        back_up(connection, copy)
    assert "\n" not in str(caught.value)
