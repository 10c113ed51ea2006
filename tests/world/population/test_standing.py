"""The height of creatures that stand. Rules and numbers: docs/protocol/maps.md#height."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.ground.map_names import MapName
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.population.standing import place_on_ground
from emu.world.zones.ground import ZoneGround
from emu.world_stream.movement import Position
from tests.support.ground.map_folders import write_maps
from tests.support.ground.region_bytes import pool

POND = {"meadow": {MapName("meadow"): [pool((0, -3, 0), (4, 3, 4))]}}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> ZoneGround:
    """The floor of the small map is at 0 and has grid 5."""
    folder = tmp_path_factory.mktemp("standing")
    import_maps(write_maps(folder / "source"), folder / "maps")
    return ZoneGround("meadow", MapFolder(folder / "maps"), POND)


def settled(
    ground: ZoneGround,
    place: Position,
    row: tuple[float, float, float] | None = None,
    kind: SpawnKind = SpawnKind.NPC,
    *,
    snap: bool = False,
    **values: Any,
) -> Position:
    """Return where a creature stands that was rolled at `place`, with its row's place."""
    spawn = Spawn(1, kind, "Guard", place, **values)
    x, y, z = row or place[:3]
    standing: Any = SimpleNamespace(
        placement=SimpleNamespace(x=x, y=y, z=z), x=place.x, y=place.y, z=place.z
    )
    place_on_ground(ground, spawn, standing, snap=snap)
    assert spawn.origin == spawn.position
    return spawn.position


@pytest.mark.parametrize(
    ("y", "kept", "snapped"),
    [(-6.0, -6.0, 0.0), (-4.0, 0.0, 0.0), (-0.4, 0.0, 0.0), (-0.2, -0.2, 0.0), (3.0, 3.0, 0.0)],
)
def test_who_is_under_the_ground_is_lifted_and_snap_moves_all(
    ground: ZoneGround, y: float, kept: float, snapped: float
) -> None:
    place = Position(10.0, y, 4.0, 90.0, 5)
    assert settled(ground, place) == place._replace(y=kept)
    assert settled(ground, place, snap=True) == place._replace(y=snapped)


def test_a_rolled_place_has_its_own_height_if_its_row_is_on_the_ground(ground: ZoneGround) -> None:
    place = Position(10.0, 0.8, 4.0, 0.0, 5)
    assert settled(ground, place, (12.0, 0.8, 4.0)).y == 0.0
    assert settled(ground, place._replace(y=3.0), (12.0, 3.0, 4.0)).y == 3.0
    assert settled(ground, place, (99.0, 0.8, 4.0)).y == 0.8, "nothing is under the row's place"


def test_flyers_things_and_swimmers_keep_their_height(ground: ZoneGround) -> None:
    place = Position(10.0, -2.0, 4.0, 0.0, 9)
    assert settled(ground, place, hovers=True, snap=True) == place
    assert settled(ground, place, kind=SpawnKind.OBJECT, snap=True) == place
    in_water = Position(2.0, 2.0, 2.0, 0.0, 5)
    assert settled(ground, in_water, snap=True) == in_water
    assert settled(ground, in_water, (3.0, 0.5, 2.0)) == in_water


def test_a_grid_that_the_map_does_not_have_becomes_that_of_the_ground(ground: ZoneGround) -> None:
    assert settled(ground, Position(10.0, 0.0, 4.0, 0.0, 0)).grid == 5


def test_without_a_map_or_a_surface_nothing_changes(ground: ZoneGround) -> None:
    place = Position(10.0, -2.0, 4.0, 0.0, 9)
    assert settled(ZoneGround("meadow", None, {}), place, snap=True) == place
    beside = place._replace(x=500.0)
    assert settled(ground, beside, snap=True) == beside
