from pathlib import Path

import pytest

from emu.errors import FileFormatError
from emu.sqldump import Dump, ImportReport
from emu.world.actors.spawn import Destination
from emu.world.content.atlas import read_atlas
from emu.world.content.eq2emu import TABLES
from emu.world.content.eq2emu_import import import_world
from emu.world_stream.movement import Position
from tests.support.files.recordings import DUMPS, needs_dumps
from tests.support.world.world_dumps import SPAWNS, WHOLE, ZONES, world_dump
from tests.support.world.zone_files import write_zones, zone_text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "zones"


def counts(report: ImportReport) -> dict[str, tuple[int, int, int, int]]:
    return {
        table: (tally.read, tally.added, tally.present, tally.skipped)
        for table, tally in report.tables.items()
        if tally.read
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


BROUGHT = {
    "zones": (2, 2), "starting_zones": (2, 2), "spawn": (5, 4), "spawn_npcs": (2, 1),
    "spawn_objects": (1, 1), "spawn_signs": (3, 2), "spawn_widgets": (1, 1),
    "spawn_location_entry": (6, 5), "spawn_location_placement": (7, 5), "entity_commands": (2, 2),
    "transporters": (2, 1), "npc_appearance": (2, 2),
}  # fmt: skip
"""Table -> rows of the dump, and how many of them are brought."""


def test_a_world_is_brought_and_counted(tmp_path: Path, folder: Path) -> None:
    report = import_world([world_dump(tmp_path)], folder)
    assert counts(report) == {
        table: (rows, brought, 0, rows - brought) for table, (rows, brought) in BROUGHT.items()
    }
    assert sorted(contents(folder)) == ["00900-mine.toml", "00901-other-s.toml", "starts.toml"]
    atlas = read_atlas(folder)
    zone = atlas.get(901)
    assert zone is not None
    assert (zone.description, zone.motd, zone.underworld) == ('The "Other"', "Mind the gap.", -50.5)
    standing = {fixture.name: fixture for fixture in atlas.fixtures(900)}
    assert set(standing) == {"Ann", "a crate", "a post", "a door"}
    assert standing["a post"].destination == Destination(901, Position(4.0, 5.0, 6.0, 180.0))


def test_what_is_not_brought_is_named(tmp_path: Path, folder: Path) -> None:
    notes = "\n".join(import_world([world_dump(tmp_path)], folder).notes)
    for reported in (
        "spawn_signs 9010002 was left out: the dump has no place for it",
        "spawn_npcs 9000005 was left out: the dump has no place for it",
        "spawn_location_placement 6 was left out: it has no spawn",
        "spawn_location_placement 7 was left out: zone 12345 is not in the dump",
        "1 places have several spawns: the most probable",
        "transporter 55: the first of 2 destinations was taken",
    ):
        assert reported in notes


def test_a_second_time_changes_nothing(tmp_path: Path, folder: Path) -> None:
    dump = world_dump(tmp_path)
    first = import_world([dump], folder)
    before = contents(folder)
    second = import_world([dump], folder)
    assert contents(folder) == before
    assert (second.added, second.present) == (0, first.added)
    assert second.left_out == first.left_out


def test_a_dry_run_reports_the_same_and_writes_nothing(tmp_path: Path, folder: Path) -> None:
    dump = world_dump(tmp_path)
    tried = import_world([dump], folder, dry_run=True)
    assert not folder.exists()
    assert counts(import_world([dump], folder)) == counts(tried)


def test_a_dump_that_changed_changes_its_files_only(tmp_path: Path, folder: Path) -> None:
    import_world([world_dump(tmp_path)], folder)
    before = contents(folder)
    report = import_world([world_dump(tmp_path, WHOLE.replace("Mind", "Leap"))], folder)
    changed = {name for name, text in contents(folder).items() if before[name] != text}
    assert changed == {"00901-other-s.toml"}
    assert report.tables["zones"].added == report.tables["zones"].present == 1


def test_what_was_changed_by_hand_stays_unless_it_is_to_be_replaced(
    tmp_path: Path, folder: Path
) -> None:
    dump = world_dump(tmp_path)
    import_world([dump], folder)
    file = folder / "00900-mine.toml"
    ours = file.read_text(encoding="utf-8").replace("The Mine", "Our Mine")
    file.write_text(ours, encoding="utf-8")
    report = import_world([dump], folder)
    assert file.read_text(encoding="utf-8") == ours
    assert report.tables["zones"].skipped == 1
    assert "was changed by hand and was kept" in "\n".join(report.notes)
    import_world([dump], folder, replace=True)
    assert "Our Mine" not in file.read_text(encoding="utf-8")


def test_a_zone_that_a_file_of_ones_own_describes_is_left_alone(
    tmp_path: Path, folder: Path
) -> None:
    write_zones(folder, mine=zone_text(900, "Own"))
    report = import_world([world_dump(tmp_path)], folder)
    assert "mine.toml has zone 900" in "\n".join(report.notes)
    zone = read_atlas(folder).get(900)
    assert zone is not None
    assert zone.name == "Own"


def test_a_database_may_come_in_a_file_a_table(tmp_path: Path, folder: Path) -> None:
    whole = import_world([world_dump(tmp_path, ZONES + SPAWNS)], tmp_path / "whole")
    dumps = [world_dump(tmp_path, SPAWNS, "b.sql"), world_dump(tmp_path, ZONES, "a.sql")]
    assert counts(import_world(dumps, folder)) == counts(whole)
    assert contents(folder) == contents(tmp_path / "whole")


def test_a_dump_that_is_cut_short_changes_nothing(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(FileFormatError, match="line"):
        import_world([world_dump(tmp_path, ZONES + "INSERT INTO spawn VALUES ('a")], folder)
    assert not folder.exists()


def test_rows_that_cannot_be_read_are_named_and_the_others_brought(
    tmp_path: Path, folder: Path
) -> None:
    wrong = "INSERT INTO zones (id, name) VALUES ('x', 'y');"
    report = import_world([world_dump(tmp_path, ZONES + wrong)], folder)
    assert counts(report) == {"zones": (3, 2, 0, 1)}
    assert "id is no number: 'x'" in "\n".join(report.notes)


def test_progress_is_reported(tmp_path: Path, folder: Path) -> None:
    reported: list[str] = []
    import_world(
        [world_dump(tmp_path)], folder, progress=lambda doing, _rows: reported.append(doing)
    )
    assert "writing" in reported


@pytest.mark.slow
@needs_dumps
def test_the_real_dumps(folder: Path) -> None:
    dumps = [
        Dump(DUMPS / f"world-{table}.sql.gz")
        for table in TABLES
        if (DUMPS / f"world-{table}.sql.gz").exists()
    ]
    report = import_world(dumps, folder)
    assert report.tables["zones"].added > 800
    assert report.tables["starting_zones"].skipped == 0
    assert report.tables["spawn_signs"].added > 1800
    assert report.tables["spawn_widgets"].added > 5300
    assert len(read_atlas(folder)) == report.tables["zones"].added
    assert import_world(dumps, folder).added == 0
