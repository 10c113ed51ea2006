"""Creatures that go around a fence: hunts, ways back, points of scripts, flight.

The fence of the small map is 3 m high and leaves a gap in the north; the mesh has the gap only.
Rules: docs/protocol/maps.md#paths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.ground.map_names import MapName
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.events import Events
from emu.world.minds.moves import Mover, Moves
from emu.world.minds.walks import Waypoint
from emu.world.reports import Faults
from emu.world.zones import ground
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.ground import NO_MAPS, Grounds
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.ground.map_folders import write_maps
from tests.support.ground.region_bytes import pool
from tests.support.times import timetable

WEST, EAST = Position(10.0, 0.0, 2.0, 90.0), Position(22.0, 0.0, 2.0)
FENCE_X, GAP_Z = 14.0, 8.0


class WatchedZone(Zone):
    """A zone that somebody watches."""

    is_watched = True  # type: ignore[assignment]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fence")
    import_maps(write_maps(folder / "source"), folder / "maps")
    return folder / "maps"


class Scene:
    """A wolf in the west of the fence, and somebody whom it may hunt."""

    def __init__(self, maps: Callable[[], MapFolder | None], **wolf: Any) -> None:
        self.now = Monotonic(100.0)
        self.zone = WatchedZone(ZoneDefinition(9, "meadow", "meadow", "A meadow", WEST))
        self.timetable = timetable()
        self.grounds = Grounds(self.timetable, lambda: self.now, maps)
        chances: Iterator[float] = iter([0.3, 0.9, 0.1, 0.7, 0.5, 0.2] * 100)
        self.moves = Moves(
            events=Events(Faults(lambda _event: None)), timetable=self.timetable,
            now=lambda: self.now, grounds=self.grounds, chance=lambda: next(chances),
        )  # fmt: skip
        self.wolf = Spawn(1, SpawnKind.NPC, "Wolf", WEST, **wolf)
        self.prey = Spawn(2, SpawnKind.NPC, "Deer", EAST)
        for one in (self.wolf, self.prey):
            self.zone.add_spawn(one, self.now)
        self.marks: list[str] = []
        self.lost: list[str] = []

    @property
    def mover(self) -> Mover:
        return self.moves.of(self.wolf, self.zone, self.marks.append)

    def hunt(self, distance: float = 1.0) -> None:
        self.mover.hunt(self.prey, lambda: self.lost.append("lost"), speed=5.0, distance=distance)

    def run(self, seconds: float) -> list[Position]:
        """Let time pass; return where the wolf was in each tenth of a second."""
        places = []
        for _ in range(round(seconds / 0.1)):
            end = Monotonic(self.now + 0.1)
            while (due := self.timetable.get_timer()) is not None and due <= end:
                self.now = max(self.now, due)
                self.timetable.handle_timer(self.now)
            self.now = end
            self.mover.refresh()
            places.append(self.wolf.position)
        return places

    def away(self) -> float:
        return math.dist(self.wolf.position[:3], self.prey.position[:3])


def crossings(places: list[Position]) -> list[float]:
    """Return the z at which the line of the fence was crossed."""
    return [
        (one.z + other.z) / 2
        for one, other in pairwise(places)
        if (one.x - FENCE_X) * (other.x - FENCE_X) < 0
    ]


@pytest.fixture
def scene(folder: Path) -> Scene:
    return Scene(lambda: MapFolder(folder))


def test_a_hunter_goes_around_the_fence(scene: Scene) -> None:
    scene.hunt()
    places = scene.run(8.0)
    assert scene.away() <= 2.01
    assert [z > GAP_Z - 0.6 for z in crossings(places)] == [True]
    assert scene.lost == []


def test_without_a_map_it_runs_straight(folder: Path) -> None:
    scene = Scene(NO_MAPS)
    scene.hunt()
    places = scene.run(8.0)
    assert scene.away() <= 2.01
    assert [z < 3.0 for z in crossings(places)] == [True]


def test_one_that_flies_runs_straight(folder: Path) -> None:
    scene = Scene(lambda: MapFolder(folder), hovers=True)
    scene.hunt()
    assert [z < 3.0 for z in crossings(scene.run(8.0))] == [True]


def test_it_follows_a_target_that_moves(scene: Scene) -> None:
    scene.hunt()
    scene.run(1.0)
    scene.prey.move(Position(4.0, 0.0, 2.0))
    places = scene.run(6.0)
    assert scene.away() <= 2.01
    assert crossings(places) == [], "it has turned before the fence"


def test_a_target_that_is_gone_is_given_up(scene: Scene) -> None:
    scene.hunt()
    scene.run(1.0)
    scene.zone.remove(scene.prey, scene.now)
    scene.run(1.0)
    assert scene.lost == ["lost"]
    at = scene.wolf.position
    scene.run(2.0)
    assert scene.wolf.position == at


def test_it_runs_back_to_where_the_hunt_began(scene: Scene) -> None:
    scene.hunt()
    scene.run(8.0)
    assert scene.mover.run_back(5.0)
    places = scene.run(8.0)
    assert scene.wolf.position[:3] == WEST[:3]
    assert scene.wolf.position.heading == WEST.heading
    assert [z > GAP_Z - 0.6 for z in crossings(places)] == [True]
    assert not scene.mover.run_back(5.0), "there was no hunt since"


def test_a_round_goes_on_after_the_hunt(scene: Scene) -> None:
    for x in (6.0, 10.0):
        scene.mover.add_to_round(Waypoint(Position(x, 0.0, 2.0), 2.0, mark=f"at {x}"))
    scene.run(1.0)
    scene.hunt()
    scene.run(8.0)
    scene.mover.run_back(5.0)
    scene.marks.clear()
    scene.run(12.0)
    assert scene.marks[:2] == ["at 6.0", "at 10.0"]


def test_a_point_of_a_way_is_led_around_if_that_is_asked_for(scene: Scene) -> None:
    point = Waypoint(EAST, 5.0, mark="there")
    assert scene.mover.go(point, at_once=True, around=True)
    places = scene.run(8.0)
    assert [z > GAP_Z - 0.6 for z in crossings(places)] == [True]
    assert scene.marks == ["there"]
    assert scene.wolf.position[:3] == EAST[:3]


def test_a_round_is_led_around_if_that_is_asked_for(scene: Scene) -> None:
    for place in (WEST, EAST):
        scene.mover.add_to_round(Waypoint(place, 5.0, mark=f"at {place.x}"), around=True)
    found = crossings(scene.run(20.0))
    assert len(found) >= 4
    assert min(found) > GAP_Z - 0.6, "also from the last point to the first"
    assert scene.marks[:4] == ["at 10.0", "at 22.0"] * 2


def test_the_way_to_the_first_point_of_a_round_is_walked_once(scene: Scene) -> None:
    for x in (22.0, 26.0):
        scene.mover.add_to_round(Waypoint(Position(x, 0.0, 2.0), 5.0, mark=f"at {x}"), around=True)
    places = scene.run(12.0)
    assert [z > GAP_Z - 0.6 for z in crossings(places)] == [True]
    assert scene.marks[:4] == ["at 22.0", "at 26.0"] * 2
    assert all(place.x > 21.0 for place in places[60:])


def test_points_are_straight_if_nobody_asks(scene: Scene) -> None:
    scene.mover.go(Waypoint(EAST, 5.0), at_once=True)
    assert crossings(scene.run(6.0))[0] < 3.0


def test_a_scared_creature_runs_where_it_can_walk(scene: Scene, folder: Path) -> None:
    assert scene.mover.flee(5.0)
    places = scene.run(6.0)
    assert math.dist(places[-1][:3], WEST[:3]) > 2.0
    assert all(z > GAP_Z - 0.6 for z in crossings(places))
    assert not Scene(NO_MAPS).mover.flee(5.0), "nobody knows where to run"


def test_a_creature_of_water_hunts_nobody_on_land(folder: Path) -> None:
    scene = Scene(lambda: MapFolder(folder), hovers=True, swims=True)
    lake = [pool((0, -2, 0), (20, 3, 12))]
    scene.grounds.note_regions("meadow", {MapName("meadow"): lake})
    scene.hunt()
    scene.run(3.0)
    assert scene.lost == ["lost"], "the target is on land"
    assert scene.wolf.position[:3] == WEST[:3]
    scene.prey.move(Position(18.0, 0.0, 2.0))
    scene.hunt()
    scene.run(3.0)
    assert scene.away() <= 2.01
    scene.prey.move(EAST)
    scene.run(3.0)
    assert scene.lost == ["lost", "lost"]
    assert scene.wolf.position.x < 20.0, "it stays in the water"


def test_a_creature_swims_straight_to_a_target_in_water(folder: Path) -> None:
    scene = Scene(lambda: MapFolder(folder))
    lake = [pool((20, -2, 0), (28, 3, 4))]
    scene.grounds.note_regions("meadow", {MapName("meadow"): lake})
    scene.hunt()
    assert [z < 3.0 for z in crossings(scene.run(8.0))] == [True]


def test_too_many_searches_end_straight(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ground, "MOST_SEARCHES", 0)
    scene.hunt()
    places = scene.run(8.0)
    assert scene.away() <= 2.01
    assert [z < 3.0 for z in crossings(places)] == [True]
