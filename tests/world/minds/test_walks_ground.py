"""Walks over the ground of a zone that has a map. Numbers: docs/protocol/maps.md#legs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.ground.map_names import MapName
from emu.times import Monotonic
from emu.world.actors.spawn import GhostPart, Spawn, SpawnKind
from emu.world.minds.walks import Walk, Walks, Waypoint
from emu.world.zones.definitions import ZoneDefinition
from emu.world.zones.ground import NO_MAPS, Grounds
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.ground.map_bytes import Part, hills
from tests.support.ground.map_folders import write_map, write_maps
from tests.support.ground.plain_search import best_height
from tests.support.ground.region_bytes import pool
from tests.support.times import timetable

HILLS = hills(16)
"""64 m of ground that goes up and down."""


class HillZone(Zone):
    """A zone that somebody watches."""

    is_watched = True  # type: ignore[assignment]


def ground_at(x: float, z: float) -> float:
    height = best_height(HILLS, (x, 50.0, z))
    assert height is not None
    return height


def on_ground(x: float, z: float) -> Position:
    return Position(x, ground_at(x, z), z, 0.0, 9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hills")
    source = write_maps(folder / "source")
    write_map(source, "meadow", [Part(HILLS, 5)])
    import_maps(source, folder / "maps")
    return folder / "maps"


class HillScene:
    """A creature on the hills, its clock, and what would be sent."""

    def __init__(
        self,
        list_maps: Callable[[], MapFolder | None],
        start: Position,
        kind: SpawnKind = SpawnKind.NPC,
        *,
        hovers: bool = False,
    ) -> None:
        self.now = Monotonic(100.0)
        place = Position(0.0, 0.0, 0.0)
        self.zone = HillZone(ZoneDefinition(9, "meadow", "meadow", "A meadow", place))
        self.timetable = timetable()
        self.grounds = Grounds(self.timetable, lambda: self.now, list_maps)
        self.walks = Walks(timetable=self.timetable, grounds=self.grounds)
        self.spawn = Spawn(1, kind, "Guard", start, hovers=hovers)
        self.sent: list[tuple[float, Position, float]] = []
        self.marks: list[tuple[str, float]] = []
        self.spawn.watcher = self._noted

    def _noted(self, spawn: Spawn, change: int) -> None:
        if change & GhostPart.POSITION:
            self.sent.append((self.now - 100.0, spawn.position, spawn.speed))

    def walk(self, *points: Position) -> Walk:
        walk = self.walks.of(
            self.spawn, self.zone, lambda mark: self.marks.append((mark, self.now - 100.0))
        )
        walk.queue.extend(Waypoint(point, 4.0, 0.0, "there") for point in points)
        self.walks.changed(walk, self.now)
        return walk

    def run(self, seconds: float) -> None:
        end = Monotonic(self.now + seconds)
        while (due := self.timetable.get_timer()) is not None and due <= end:
            self.now = max(self.now, due)
            self.timetable.handle_timer(self.now)
        self.now = end

    def farthest_off(self, walk: Walk, seconds: float) -> float:
        """Return the most meters over or under the ground while time passes."""
        worst = 0.0
        for _ in range(round(seconds / 0.1)):
            self.run(0.1)
            place = walk.place(self.now)
            worst = max(worst, abs(place.y - ground_at(place.x, place.z)))
        return worst


START, END = on_ground(-28.0, 4.0), on_ground(28.0, 8.0)


def test_a_creature_crosses_hills_on_the_ground(folder: Path) -> None:
    scene = HillScene(lambda: MapFolder(folder), START)
    walk = scene.walk(END)
    scene.run(1.0)
    assert scene.farthest_off(walk, 12.0) <= 0.5
    scene.run(2.0)
    assert scene.marks == [("there", pytest.approx(14.25, abs=0.26))]
    assert scene.spawn.position[:3] == END[:3]
    assert scene.spawn.position.grid == 5, "that of the ground"
    assert len(scene.sent) > 3, "clients are sent the corners"


def test_without_a_map_it_goes_straight_and_sends_what_it_sent(folder: Path) -> None:
    plain, bare = HillScene(NO_MAPS, START), HillScene(lambda: MapFolder(folder / "x"), START)
    scenes = [(one, one.walk(END)) for one in (plain, bare)]
    assert scenes[0][0].farthest_off(scenes[0][1], 10.0) > 0.5, "the hills matter"
    scenes[1][0].farthest_off(scenes[1][1], 10.0)
    assert plain.sent == bare.sent
    assert len(plain.sent) == 1


def test_with_and_without_a_map_a_walk_is_at_the_same_place_of_the_map(folder: Path) -> None:
    mapped, plain = HillScene(lambda: MapFolder(folder), START), HillScene(NO_MAPS, START)
    walks = [(one, one.walk(END, START)) for one in (mapped, plain)]
    for _ in range(60):
        places = []
        for scene, walk in walks:
            scene.run(0.4)
            places.append(walk.place(scene.now))
        assert (places[0].x, places[0].z) == pytest.approx((places[1].x, places[1].z), abs=1e-6)
    assert mapped.marks == plain.marks


def test_a_straight_leg_after_a_bent_one_is_not_sent_twice(folder: Path) -> None:
    """Its corners come when it is begun: clients draw it already."""
    scene = HillScene(lambda: MapFolder(folder), START)
    near = on_ground(END.x - 4.0, END.z)
    walk = scene.walk(END, near)
    scene.run(14.7)
    assert len(scene.marks) == 1
    assert len(walk._bends) == 2
    assert walk.due > scene.now, "the end of the leg"
    sent = len(scene.sent)
    scene.run(1.5)
    assert [mark for mark, _ in scene.marks] == ["there", "there"]
    assert scene.spawn.position[:3] == near[:3]
    assert len(scene.sent) == sent + 1, "the stop"


def test_a_leg_that_was_walked_before_has_its_corners_at_once(folder: Path) -> None:
    scene = HillScene(lambda: MapFolder(folder), START)
    walk = scene.walk(END, START, END)
    scene.run(29.0)
    assert len(scene.marks) == 2
    sent = len(scene.sent)
    assert scene.farthest_off(walk, 12.0) <= 0.5
    assert len(scene.sent) > sent


@pytest.mark.parametrize("case", ["flyer", "thing", "swimmer", "short", "in the air"])
def test_these_go_straight(folder: Path, case: str) -> None:
    up = 9.0 if case == "in the air" else 0.0
    start, end = START._replace(y=START.y + up), END._replace(y=END.y + up)
    if case == "short":
        end = on_ground(-26.0, 4.0)
    kind = SpawnKind.WIDGET if case == "thing" else SpawnKind.NPC
    scene = HillScene(lambda: MapFolder(folder), start, kind, hovers=case == "flyer")
    if case == "swimmer":
        sea = pool((-32, -50, -32), (32, 50, 32))
        scene.grounds.note_regions("meadow", {MapName("meadow"): [sea]})
    walk = scene.walk(end)
    leg = end.x - start.x
    scene.run(leg / 8.0)
    place = walk.place(scene.now)
    share = (place.x - start.x) / leg
    assert place.y == pytest.approx(start.y + share * (end.y - start.y))


def test_a_map_that_is_damaged_meanwhile_ends_no_walk(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "meadow.ground"
    own.write_bytes((folder / "meadow.ground").read_bytes())
    lines: list[str] = []
    scene = HillScene(lambda: MapFolder(tmp_path, lines.append), START)
    scene.walk(END)
    os.truncate(own, 300)
    scene.run(15.0)
    assert len(lines) == 1
    assert [mark for mark, _ in scene.marks] == ["there"]
    assert scene.spawn.position[:3] == END[:3]
