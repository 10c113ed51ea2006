"""Opcode tables with something missing, and none at all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.cli.doctor.findings import Finding, Level
from emu.cli.doctor.opcodes import check_opcodes, judge_rows, stored_rows
from emu.opcodes import OpcodeRow, OpcodeStore
from emu.opcodes.text import shipped_rows
from tests.support.database.released import released_database


def troubles(rows: list[OpcodeRow]) -> list[Finding]:
    return [one for one in judge_rows(rows) if one.level is not Level.OK]


@pytest.mark.slow
def test_those_that_ship_are_well(tmp_path: Path) -> None:
    assert troubles(list(shipped_rows())) == []
    assert all(one.level is Level.OK for one in check_opcodes(tmp_path / "none.sqlite"))


@pytest.mark.parametrize(("version", "level"), [(546, Level.FAIL), (1096, Level.WARN)])
def test_a_message_that_clients_lost_is_found(version: int, level: Level) -> None:
    rows = [
        row
        for row in shipped_rows()
        if row.name != "OP_LoginReplyMsg" or not row.first <= version <= row.last
    ]
    (bad,) = troubles(rows)
    assert bad.level is level
    assert "OP_LoginReplyMsg" in bad.what


def test_no_tables_and_none_for_the_client_are_found() -> None:
    assert [one.level for one in troubles([])] == [Level.FAIL]
    old = [row for row in shipped_rows() if row.last < 546]
    assert any(
        "no range covers client 546" in one.what and one.level is Level.FAIL
        for one in troubles(old)
    )


def test_contradictions_are_reported() -> None:
    rows = [*shipped_rows(), OpcodeRow(545, 560, "OP_LoginReplyMsg", 1, "", "")]
    assert any("contradictions" in one.what for one in troubles(rows))


@pytest.mark.slow
def test_the_database_s_own_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    OpcodeStore.ensure(path).close()
    assert len(stored_rows(path) or ()) == len(shipped_rows())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM opcodes")
    (bad,) = check_opcodes(path)
    assert (bad.level, bad.what) == (Level.FAIL, "the tables are empty")


@pytest.mark.slow
def test_a_value_of_a_wrong_kind_is_found(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    OpcodeStore.ensure(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE opcodes SET source = x'00' WHERE id = 1")
    (bad,) = check_opcodes(path)
    assert bad.level is Level.FAIL
    assert "wrong type" in bad.what


def test_tables_of_an_older_program_are_left_alone(tmp_path: Path) -> None:
    path = released_database(tmp_path / "emu.sqlite")
    before = path.read_bytes()
    list(check_opcodes(path))
    assert path.read_bytes() == before
