"""Reading a content file zone by zone."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from emu.content.file import ContentFile, Group, ZoneContent, zone_of
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from tests.support.content.dumps import meadow, write_dumps


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("content")
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", meadow())]), target)
    return target


@pytest.fixture
def zone(path: Path) -> ZoneContent:
    content = zone_of(path, 9)
    assert content is not None
    return content


def test_a_zone_has_its_places_with_their_entries(zone: ZoneContent) -> None:
    assert zone.zone["description"] == "A Meadow"
    assert [one.id for one in zone.placements] == [11, 12, 13, 14, 15]
    first = zone.placements[0]
    assert (first.x, first.y, first.z, first.respawn) == (10.25, -1.5, 3.0, 300)
    entries = {place: [one.id for one in found] for place, found in zone.entries.items()}
    assert entries == {1: [21, 22], 3: [23], 4: [24], 5: [25]}


def test_a_script_of_the_entry_wins_then_of_the_place_then_of_the_spawn(zone: ZoneContent) -> None:
    scripts = {one.id: one.script for entries in zone.entries.values() for one in entries}
    assert scripts == {
        21: "SpawnScripts/meadow/guard.lua",
        22: "SpawnScripts/meadow/captain.lua",
        23: "SpawnScripts/meadow/place.lua",
        24: "",
        25: "",
    }


def test_templates_have_their_kind_appearance_and_equipment(zone: ZoneContent) -> None:
    assert {one.id: one.kind for one in zone.templates.values()} == {
        90001: "npcs", 90002: "npcs", 90003: "signs",
    }  # fmt: skip
    guard = zone.templates[90001]
    assert (guard.spawn["name"], guard.own["min_level"], guard.own["heroic"]) == ("a guard", 5, 0)
    assert guard.appearance == {"skin_color": (4, 5, 6)}
    assert [(row["slot"], row["model"]) for row in guard.equipment] == [(2, 4000)]
    assert zone.templates[90002].spawn["size"] == 32


def test_groups_that_exclude_each_other_share_a_set(zone: ZoneContent) -> None:
    assert zone.groups == [Group(31, 31, 50.0, (13,)), Group(32, 31, 10.0, (14,), 10.0)]


def test_travel_areas_and_commands_belong_to_the_zone(zone: ZoneContent) -> None:
    assert [row["kind"] for row in zone.transporters[3]] == ["zone"]
    assert [row["radius"] for row in zone.triggers] == [10.0]
    assert [row["x"] for row in zone.revive_points] == [2.0]
    ((area, points),) = zone.areas
    assert (area["name"], [point["z"] for point in points]) == ("The Pond", [3.0])
    assert [row["command"] for row in zone.commands[9]] == ["hail"]


def test_a_zone_that_is_not_there_is_none(path: Path) -> None:
    assert zone_of(path, 10) is None


def test_a_file_has_a_digest_of_what_is_served(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "content.sqlite"
    tables = {"zones": [{"id": 10, "name": "other"}]}
    import_content(dump_parts([write_dumps(tmp_path / "dumps", tables)]), other)
    with ContentFile(path) as one, ContentFile(other) as two:
        assert one.digest() != two.digest()
        assert len(one.digest()) == 16
    again = tmp_path / "again.sqlite"
    import_content(dump_parts([tmp_path / "dumps"]), again, moment="another day")
    with ContentFile(other) as two, ContentFile(again) as three:
        assert two.digest() == three.digest()
    with closing(sqlite3.connect(again)) as database, database:
        database.execute("UPDATE zones SET description = 'changed by hand'")
    with ContentFile(other) as two, ContentFile(again) as three:
        assert two.digest() != three.digest()


def test_another_file_is_refused_with_the_cure(path: Path, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no usable content file"):
        ContentFile(tmp_path / "missing.sqlite")
    sqlite3.connect(tmp_path / "other.sqlite").executescript("CREATE TABLE t (x)").close()
    with pytest.raises(FileFormatError, match="emu content import"):
        ContentFile(tmp_path / "other.sqlite")
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(path.read_bytes())
    with sqlite3.connect(copy) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(FileFormatError, match="make it anew"):
        ContentFile(copy)
