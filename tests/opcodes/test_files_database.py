"""Opcode rows in a database of their own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from emu.errors import StoreError
from emu.opcodes import OpcodeRow
from emu.opcodes.files import HEAD, guess_format, read_database, read_rows, write_database
from tests.support.files.opcode_rows import ROWS


@pytest.mark.slow
@given(ROWS)
def test_a_database_reads_back(rows: list[OpcodeRow]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "opcodes.db"
        write_database(rows, path)
        assert guess_format(path.read_bytes()[:100]) == "sqlite"
        back = list(read_rows(path))
    assert sorted(row for _, row in back) == sorted(OpcodeRow(*row.cells) for row in rows)
    assert all(place == str(row.range) for place, row in back)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "opcodes.db"
    write_database([OpcodeRow(1, 2, "OP_A", 7, "seen", "here")], made)
    return made


def test_other_tools_find_the_table_with_its_columns(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT * FROM opcodes WHERE name = 'OP_A'")
        assert [column[0] for column in found.description] == [
            "first_version", "last_version", "name", "opcode", "source", "note",
        ]  # fmt: skip
        assert found.fetchall() == [(1, 2, "OP_A", 7, "seen", "here")]


def test_a_file_that_is_there_is_not_written_over(path: Path) -> None:
    with pytest.raises(StoreError, match=r"opcodes\.db"):
        write_database([], path)


def test_a_value_of_a_wrong_type_is_named_by_its_row(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE opcodes SET opcode = 'seven'")
        connection.commit()
    with pytest.raises(StoreError, match=r"row 1 .*column opcode holds text"):
        list(read_database(path))


def test_a_database_without_opcodes_and_what_only_begins_like_one(tmp_path: Path) -> None:
    empty, torn = tmp_path / "empty.db", tmp_path / "torn.db"
    with closing(sqlite3.connect(empty)) as connection:
        connection.execute("CREATE TABLE other (id)")
    torn.write_bytes(HEAD + bytes(500))
    for file in (empty, torn):
        with pytest.raises(StoreError, match=file.name):
            list(read_rows(file))
