"""Walks: rounds, ways, stays, pauses, what is sent, and zones without players."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.times import Monotonic
from emu.world.actors.spawn import GhostPart, Spawn, SpawnKind
from emu.world.minds.walks import AT_ONCE, Walk, Walks, Waypoint
from emu.world_stream.movement import Position
from tests.support.times import timetable

START = Position(0.0, 0.0, 0.0, 90.0, 7)


class WatchedZone:
    """A zone that a test says is watched or not."""

    def __init__(self) -> None:
        self.is_watched = True


class Scene:
    """One spawn that walks, its clock, and what would be sent."""

    def __init__(self) -> None:
        self.now = Monotonic(100.0)
        self.zone: Any = WatchedZone()
        self.spawn = Spawn(1, SpawnKind.NPC, "Guard", START)
        self.sent: list[tuple[float, Position, float]] = []
        self.marks: list[str] = []
        self.spawn.watcher = self._noted
        self.timetable = timetable()
        self.walks = Walks(timetable=self.timetable)
        self.on_mark = lambda: None

    @property
    def walk(self) -> Walk:
        return self.walks.of(self.spawn, self.zone, self._arrived)

    def _arrived(self, mark: str) -> None:
        self.marks.append(f"{mark} {self.now - 100.0:g}")
        self.on_mark()

    def _noted(self, spawn: Spawn, change: int) -> None:
        if change & GhostPart.POSITION:
            self.sent.append((self.now - 100.0, spawn.position, spawn.speed))

    def ring(self, *points: tuple[float, float], **values: Any) -> None:
        for x, z in points:
            self.walk.ring.append(Waypoint(Position(x, 0.0, z), 2.0, **values))
        self.walks.changed(self.walk, self.now)

    def way(self, *points: tuple[float, float], **values: Any) -> None:
        for x, z in points:
            self.walk.queue.append(Waypoint(Position(x, 0.0, z), 2.0, **values))
        self.walks.changed(self.walk, self.now)

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while (due := self.timetable.get_timer()) is not None and due <= end:
            self.now = max(self.now, due)
            self.timetable.handle_timer(self.now)
        self.now = Monotonic(end)

    def at(self) -> tuple[float, float]:
        place = self.walk.place(self.now)
        return round(place.x, 3), round(place.z, 3)


def test_the_places_of_a_thing_on_its_way_are_sent() -> None:
    scene = Scene()
    scene.spawn.kind = SpawnKind.OBJECT
    scene.way((0.0, 4.0))
    scene.run(2.5)
    places = [(round(when, 2), place.z) for when, place, _ in scene.sent]
    assert places == [(0.0, 0.0), (0.5, 1.0), (1.0, 2.0), (1.5, 3.0), (2.0, 4.0)]


def test_straight_up_a_spawn_keeps_its_heading() -> None:
    scene = Scene()
    scene.walk.queue.append(Waypoint(Position(0.001, 10.0, 0.0), 2.0))
    scene.walks.changed(scene.walk, scene.now)
    scene.run(6.0)
    assert scene.spawn.position[:4] == (0.001, 10.0, 0.0, 90.0)


def test_a_widget_keeps_its_heading_on_every_way() -> None:
    scene = Scene()
    scene.spawn.kind = SpawnKind.WIDGET
    scene.ring((0.0, 10.0), (10.0, 10.0), stay=1.0)
    headings = set()
    for _ in range(30):
        scene.run(0.5)
        headings.add(scene.spawn.position.heading)
    assert headings == {90.0}


SQUARE = ((10.0, 0.0), (10.0, 10.0), (0.0, 10.0), (0.0, 0.0))


def test_a_round_begins_at_once_and_goes_on_for_ever() -> None:
    scene = Scene()
    scene.ring(*SQUARE)
    places = []
    for _ in range(9):
        scene.run(5.0)
        places.append(scene.at())
    assert places == [*SQUARE, *SQUARE, SQUARE[0]]


def test_only_corners_are_sent_with_speed_heading_and_the_points_ahead() -> None:
    scene = Scene()
    scene.ring(*SQUARE)
    assert scene.spawn.ahead == (Position(10.0, 0.0, 0.0), Position(10.0, 0.0, 10.0))
    scene.run(10.1)
    assert [(when, place.heading, speed) for when, place, speed in scene.sent] == [
        (0.0, 270.0, 2.0), (5.0, 180.0, 2.0), (10.0, 90.0, 2.0),
    ]  # fmt: skip
    assert scene.spawn.position.grid == 0


def test_between_corners_the_place_is_kept_up_to_date() -> None:
    scene = Scene()
    scene.ring(*SQUARE)
    scene.run(2.6)
    assert scene.spawn.position == Position(5.0, 0.0, 0.0, 270.0, 7)
    assert len(scene.sent) == 1


def test_a_stay_stands_and_looks_to_the_next_point_or_where_it_says() -> None:
    scene = Scene()
    scene.ring((10.0, 0.0), (10.0, 10.0), stay=5.0)
    scene.run(5.1)
    when, place, speed = scene.sent[-1]
    assert (when, place.heading, speed) == (5.0, 180.0, 0.0)
    assert scene.spawn.ahead == ()
    scene.run(4.8)
    assert scene.at() == (10.0, 0.0)
    scene.run(1.1)
    assert scene.at() == (10.0, 2.0)
    other = Scene()
    other.ring((10.0, 0.0), (10.0, 10.0), stay=5.0, heading=123.0)
    other.run(6.0)
    assert other.spawn.position.heading == 123.0


def test_each_point_has_its_own_speed() -> None:
    scene = Scene()
    scene.walk.ring.append(Waypoint(Position(10.0, 0.0, 0.0), 5.0))
    scene.walk.ring.append(Waypoint(Position(0.0, 0.0, 0.0), 1.0))
    scene.walks.changed(scene.walk, scene.now)
    scene.run(2.0)
    assert scene.at() == (10.0, 0.0)
    scene.run(5.0)
    assert scene.at() == (5.0, 0.0)


def test_a_mark_is_passed_at_arrival_and_may_stop_the_walk() -> None:
    scene = Scene()
    scene.ring(*SQUARE, mark="here", stay=1.0)
    scene.on_mark = lambda: scene.walk.stop(scene.now) if len(scene.marks) == 2 else None
    scene.run(60.0)
    assert scene.marks == ["here 5", "here 11"]
    assert scene.sent[-1][2] == 0.0
    assert scene.timetable.get_timer() is None or scene.timetable.get_timer() > scene.now


def test_a_mark_may_add_points() -> None:
    scene = Scene()
    scene.way((10.0, 0.0), mark="there")
    scene.on_mark = lambda: (
        scene.walk.queue.append(Waypoint(Position(10.0, 0.0, 10.0), 2.0))
        if len(scene.marks) == 1
        else None
    )
    scene.run(60.0)
    assert scene.at() == (10.0, 10.0)


def test_a_way_ends_at_its_last_point_and_a_round_goes_on_behind_it() -> None:
    scene = Scene()
    scene.way((10.0, 0.0), (10.0, 10.0), mark="there")
    scene.run(60.0)
    assert scene.at() == (10.0, 10.0)
    assert scene.marks == ["there 5", "there 10"]
    assert scene.sent[-1][2] == 0.0
    scene.ring((20.0, 10.0), (10.0, 10.0))
    scene.way((10.0, 20.0))
    scene.walk.leave_round(scene.now)
    scene.walks.changed(scene.walk, scene.now)
    scene.run(5.0)
    assert scene.at() == (10.0, 20.0)
    scene.run(100.0)
    # Corners are sent up to a quarter of a second late, with the place of then.
    assert {round(place.x, -1) for _, place, _ in scene.sent[-4:]} == {10.0, 20.0}


def test_a_pause_goes_on_to_the_same_point() -> None:
    scene = Scene()
    scene.ring(*SQUARE)
    scene.run(2.0)
    scene.walk.pause(scene.now + 5.0, scene.now)
    scene.walks.changed(scene.walk, scene.now)
    assert scene.sent[-1][2] == 0.0
    scene.run(4.9)
    assert scene.at() == (4.0, 0.0)
    scene.run(3.2)
    assert scene.at() == (10.0, 0.2)


def test_after_a_pause_a_spawn_without_a_way_turns_back() -> None:
    scene = Scene()
    scene.walk.pause(130.0, scene.now, turned_from=90.0)
    scene.walks.changed(scene.walk, scene.now)
    scene.spawn.move(START._replace(heading=200.0))
    scene.walk.pause(140.0, scene.now, turned_from=200.0)
    scene.walks.changed(scene.walk, scene.now)
    scene.run(39.9)
    assert scene.spawn.position.heading == 200.0
    scene.run(0.2)
    assert scene.spawn.position.heading == 90.0
    assert scene.timetable.get_timer() is None or scene.timetable.get_timer() >= scene.now


def test_a_pause_within_a_stay_turns_back_and_leaves_the_stay() -> None:
    scene = Scene()
    scene.ring((10.0, 0.0), (10.0, 10.0), stay=20.0)
    scene.run(6.0)
    scene.walk.pause(scene.now + 5.0, scene.now, turned_from=scene.spawn.position.heading)
    scene.walks.changed(scene.walk, scene.now)
    scene.spawn.move(scene.spawn.position._replace(heading=200.0))
    scene.run(4.9)
    assert scene.spawn.position.heading == 200.0
    scene.run(0.2)
    assert scene.spawn.position.heading == 180.0
    scene.run(13.8)
    assert scene.at() == (10.0, 0.0)
    scene.run(2.6)
    assert scene.at() == (10.0, 5.0)


def test_slower_and_stopped_by_a_factor() -> None:
    scene = Scene()
    scene.ring(*SQUARE)
    scene.run(1.0)
    scene.walk.set_factor(0.5, scene.now)
    scene.walks.changed(scene.walk, scene.now)
    scene.run(2.0)
    assert scene.at() == (4.0, 0.0)
    scene.walk.set_factor(0.0, scene.now)
    scene.walks.changed(scene.walk, scene.now)
    assert scene.sent[-1][2] == 0.0
    scene.run(9.0)
    assert scene.at() == (4.0, 0.0)
    scene.walk.set_factor(1.0, scene.now)
    scene.walks.changed(scene.walk, scene.now)
    scene.run(3.0)
    assert scene.at() == (10.0, 0.0)


def test_points_at_one_place_take_time() -> None:
    scene = Scene()
    scene.ring(*[START[:3:2]] * 3, mark="m")
    scene.run(10.0)
    assert 50 <= len(scene.marks) <= 110


def test_an_empty_zone_costs_nothing_and_catches_up() -> None:
    scene = Scene()
    scene.ring(*SQUARE, mark="m")
    scene.run(2.0)
    scene.zone.is_watched = False
    scene.run(10.0)
    assert scene.timetable.get_timer() is None
    sent, marks = len(scene.sent), len(scene.marks)
    scene.run(4.0 * 5.0 * 1000.0 - 5.0)
    assert (len(scene.sent), len(scene.marks)) == (sent, marks)
    scene.zone.is_watched = True
    scene.walks.entered(scene.zone, scene.now)
    scene.timetable.handle_timer(scene.now)
    # 7 seconds of a round of 20 after whole rounds.
    assert scene.at() == (10.0, 4.0)
    assert scene.spawn.position[:3] == (10.0, 0.0, 4.0)
    scene.run(3.0)
    assert scene.at() == (10.0, 10.0)


def test_a_way_waits_at_its_next_mark_for_a_player() -> None:
    scene = Scene()
    scene.way((10.0, 0.0))
    scene.way((10.0, 10.0), mark="gate")
    scene.way((0.0, 10.0))
    scene.zone.is_watched = False
    scene.run(500.0)
    scene.zone.is_watched = True
    scene.walks.entered(scene.zone, scene.now)
    scene.timetable.handle_timer(scene.now)
    assert scene.marks == ["gate 500"]
    assert scene.at() == (10.0, 10.0)
    scene.run(5.0)
    assert scene.at() == (0.0, 10.0)


def test_what_has_left_its_zone_walks_no_more() -> None:
    scene = Scene()
    scene.ring(*SQUARE, mark="m")
    scene.on_mark = lambda: scene.walks.forget(scene.spawn, scene.zone)
    scene.run(30.0)
    assert scene.marks == ["m 5"]
    assert len(scene.walks) == 0
    scene.ring(*SQUARE)
    scene.walks.ended(scene.zone)
    assert scene.timetable.get_timer() is None


places = st.floats(-500.0, 500.0, width=32)
rounds = st.lists(
    st.builds(
        Waypoint,
        st.builds(Position, places, places, places),
        st.floats(0.5, 10.0),
        st.sampled_from([0.0, 3.0]),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.slow
@given(rounds, st.floats(1.0, 400.0))
def test_who_was_not_watched_is_where_who_was_watched_is(
    points: list[Waypoint], seconds: float
) -> None:
    watched, other = Scene(), Scene()
    for scene in (watched, other):
        scene.walk.ring.extend(points)
        scene.walks.changed(scene.walk, scene.now)
    other.zone.is_watched = False
    for scene in (watched, other):
        scene.run(seconds)
    other.zone.is_watched = True
    other.walks.entered(other.zone, other.now)
    other.timetable.handle_timer(other.now)
    there, here = watched.walk.place(watched.now), other.walk.place(other.now)
    # A beat may lie between two corners, and a corner of one that is late belongs to no time.
    assert math.dist(there[:3], here[:3]) < 0.1


@given(rounds, st.floats(0.1, 200.0))
def test_a_walk_is_never_faster_than_its_points(points: list[Waypoint], seconds: float) -> None:
    scene = Scene()
    scene.walk.ring.extend(points)
    scene.walks.changed(scene.walk, scene.now)
    before = scene.walk.place(scene.now)
    scene.run(seconds)
    after = scene.walk.place(scene.now)
    fastest = max(point.speed for point in points)
    assert math.dist(before[:3], after[:3]) <= fastest * seconds + 0.01


@pytest.mark.parametrize("speed", [0.0, -3.0])
def test_a_point_without_a_speed_is_reached_slowly(speed: float) -> None:
    scene = Scene()
    scene.walk.queue.append(Waypoint(Position(1.0, 0.0, 0.0), speed))
    scene.walks.changed(scene.walk, scene.now)
    scene.run(50.0)
    assert scene.at() == (0.5, 0.0)


def test_a_turn_takes_some_of_many_steps() -> None:
    scene = Scene()
    for number in range(AT_ONCE + 50):
        spawn = Spawn(10 + number, SpawnKind.NPC, "Guard", START)
        walk = scene.walks.of(spawn, scene.zone, scene.marks.append)
        walk.ring.append(Waypoint(Position(10.0, 0.0, 0.0), 2.0, 60.0, "here"))
        scene.walks.changed(walk, scene.now)
    scene.zone.is_watched = False
    scene.run(20.0)
    scene.zone.is_watched = True
    scene.walks.entered(scene.zone, scene.now)
    scene.timetable.handle_timer(scene.now)
    assert scene.timetable.get_timer() == scene.now
    scene.timetable.handle_timer(scene.now)
    due = scene.timetable.get_timer()
    assert due is not None
    assert due > scene.now
