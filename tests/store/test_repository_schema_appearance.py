"""Appearances of every schema that had them in tables of their own are in the rows afterwards."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from emu.database import Migration
from emu.database.sqlite.migrations import in_user_version, migrate
from emu.model import Color, Equipment
from emu.store import Store
from emu.store.repository import schema

STEP = 16
"""The step that converts them."""
FIRST = 4
"""The first schema that had both tables of characters."""
ROWS = """
INSERT INTO accounts (id, name, name_key, password, created) VALUES (1, 'A', 'a', '', 1);
INSERT INTO worlds (id, name, name_key, account, account_key, password)
VALUES (1, 'W', 'w', 'w', 'w', '');
INSERT INTO characters (id, account_id, world_id, char_id, name) VALUES
(1, 1, 1, 5, 'Ayla'), (2, 1, 1, 6, 'Bare');
INSERT INTO character_appearance VALUES (1, 'race_type', 111), (1, 'body_size', -20);
INSERT INTO character_colors VALUES (1, 'hair_color1', 1, -2, 3, 1), (1, 'eye_type', 9, 8, 7, 0);
INSERT INTO character_equipment VALUES
(1, 19, 5, 255, 255, 255, 255, 255, 255), (1, 3, 900, 1, 2, 3, 4, 5, 6);
INSERT INTO world_characters (id, account_id, name, name_key, race, class, gender, deity, level,
    starting_zone, zone_id, client_version, created)
VALUES (5, 1, 'Ayla', 'ayla', 5, 3, 1, 2, 1, 3, 12, 546, 1000.5),
    (6, 1, 'Bare', 'bare', 5, 3, 1, 2, 1, 3, 12, 546, 1000.5);
INSERT INTO world_character_appearance VALUES (5, 'race_file', 'ec/"pc"/human'),
    (5, 'body_size', 12), (5, 'size', 1.25);
INSERT INTO world_character_colors VALUES (5, 'skin_color', 250, 0, -1, 1);
"""
DAMAGED = """
INSERT INTO world_character_appearance VALUES (5, 'binary', x'ff00'), (5, 'infinite', 9e999),
    (5, 'bytes', CAST(x'ff' AS TEXT)), (5, 'large', 9223372036854775807);
"""


def older(path: Path, number: int, rows: str) -> None:
    """Make a database of an earlier schema."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, in_user_version(schema().steps[:number]))
        connection.executescript(rows)


@pytest.mark.parametrize("start", range(FIRST, STEP))
def test_appearances_are_kept(tmp_path: Path, start: int) -> None:
    path = tmp_path / "emu.sqlite"
    older(path, start, ROWS)
    with Store.open(path) as store:
        store.database.warn = pytest.fail
        listed, bare = store.login.characters.of_account(1)
        own, bare_own = store.world.characters.of_account(1)
    assert listed.appearance == {"race_type": 111, "body_size": -20}
    assert listed.colors == {
        "hair_color1": Color(1, -2, 3, signed=True),
        "eye_type": Color(9, 8, 7),
    }
    assert listed.equipment == (Equipment(3, 900, (1, 2, 3), (4, 5, 6)), Equipment(19, 5))
    assert own.appearance == {"race_file": 'ec/"pc"/human', "body_size": 12, "size": 1.25}
    assert own.colors == {"skin_color": Color(250, 0, -1, signed=True)}
    for one in (bare, bare_own):
        assert one == replace(one, appearance={}, colors={})


def test_damaged_values_block_nobody(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    older(path, STEP - 1, ROWS + DAMAGED)
    lines: list[str] = []
    with Store.open(path) as store:
        store.database.warn = lines.append
        own, _ = store.world.characters.of_account(1)
    assert own.appearance == {"race_file": 'ec/"pc"/human', "body_size": 12, "size": 1.25}
    assert len(lines) == 2, "bytes and large; the others are left out"


def test_a_migration_that_fails_later_leaves_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    older(path, STEP - 1, ROWS)
    wrong = Migration(STEP + 1, "wrong", "INSERT INTO nowhere VALUES (1);")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="nowhere"):
            migrate(connection, in_user_version((*schema().steps[:STEP], wrong)))
        count = connection.execute("SELECT count(*) FROM character_equipment").fetchone()[0]
        columns = [row[1] for row in connection.execute("PRAGMA table_info(characters)")]
    assert count == 2
    assert "appearance" not in columns
