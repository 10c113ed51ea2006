"""Databases of a released schema are migrated with all their rows."""

import math
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.errors import StoreError
from emu.model import Color, Equipment
from emu.opcodes import OpcodeStore
from emu.opcodes.text import shipped_rows
from emu.store import Store
from emu.store.repository import schema
from emu.worlds import ZoneDescription
from tests.support.database.released import SCHEMA, released_database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return released_database(tmp_path / "emu.sqlite")


def objects(path: Path) -> list[tuple[str, str]]:
    """Return name and definition of everything in a schema, without the comments."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
            " AND tbl_name NOT LIKE 'opcode%' ORDER BY name"
        )
        return [(name, re.sub(r" *--[^\n]*", "", sql or "")) for name, sql in found]


def test_it_ends_as_a_fresh_database(path: Path, tmp_path: Path) -> None:
    Store.open(path).close()
    fresh = tmp_path / "fresh.sqlite"
    Store.create(fresh).close()
    assert objects(path) == objects(fresh)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert schema().version(connection) == schema().newest > SCHEMA


def test_what_the_login_server_kept_is_there(path: Path) -> None:
    with Store.open(path) as store:
        login = store.login
        alice, bob = login.accounts.every()
        assert (alice.name, alice.last_login, alice.last_address) == ("Alice", 2000.25, "192.0.2.7")
        assert (bob.banned_until, bob.ban_reason) == (math.inf, "rude")
        assert [ban.prefix for ban in login.bans.every()] == ["198.51.100"]
        (report,) = login.worlds.reports()
        assert (report.world.name, report.status, report.players) == ("Norrath", 1, 3)
        assert login.worlds.zones_of(1) == [ZoneDescription(12, "qey_north", "North Qeynos")]
        (ayla,) = login.characters.of_account(1)
        assert (ayla.name, ayla.level, ayla.client_version) == ("Ayla", 12, 546)
        assert ayla.appearance == {"race_type": 111, "body_size": -20}
        assert ayla.colors == {"hair_color1": Color(1, -2, 3, signed=True)}
        assert ayla.equipment == (Equipment(3, 900, (1, 2, 3), (4, 5, 6)),)
        assert [log.text for log in login.reports.client_logs()] == ["it broke"]
        assert [row["summary"] for row in login.reports.bug_reports()] == ["stuck"]


def test_what_the_world_kept_is_there_and_goes_on(path: Path) -> None:
    with Store.open(path) as store:
        (borvik,) = store.world.characters.of_account(1)
        assert (borvik.name, borvik.zone_id, borvik.place) == ("Borvik", 12, None)
        assert borvik.appearance == {"race_file": "ec/pc/human", "body_size": 12}
        store.world.characters.save_place(borvik.id, 12, (1.0, 2.0, 3.0, 4.0, 5))
        gone = [entry for entry in store.roster.every() if entry.deleted]
        assert [(entry.name, entry.deleted_at is not None) for entry in gone] == [("Gone", True)]
        assert store.login.accounts.add("Carol", "hash", 1.0).id == 3


def test_looking_at_it_is_enough(path: Path) -> None:
    with Store.open_for_reading(path) as store:
        assert len(store.roster.every()) == 3


def test_the_old_database_is_kept_beside_it(path: Path) -> None:
    before = objects(path)
    Store.open(path).close()
    copy = path.with_name(f"emu.sqlite.schema{SCHEMA}.bak")
    assert objects(copy) == before


@pytest.mark.slow
def test_opcodes_of_an_operator_s_own_stay_and_others_become_this_program_s(path: Path) -> None:
    for _ in range(2):
        Store.open(path).close()
        with OpcodeStore(path) as store:
            rows = {(row.first, row.last, row.name): row for row in store.rows()}
    assert rows[540, 546, "OP_KeymapLoadMsg"].opcode == 399
    assert rows[60000, 60010, "OP_MineMsg"].opcode == 77
    assert (540, 546, "OP_NoLongerShippedMsg") not in rows
    assert len(rows) == len(shipped_rows()) + 1


def test_a_program_that_is_older_than_the_file_says_so(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {schema().newest + 1}")
    with pytest.raises(StoreError, match="newer version of this program"):
        Store.open(path)
