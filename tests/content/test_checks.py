"""The checks of a content file: dangling references and values outside of their ranges."""

import sqlite3
from pathlib import Path

import pytest

from emu.content.checks import (
    LeftOut,
    accept,
    dangling_rows,
    loose_rows,
    missing_scripts,
    wrong_values,
)
from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from tests.support.content.dumps import meadow, write_dumps


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tables = meadow()
    tables["spawn_npc_spells"] = [{"id": 1, "spell_list_id": 5, "spell_id": 77, "spell_tier": 1}]
    target = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", tables)]), target)
    return target


def test_rows_lead_nowhere_only_where_the_other_table_has_rows(path: Path) -> None:
    with sqlite3.connect(path) as database:
        found = set(dangling_rows(database))
        assert LeftOut("entries", "their location has no placement", "77 26") in found
        assert not any(one.table == "npc_spells" for one in found)
        database.execute(_spell(database))
        found = set(dangling_rows(database))
        assert LeftOut("npc_spells", "its spell_id is not in spells", "5 1") in found


def _spell(database: sqlite3.Connection) -> str:
    columns = [row[1:3] for row in database.execute("PRAGMA table_info(spells)")]
    values = ("78" if name == "id" else "''" if kind == "TEXT" else "0" for name, kind in columns)
    return f"INSERT INTO spells VALUES ({', '.join(values)})"


def test_scripts_are_searched_by_their_names(path: Path) -> None:
    with sqlite3.connect(path) as database:
        found = list(missing_scripts(database, lambda name: name if "guard" in name else None))
    assert {one.key.rpartition("/")[2] for one in found} == {
        "captain.lua", "old.lua", "place.lua", "SpawnGroups.lua",
    }  # fmt: skip


def test_an_import_leaves_no_wrong_values_and_a_change_is_found(path: Path) -> None:
    assert wrong_values(path) == []
    with sqlite3.connect(path) as database:
        database.execute("UPDATE npcs SET difficulty = 200 WHERE spawn_id = 90001")
        database.execute("UPDATE zones SET can_gate = 7")
    assert wrong_values(path) == [
        LeftOut("zones", "can_gate is out of its range", "9"),
        LeftOut("npcs", "difficulty is out of its range", "90001"),
    ]


def test_a_file_of_another_version_is_accepted_once(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE checked SET form = form + 1")
    with ContentFile(path) as file:
        assert not file.is_checked
    accept(path)
    with ContentFile(path) as file:
        assert file.is_checked
    with pytest.raises(FileFormatError, match="cannot be written"):
        accept(path.with_name("missing.sqlite"))


def test_rows_of_which_something_is_missing_are_found(tmp_path: Path) -> None:
    tables = meadow()
    tables["spawn_ground"] = [
        {"id": 1, "spawn_id": 90001, "groundspawn_id": 0},
        {"id": 2, "spawn_id": 90002, "groundspawn_id": 6},
    ]
    tables["spells"] = [
        {"id": 1, "is_active": 1}, {"id": 2, "is_active": 1}, {"id": 3, "is_active": 0},
    ]  # fmt: skip
    tables["quest_details"] = [{"id": 4, "quest_id": 8, "type": "Reward", "subtype": "Faction"}]
    tables["spell_tiers"] = [{"id": 1, "spell_id": 2, "tier": 1}]
    path = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", tables)]), path)
    assert {
        LeftOut("spawns", "it is of no kind, so it never stands", "90004"),
        LeftOut("grounds", "it has no table of harvests", "90001"),
        LeftOut("signs", "it leads to no zone", "90003"),
        LeftOut("quest_details", "it names no faction", "8 4"),
        LeftOut("spells", "it is active and has no tier, so nobody can cast it", "1"),
    } == {one for one in loose_rows(path) if one.reason.startswith("it ")}
