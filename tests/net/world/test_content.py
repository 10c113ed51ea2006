"""The content of a running world: memories of spawns that are no longer in its files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest

from emu.config.world import WorldConfig
from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.population import Condition
from emu.content.sources import dump_parts
from emu.errors import FileFormatError, StoreError
from emu.ground.importing import import_maps
from emu.ground.map_folder import maps_folder
from emu.net.world.content import KEPT, ContentReader, WorldContent, warn_of_old_check
from emu.times import Moment, Monotonic
from emu.world.population.deaths import Deaths
from emu.world.population.listing import zone_definitions
from emu.world.population.reading import NO_LAYER
from emu.world.population.served import ContentZones
from emu.world.travel.tables import TravelTables, read_tables
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.content.dumps import meadow, write_dumps
from tests.support.coroutines import finish
from tests.support.ground.map_folders import write_maps
from tests.support.running.whole_server import captured_log
from tests.support.times import timetable
from tests.support.world.world_fakes import PlacementFactsInMemory, no_pause
from tests.support.world.worlds import WorldHarness, at_once

T = TypeVar("T")


class Reviewed:
    """Implements `emu.net.world.content.MemoryReview`."""

    def __init__(self, *rows: tuple[int, str, float | None]) -> None:
        self.rows = rows
        self.marked: list[tuple[int, str, float | None]] = []
        self.forgotten: list[tuple[int, str]] = []
        self.is_broken = False

    async def spawns(self) -> Sequence[tuple[int, str, Moment | None]]:
        if self.is_broken:
            raise StoreError("the disk is full")
        return [
            (zone_id, spawn, None if removed is None else Moment(removed))
            for zone_id, spawn, removed in self.rows
        ]

    async def mark_removed(self, zone_id: int, spawn: str, moment: Moment | None) -> None:
        self.marked.append((zone_id, spawn, moment))

    async def forget(self, zone_id: int, spawn: str) -> None:
        self.forgotten.append((zone_id, spawn))


class Source:
    """Implements `emu.net.world.content.ContentSource` without a thread and a content file."""

    async def run(self, call: Callable[[], T]) -> T:
        return call()

    async def reopen(self) -> None:
        pass

    async def stop(self) -> None:
        pass


def content(
    memories: Reviewed | None,
    path: Path | None = None,
    travel: Callable[[TravelTables], object] = lambda _tables: None,
) -> WorldContent:
    harness = WorldHarness()
    return WorldContent(
        harness.atlas, harness.population, harness.behaviors, harness.registry, harness.world.clock,
        folders=lambda: (None, path), memories=memories, start=finish,
        source=Source(), edits=None, travel=travel,
        homes=lambda _homes: None,
    )  # fmt: skip


def test_memories_of_removed_spawns_are_logged_and_deleted_later() -> None:
    now = WorldHarness().moment
    memories = Reviewed((325, "", 5.0), (325, "gone", now - KEPT - 1.0), (999, "new", None))
    with captured_log("text") as log:
        content(memories).review()
    assert memories.forgotten == [(325, "gone")], "a zone itself is never removed from its file"
    assert "deleted the memory of 'gone', which is no longer in zone 325" in log.text
    assert memories.marked == [(325, "", None), (999, "new", now)]
    assert "30 days after the server missed it first: 'new' (zone 999)" in log.text


def test_a_review_that_fails_is_logged_and_a_member_does_none() -> None:
    memories = Reviewed()
    memories.is_broken = True
    with captured_log("text") as log:
        content(memories).review()
        content(None).review()
    assert log.text.count("were not reviewed: the disk is full") == 1


@pytest.mark.parametrize("name", ["zones", "behaviors"])
def test_a_reload_reads_the_shipped_content(name: str) -> None:
    part = content(None)
    reload = part.reload_zones if name == "zones" else part.reload_behaviors
    with pytest.raises(StopIteration) as end:
        reload().send(None)
    assert end.value.value.startswith(("4 zones", "3 behaviors"))


def test_a_reload_reads_ways_and_areas_of_the_content_file(tmp_path: Path) -> None:
    path = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", meadow())]), path)
    seen: list[TravelTables] = []
    part = content(None, path, seen.append)
    with pytest.raises(StopIteration):
        part.reload_zones().send(None)
    assert seen == [read_tables(path)]
    path.write_bytes(b"no database")
    with pytest.raises(FileFormatError):
        part.reload_zones().send(None)
    assert len(seen) == 1, "a file that cannot be read changes nothing"


@pytest.mark.parametrize("is_old", [False, True])
def test_a_content_file_that_another_version_checked_is_logged(
    tmp_path: Path, *, is_old: bool
) -> None:
    path = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", meadow())]), path)
    if is_old:
        with sqlite3.connect(path) as database:
            database.execute("UPDATE checked SET form = 1")
    with captured_log("text") as log:
        warn_of_old_check(path)
    assert log.text.count("run `emu content check`") == is_old


def served(harness: WorldHarness) -> ContentZones:
    async def nothing(_zone: int, _old: Any, _is_wanted: Callable[[], bool]) -> None:
        return None

    return ContentZones(
        nothing, next_id=harness.world.zones.next_spawn_id, randomness=lambda: Random(1),
        hour=lambda: 12, center=lambda _zone: None, now=lambda: Monotonic(harness.now),
        timetable=timetable(), start=finish, failed=lambda _line: None,
        deaths=Deaths(
            PlacementFactsInMemory(), finish, harness.world.clock, timetable(), lambda _line: None,
            pause=no_pause,
        ),
        in_thread=Source().run,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("has_content", "has_folder", "line"),
    [
        (False, True, "world.scripts has no effect without world.content"),
        (True, False, "there is no such folder, so no script runs; set world.scripts"),
        (True, True, None),
    ],
)
def test_scripts_that_cannot_run_are_logged_in_one_line(
    tmp_path: Path, *, has_content: bool, has_folder: bool, line: str | None
) -> None:
    path, folder, harness = tmp_path / "content.sqlite", tmp_path / "scripts", WorldHarness()
    import_content(dump_parts([write_dumps(tmp_path / "dumps", meadow())]), path)
    if has_folder:
        folder.mkdir()
    with captured_log("text") as log:
        harness.population.content = served(harness)
        config = WorldConfig(content=path if has_content else None, scripts=folder)
        reader = ContentReader(
            config, None, None, dead=None, edits=None, start=None, zone_settings={}
        )  # type: ignore[arg-type]  # it reads no zone
        scripts = reader.scripts(harness.parts)
    assert (scripts is None) == (not has_content)
    lines = log.text.splitlines()
    assert len(lines) == (line is not None)
    assert all(line in one for one in lines if line)


def test_zones_have_the_maps_beside_the_content_file_and_its_regions(tmp_path: Path) -> None:
    path = tmp_path / "content.sqlite"
    maps = import_maps(write_maps(tmp_path / "source", "exp01_meadow"), maps_folder(path))
    import_content(dump_parts([write_dumps(tmp_path / "dumps", meadow())]), path, maps=maps)
    reader = map_reader(path)
    grounds, zone = reader.grounds(timetable(), WorldHarness().world.clock), meadow_zone(path)
    assert reader._read(9, NO_LAYER, (), None) is not None
    ground = grounds.of(zone)
    assert ground.surface(Position(3.0, 1.0, 3.0)) is not None
    assert ground.is_water(Position(2.0, 0.0, 2.0))


def test_a_content_file_without_regions_is_reported_once(tmp_path: Path) -> None:
    path = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", meadow())]), path)
    reader = map_reader(path)
    grounds, zone = reader.grounds(timetable(), WorldHarness().world.clock), meadow_zone(path)
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE regions")
    with captured_log("text") as log:
        for _ in range(2):
            assert reader._read(9, NO_LAYER, (), None) is not None
    assert log.text.count("zones go on without regions") == 1
    assert not grounds.of(zone).is_water(Position(2.0, 0.0, 2.0))


def test_a_zone_has_the_expansions_and_holidays_of_its_own_rules() -> None:
    reader = ContentReader(
        WorldConfig(expansions=3, holidays=1), None, None, dead=None, edits=None, start=None,
        zone_settings={9: {"holidays": 5}, 10: {"expansions": 7}},
    )  # type: ignore[arg-type]  # it reads no zone  # fmt: skip
    found = [reader._surroundings(one, Condition.DAY) for one in (9, 10, 11)]
    assert [(one.expansions, one.holidays) for one in found] == [(3, 5), (7, 1), (3, 1)]


def test_a_digest_of_all_rows_is_made_only_if_something_compares_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes seconds of CPU for the community's file, at each start and each reload."""
    path = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", meadow())]), path)
    reader, made, heard = map_reader(path), list[str](), list[str]()

    async def digest() -> str:
        with ContentFile(path) as file:
            made.append(file.digest())
        return made[-1]

    monkeypatch.setattr(reader, "run", at_once)
    monkeypatch.setattr(reader, "_digest", digest)
    finish(reader.reopen())
    assert not made
    reader.reopened = heard.append
    finish(reader.reopen())
    assert made == heard
    assert len(heard) == 1


def test_a_reload_reads_what_classes_learn_beside_the_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "content.sqlite"
    import_content(dump_parts([write_dumps(tmp_path / "dumps", meadow())]), path)
    reader = map_reader(path)
    monkeypatch.setattr(reader, "run", at_once)
    assert reader.spells.lacks(())
    finish(reader.reopen())
    assert not reader.spells.lacks(())


def map_reader(path: Path) -> ContentReader:
    return ContentReader(
        WorldConfig(content=path), None, None, dead=None, edits=None, start=None, zone_settings={}
    )  # type: ignore[arg-type]  # no thread is started


def meadow_zone(path: Path) -> Zone:
    with ContentFile(path) as file:
        return Zone({one.id: one for one in zone_definitions(file)}[9])
