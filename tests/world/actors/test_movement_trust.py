"""Which steps are believed."""

from __future__ import annotations

import math

import pytest

from emu.times import Monotonic
from emu.world.actors.movement import MovementStep, Pace
from emu.world.rules import MovementRules
from emu.world_stream.movement import Position

HERE = Position(0, 0, 0)


def step(x: float = 0.0, y: float = 0.0, z: float = 0.0, speed: float = 8.0) -> MovementStep:
    return MovementStep(Position(x, y, z), speed, 0.0, 0.0, 180.0, 128)


def test_walking_is_believed_for_ever() -> None:
    pace, at, now = Pace(MovementRules(), 0.0), HERE, 0.0
    for _ in range(1000):
        now += 0.25
        there = at._replace(x=at.x + 2.5, z=at.z)
        assert pace.refusal(step(*there[:3]), at, now) is None
        at = there
    assert pace.refused == 0


def test_running_three_times_as_fast_is_the_limit() -> None:
    pace, at, now, refused = Pace(MovementRules(), 0.0), HERE, 0.0, 0
    for _ in range(100):
        now += 0.25
        there = at._replace(x=at.x + 0.25 * 33)
        if pace.refusal(step(*there[:3]), at, now) is None:
            at = there
        else:
            refused += 1
    assert refused
    assert at.x <= 30.0 * (now + 2.0)


def test_a_pause_of_the_link_may_be_made_up_for_but_saves_nothing() -> None:
    pace = Pace(MovementRules(), 0.0)
    assert pace.refusal(step(59.0), HERE, 100.0) is None
    assert pace.refusal(step(119.0), Position(59, 0, 0), 100.0) == "moved too fast"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e30, 100_000.0, -32_001.0])
@pytest.mark.parametrize("place", range(3))
def test_nonsense_is_refused(value: float, place: int) -> None:
    pace = Pace(MovementRules(), 0.0)
    numbers = [0.0, 0.0, 0.0]
    numbers[place] = value
    assert pace.refusal(step(*numbers), HERE, 1000.0) is not None
    assert pace.refused == 1
    assert pace.refusal(step(1.0), HERE, 1000.0) is None


@pytest.mark.parametrize("speed", [math.nan, 1e9])
def test_a_speed_beyond_measure_is_refused(speed: float) -> None:
    assert Pace(MovementRules(), 0.0).refusal(step(speed=speed), HERE, 1.0) is not None


def test_falling_is_faster_than_running() -> None:
    pace = Pace(MovementRules(), 0.0)
    assert pace.refusal(step(y=-200.0), HERE, 1.0) is None
    assert pace.refusal(step(y=-500.0), Position(0, -200, 0), 1.1) == "moved too fast"


def test_a_clock_that_stands_or_steps_back_earns_nothing() -> None:
    pace = Pace(MovementRules(), 10.0)
    assert pace.refusal(step(60.0), HERE, 10.0) is None
    assert pace.refusal(step(61.0), Position(60, 0, 0), 5.0) == "moved too fast"


def test_who_is_put_somewhere_begins_anew() -> None:
    pace = Pace(MovementRules(), 0.0)
    assert pace.refusal(step(60.0), HERE, 0.0) is None
    pace.moved_by_server(0.0)
    assert pace.refusal(step(60.0), HERE, 0.0) is None


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_height_is_bounded_by_the_reserve_and_spent_by_each_climb(way: float) -> None:
    rules = MovementRules()
    most = rules.fastest_fall * rules.reserve
    pace = Pace(rules, Monotonic(0.0))
    late = Monotonic(1000.0)  # however long it waited, it saved no more than the reserve
    assert pace.refusal(step(y=way * (most + 1.0)), HERE, late) == "moved too fast"
    assert pace.refusal(step(y=way * most), HERE, late) is None
    above = Position(0, way * most, 0)
    assert pace.refusal(step(y=way * (most + 1.0)), above, late) == "moved too fast"
    later = Monotonic(late + 1.0 / rules.fastest_fall)
    assert pace.refusal(step(y=way * (most + 0.99)), above, later) is None


def test_a_server_that_moves_a_player_restores_its_height_too() -> None:
    rules = MovementRules()
    most = rules.fastest_fall * rules.reserve
    pace = Pace(rules, Monotonic(0.0))
    assert pace.refusal(step(y=most), HERE, Monotonic(0.0)) is None
    pace.moved_by_server(Monotonic(0.0))
    assert pace.refusal(step(y=most), HERE, Monotonic(0.0)) is None


def test_a_step_sent_before_the_server_moved_the_player_does_not_undo_the_move() -> None:
    """A player that is summoned while it walks was back at its old place, for the others."""
    pace, now = Pace(MovementRules(), 0.0), Monotonic(60.0)
    summoned = HERE._replace(x=20.0)
    pace.teleported(now)
    assert pace.refusal(step(2.0), summoned, Monotonic(now + 0.04)) is not None
    at = summoned
    for number in range(1, 40):
        there = at._replace(x=at.x + 2.5)
        assert pace.refusal(step(there.x), at, Monotonic(now + 0.04 + 0.25 * number)) is None
        at = there
