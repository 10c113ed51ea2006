"""What differs between two content files, by key, column, table and zone."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from emu.content.difference import RowChange, changes, summary
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from tests.support.content.dumps import meadow, write_dumps

Tables = dict[str, list[dict[str, Any]]]


def make(folder: Path, tables: Tables) -> Path:
    folder.mkdir()
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", tables)]), target)
    return target


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return make(tmp_path / "old", meadow())


@pytest.fixture
def new(tmp_path: Path) -> Path:
    tables = meadow()
    placements = tables["spawn_location_placement"]
    placements[0] |= {"x": 11.5, "respawn": 60}
    placements[1]["id"] = 77
    tables["spawn_location_entry"][1]["spawnpercentage"] = 20
    tables["spawn"][0]["name"] = "a watchman"
    del tables["entity_commands"]
    return make(tmp_path / "new", tables)


def test_rows_are_new_gone_or_changed_in_some_columns(old: Path, new: Path) -> None:
    assert set(map(repr, changes(old, new))) == set(map(repr, [
        RowChange("placements", "new", (9, 77), 9, {}),
        RowChange("placements", "gone", (9, 12), 9, {}),
        RowChange("placements", "changed", (9, 11), 9,
                  {"x": (10.25, 11.5), "respawn": (300, 60)}),
        RowChange("entries", "changed", (1, 22), 9, {"weight": (14.0, 20.0)}),
        RowChange("spawns", "changed", (90001,), 0, {"name": ("a guard", "a watchman")}),
        RowChange("commands", "gone", (9, 1), 0, {}),
    ]))  # fmt: skip


def test_one_table_alone_can_be_compared(old: Path, new: Path) -> None:
    assert {change.table for change in changes(old, new, "entries")} == {"entries"}


def test_changes_are_counted_by_table_and_zone(old: Path, new: Path) -> None:
    sums = summary(changes(old, new))
    places = sums["placements", 9]
    assert dict(places.rows) == {"new": 1, "gone": 1, "changed": 1}
    assert dict(places.columns) == {"x": 1, "respawn": 1}
    assert dict(sums["commands", 0].rows) == {"gone": 1}


def test_the_same_dumps_are_not_compared(old: Path, tmp_path: Path) -> None:
    other = make(tmp_path / "other", meadow())
    assert list(changes(old, other)) == []
    with sqlite3.connect(other) as database:
        database.execute("UPDATE npcs SET min_level = 8 WHERE spawn_id = 90001")
    # The file says that it has the rows of the same dump.
    assert list(changes(old, other)) == []
    with sqlite3.connect(other) as database:
        database.execute("UPDATE imports SET digest = 'x' WHERE tables = 'npcs'")
    (change,) = changes(old, other)
    assert change == RowChange("npcs", "changed", (90001,), 0, {"min_level": (5, 8)})


def test_a_file_of_another_form_is_refused(old: Path, tmp_path: Path) -> None:
    (tmp_path / "other.sqlite").write_bytes(b"")
    with pytest.raises(FileFormatError, match="no content file"):
        list(changes(old, tmp_path / "other.sqlite"))
