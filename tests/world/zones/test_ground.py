"""The ground of running zones: with a map, without one, and with one that is damaged meanwhile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.ground.map_names import MapName
from emu.ground.regions import Region
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.ground import Grounds
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.ground.map_folders import write_maps
from tests.support.ground.region_bytes import pool

WEST: Final = Position(10.0, 0.0, 4.0)
EAST: Final = Position(18.0, 0.0, 4.0)
"""The fence of the small map stands between them."""


def zone(file: str = "Meadow") -> Zone:
    return Zone(ZoneDefinition(9, "meadow", file, "A meadow", Position(0.0, 0.0, 0.0)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    import_maps(write_maps(tmp_path / "source"), tmp_path / "maps")
    return tmp_path / "maps"


def pond() -> dict[MapName, list[Region]]:
    return {MapName("meadow"): [pool((0, -1, 0), (4, 1, 4))]}


def test_a_zone_without_a_map_answers_as_before() -> None:
    for grounds in (Grounds(), Grounds(lambda: MapFolder(Path("none")))):
        ground = grounds.of(zone())
        assert (ground.map, ground.mesh, ground.surface(WEST)) == (None, None, None)
        assert ground.sees(WEST, EAST)
        assert not ground.is_water(WEST)


def test_a_zone_with_a_map_has_its_surfaces_walls_and_water(folder: Path) -> None:
    grounds, running = Grounds(lambda: MapFolder(folder)), zone()
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
    grounds, running = Grounds(lambda: MapFolder(folder)), zone()
    ground = grounds.of(running)
    assert ground.mesh is not None
    grounds.ended(running)
    assert (ground.map, ground.surface(WEST)) == (None, None)
    grounds.ended(zone())


def test_a_reload_reads_the_maps_that_are_there_then(tmp_path: Path) -> None:
    grounds, running = Grounds(lambda: MapFolder(tmp_path / "maps")), zone()
    assert grounds.of(running).map is None
    import_maps(write_maps(tmp_path / "source"), tmp_path / "maps")
    assert grounds.of(running).map is None
    grounds.reload()
    assert grounds.of(running).map is not None


def test_a_map_that_becomes_shorter_ends_its_use_and_not_that_of_others(folder: Path) -> None:
    (folder / "hill.ground").write_bytes((folder / "meadow.ground").read_bytes())
    lines: list[str] = []
    grounds = Grounds(lambda: MapFolder(folder, lines.append))
    ground, other = grounds.of(zone()), grounds.of(zone("hill"))
    os.truncate(folder / "meadow.ground", 200)
    assert ground.surface(WEST) is None
    assert ground.sees(WEST, EAST)
    assert ground.map is None
    assert len(lines) == 1
    assert "meadow.ground" in lines[0]
    assert other.surface(WEST) is not None
