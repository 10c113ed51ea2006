"""Databases that really are broken, old, new, or another's."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.cli.doctor.database import (
    LARGE_LOG,
    MEGABYTE,
    check_database,
    judge_log,
    judge_space,
    read_one,
)
from emu.cli.doctor.findings import Finding, Level
from emu.store import Store
from emu.store.identity import made_identity
from emu.store.repository import schema
from emu.store.spool import set_aside_path, spool_path, write_spool
from tests.support.database.released import SCHEMA, released_database
from tests.support.database.stores import saved_state
from tests.support.world.world_fakes import world_character


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Store.create(tmp_path / "emu.sqlite").close()
    return tmp_path / "emu.sqlite"


def troubles(path: Path) -> list[Finding]:
    return [
        one
        for one in check_database(path)
        if one.level is not Level.OK and " MB free " not in one.what
    ]


def run(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_whole_one_and_none_at_all_are_well(path: Path) -> None:
    assert troubles(path) == []
    assert troubles(path.with_name("none.sqlite")) == []
    assert not path.with_name("none.sqlite").exists()


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE customers (id INTEGER)", "PRAGMA user_version = -5"]
)
def test_the_database_of_another_program_is_found(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "other.sqlite"
    run(path, statement)
    assert "is the database of another program" in troubles(path)[-1].what


def test_a_name_that_would_mean_something_in_an_address_is_a_name(tmp_path: Path) -> None:
    path = tmp_path / "100%25 emu?#.sqlite"
    Store.create(path).close()
    assert read_one(path, "SELECT 1") == (1,)


def test_broken_pages_are_found(path: Path) -> None:
    with closing(Store.open(path)) as store:
        for number in range(400):
            store.login.accounts.add(f"account{number:04}", "x" * 200, 0.0)
    run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    pages = len(data) // 4096
    for page in range(pages // 2, pages):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(data)
    bad = troubles(path)
    assert [one.level for one in bad] == [Level.FAIL]
    assert "damaged" in bad[0].what
    assert "emu backup" in bad[0].fix


def test_a_file_of_something_else_is_found(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 300)
    (bad,) = troubles(path)
    assert (bad.level, "backup" in bad.fix) == (Level.FAIL, True)


def test_rows_with_a_missing_parent_are_found(path: Path) -> None:
    run(
        path, "PRAGMA foreign_keys = OFF", "CREATE TABLE up (id INTEGER PRIMARY KEY)",
        "CREATE TABLE down (up INTEGER REFERENCES up (id))", "INSERT INTO down VALUES (7)",
    )  # fmt: skip
    (bad,) = troubles(path)
    assert (bad.level, "missing parent: 1" in bad.what) == (Level.FAIL, True)


def test_an_older_schema_is_reported_and_left_as_it_is(tmp_path: Path) -> None:
    path = released_database(tmp_path / "emu.sqlite")
    before = path.read_bytes()
    (bad,) = troubles(path)
    assert bad.level is Level.WARN
    assert f"its schema is {SCHEMA}, this program's {schema().newest}" in bad.what
    assert path.read_bytes() == before


def test_a_newer_schema_is_found(path: Path) -> None:
    run(path, f"PRAGMA user_version = {schema().newest + 1}")
    (bad,) = troubles(path)
    assert (bad.level, "upgrade the program" in bad.fix) == (Level.FAIL, True)


def test_a_full_disk_is_judged_by_what_a_backup_needs() -> None:
    assert judge_space(500 * MEGABYTE, MEGABYTE).level is Level.OK
    assert judge_space(500 * MEGABYTE, 400 * MEGABYTE).level is Level.WARN
    assert judge_space(50 * MEGABYTE, MEGABYTE).level is Level.WARN
    assert judge_space(MEGABYTE, MEGABYTE).level is Level.FAIL


def test_a_log_that_nobody_folds_back_is_found() -> None:
    assert judge_log(LARGE_LOG - 1, 10).level is Level.OK
    assert judge_log(LARGE_LOG, 2 * LARGE_LOG).level is Level.OK
    assert judge_log(LARGE_LOG, 10).level is Level.WARN


def test_one_row_is_read_whatever_is_wrong(path: Path) -> None:
    assert read_one(path, "SELECT ? + 1", 6) == (7,)
    assert read_one(path, "SELECT 1 WHERE 0") is None
    assert read_one(path, "SELECT nonsense FROM nothing") is None
    assert read_one(path.with_name("none"), "SELECT 1") is None


def test_unsaved_players_of_this_database_and_of_another_one(path: Path) -> None:
    spool = spool_path(path)
    with Store.open(path) as store:
        own = made_identity(store)
    write_spool(spool, [saved_state(world_character(1, name="Borvik"))], own)
    (found,) = troubles(path)
    assert found.what == f"{spool}: players that the last stop could not save: Borvik"
    for other in ("another", ""):
        write_spool(spool, [saved_state(world_character(1, name="Borvik"))], other)
        (found,) = troubles(path)
        assert found.what == f"{spool}: players that another database could not save: Borvik"
        assert "beside its own database" in found.fix


def test_files_that_a_start_has_set_aside_are_named(path: Path) -> None:
    for why in ("damaged", "other"):
        set_aside_path(spool_path(path), why).write_text("x")
    assert [one.what.rpartition(" set aside as ")[2] for one in troubles(path)] == [
        "damaged", "another database's",
    ]  # fmt: skip
