"""The ground of running zones: with a map, without one, and with one that is damaged meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.ground.map_names import MapName
from emu.ground.regions import Region
from emu.ground.routes import Route
from emu.times import Monotonic
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.ground import NO_MAPS, Grounds, WidgetRegion
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.ground.map_folders import write_maps
from tests.support.ground.region_bytes import pool
from tests.support.times import timetable

WEST: Final = Position(10.0, 0.0, 4.0)
EAST: Final = Position(18.0, 0.0, 4.0)
"""The fence of the small map stands between them."""


class Turns:
    """The grounds of a world with a clock that a test moves."""

    def __init__(self, list_maps: Callable[[], MapFolder | None] = NO_MAPS) -> None:
        self.now = Monotonic(100.0)
        self.timetable = timetable()
        self.grounds = Grounds(self.timetable, lambda: self.now, list_maps)

    def run(self) -> None:
        """Let all work be done."""
        while (due := self.timetable.get_timer()) is not None:
            self.now = max(self.now, due)
            self.timetable.handle_timer(self.now)


def zone(file: str = "Meadow") -> Zone:
    return Zone(ZoneDefinition(9, "meadow", file, "A meadow", Position(0.0, 0.0, 0.0)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    import_maps(write_maps(tmp_path / "source"), tmp_path / "maps")
    return tmp_path / "maps"


def pond() -> dict[MapName, list[Region]]:
    return {MapName("meadow"): [pool((0, -1, 0), (4, 1, 4))]}


def test_a_zone_without_a_map_answers_as_before() -> None:
    for turns in (Turns(), Turns(lambda: MapFolder(Path("none")))):
        ground = turns.grounds.of(zone())
        assert (ground.map, ground.mesh, ground.surface(WEST)) == (None, None, None)
        assert ground.sees(WEST, EAST)
        assert not ground.is_water(WEST)


def test_a_zone_with_a_map_has_its_surfaces_walls_and_water(folder: Path) -> None:
    grounds, running = Turns(lambda: MapFolder(folder)).grounds, zone()
    ground = grounds.of(running)
    surface = ground.surface(WEST._replace(y=7.0))
    assert surface is not None
    assert (surface.y, surface.grid) == (0.0, 5)
    assert not ground.sees(WEST, EAST), "the fence is 3 m high"
    assert ground.sees(WEST, WEST._replace(x=5.0))
    assert ground.mesh is not None
    assert not ground.is_water(Position(2.0, 0.0, 2.0)), "its regions are not read yet"
    grounds.note_regions("Meadow", pond())
    assert ground.is_water(Position(2.0, 0.0, 2.0))
    assert not ground.is_water(EAST)
    assert grounds.of(running) is ground
    assert grounds.of(zone("antonica")).map is None


def test_the_files_of_a_zone_are_closed_when_it_ends(folder: Path) -> None:
    grounds, running = Turns(lambda: MapFolder(folder)).grounds, zone()
    ground = grounds.of(running)
    assert ground.mesh is not None
    grounds.ended(running)
    assert (ground.map, ground.surface(WEST)) == (None, None)
    grounds.ended(zone())


def test_a_reload_reads_the_maps_that_are_there_then(tmp_path: Path) -> None:
    grounds, running = Turns(lambda: MapFolder(tmp_path / "maps")).grounds, zone()
    assert grounds.of(running).map is None
    import_maps(write_maps(tmp_path / "source"), tmp_path / "maps")
    assert grounds.of(running).map is None
    grounds.reload()
    assert grounds.of(running).map is not None


def test_a_map_that_becomes_shorter_ends_its_use_and_not_that_of_others(folder: Path) -> None:
    (folder / "hill.ground").write_bytes((folder / "meadow.ground").read_bytes())
    lines: list[str] = []
    grounds = Turns(lambda: MapFolder(folder, lines.append)).grounds
    ground, other = grounds.of(zone()), grounds.of(zone("hill"))
    os.truncate(folder / "meadow.ground", 200)
    assert ground.surface(WEST) is None
    assert ground.sees(WEST, EAST)
    assert ground.map is None
    assert len(lines) == 1
    assert "meadow.ground" in lines[0]
    assert other.surface(WEST) is not None


def test_routes_of_several_zones_are_found_in_turns(folder: Path) -> None:
    turns, found = Turns(lambda: MapFolder(folder)), dict[str, Route | None]()
    near = (Position(2.0, 0.0, 2.0), Position(26.0, 0.0, 2.0))
    turns.grounds.find_route(zone(), *near, lambda route: found.update(over=route))
    turns.grounds.find_route(zone("antonica"), *near, lambda route: found.update(bare=route))
    assert found == {}, "no search is done at once"
    turns.run()
    over, bare = found["over"], found["bare"]
    assert over is not None
    assert over.reaches
    assert not over.is_straight, "the fence stands between"
    assert bare is not None
    assert [corner.place for corner in bare.corners] == [(2.0, 0.0, 2.0), (26.0, 0.0, 2.0)]
    assert turns.timetable.get_timer() is None, "nothing is due without work"


def test_a_search_ends_with_its_zone(folder: Path) -> None:
    turns, running, found = Turns(lambda: MapFolder(folder)), zone(), list[Route | None]()
    turns.grounds.find_route(running, WEST, EAST, found.append)
    turns.grounds.ended(running)
    assert found == [None]
    turns.run()
    assert found == [None]


def test_widgets_that_are_removed_or_open_block_nothing(folder: Path) -> None:
    """The fence of the small map is widget 77."""
    turns, running = Turns(lambda: MapFolder(folder)), zone()
    ground = turns.grounds.of(running)
    ground.set_passable(77, is_passable=True)
    assert ground.sees(WEST, EAST)
    top = Position(14.0, 3.5, 4.0)
    surface = ground.surface(top)
    assert surface is not None
    found: list[Route | None] = []
    ground.search(WEST, EAST, found.append)
    turns.run()
    assert found[0] is not None
    assert found[0].is_straight
    assert found[0].reaches
    ground.set_passable(77, is_passable=False)
    assert not ground.sees(WEST, EAST)
    ground.remove_widget(77)
    assert ground.sees(WEST, EAST)
    turns.grounds.reload()
    assert turns.grounds.of(running).sees(WEST, EAST), "files that are exchanged change nothing"
    turns.grounds.ended(running)
    assert not turns.grounds.of(running).sees(WEST, EAST), "a zone begins anew"


def test_a_region_around_a_widget_is_on_the_map_of_its_version(folder: Path) -> None:
    turns, running = Turns(lambda: MapFolder(folder)), zone()
    narrow, wide = MapName("meadow", 1, 546), MapName("meadow")
    turns.grounds.note_regions("meadow", {narrow: [], wide: []})
    ground = turns.grounds.of(running)
    changed: list[Zone] = []
    turns.grounds.region_watchers.append(changed.append)
    around, before = WidgetRegion("", 5, 77, 2.0), ground.revision
    ground.add_region(0, "trap", around)
    assert changed == [running]
    assert ground.revision > before
    (region,) = ground.regions
    assert (region.place, region.radius, region.widget) == ((14.0, 1.0, 4.0), 2.0, 77)
    assert ground.regions_for(1208) == [region]
    assert ground.regions_for(546) == [], "they have a map of their own"
    ground.add_region(546, "other", around)
    assert [one.file for one in ground.regions_for(546)] == ["other"]
    turns.grounds.reload()
    assert [one.file for one in turns.grounds.of(running).regions] == ["trap"]
    assert turns.grounds.of(running).remove_region(0, "trap")
    assert len(turns.grounds.of(running).regions) == 0


def test_who_is_thrown_stops_at_a_wall_and_lands_on_the_ground(folder: Path) -> None:
    turns, running = Turns(lambda: MapFolder(folder)), zone()
    ground = turns.grounds.of(running)
    landed = ground.thrown(WEST, EAST)
    assert 13.0 <= landed.x < 14.0, "the fence stands at 14"
    assert (landed.y, landed.z, landed.grid) == (0.0, 4.0, 5)
    free = ground.thrown(WEST._replace(y=2.0), WEST._replace(x=5.0, y=2.0))
    assert free == pytest.approx((5.0, 0.0, 4.0, 0.0, 5))
    assert Turns().grounds.of(zone()).thrown(WEST, EAST) == EAST, "as before there were maps"


def test_a_summoned_creature_has_the_best_height(folder: Path) -> None:
    ground = Turns(lambda: MapFolder(folder)).grounds.of(zone())
    assert ground.on_ground(WEST._replace(y=1.5)) == WEST._replace(grid=5)
    beside = Position(-50.0, 3.0, 4.0)
    assert ground.on_ground(beside) == beside, "no surface is known"
