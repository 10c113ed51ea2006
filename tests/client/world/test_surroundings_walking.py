"""Walking: honest steps four times a second, straight ahead, and a last one that says stop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.client.world.surroundings import RUNNING, SITTING, STEP, Place, Walker
from emu.times import Monotonic

number = st.floats(-30_000, 30_000)


def walked(walker: Walker, now: float) -> list[tuple[float, Place, float]]:
    steps = []
    while (due := walker.get_timer()) is not None:
        now = max(now, due)
        step = walker.step(Monotonic(now))
        steps.append((now, step.place, step.speed))
    return steps


@given(start=st.tuples(number, number, number), way=st.tuples(*[st.floats(-50, 50)] * 3))
def test_no_step_is_longer_than_its_time_allows_and_the_last_is_the_goal(start, way) -> None:
    walker = Walker()
    walker.stand_at(Place(*start))
    goal = Place(*(one + more for one, more in zip(start, way, strict=True)))
    walker.walk_to(goal, Monotonic(100.0), speed=8.0)
    steps = walked(walker, 100.0)
    assert steps[-1][1][:3] == goal[:3]
    assert steps[-1][2] == 0.0
    here = Place(*start)
    for _, place, _ in steps:
        assert here.distance_to(place) <= 8.0 * STEP + 1e-6
        here = place
    assert [speed for _, _, speed in steps[:-1]] == [8.0] * (len(steps) - 1)


def test_who_is_held_stops_and_goes_nowhere() -> None:
    walker = Walker()
    walker.walk_to(Place(40.0, 0.0, 0.0), Monotonic(0.0), speed=8.0)
    walker.step(Monotonic(1.0))
    walker.control(16, Monotonic(1.0), is_on=True)
    assert not walker.is_held, "that one keeps it from casting"
    walker.control(8, Monotonic(1.0), is_on=True)
    assert walked(walker, 1.0)[-1][1:] == (Place(8.0, 0.0, 0.0, walker.place.heading), 0.0)
    walker.walk_to(Place(40.0, 0.0, 0.0), Monotonic(2.0))
    assert walker.get_timer() is None
    walker.control(8, Monotonic(3.0), is_on=False)
    walker.walk_to(Place(9.0, 0.0, 0.0), Monotonic(3.0))
    assert walked(walker, 3.0)[-1][1].x == 9.0


def test_a_longer_interval_gives_fewer_and_longer_steps() -> None:
    walker = Walker()
    walker.interval = 2.0
    walker.walk_to(Place(40.0, 0.0, 0.0), Monotonic(0.0), speed=8.0)
    assert [(now, place.x) for now, place, _ in walked(walker, 0.0)] == [
        (0.0, 0.0), (2.0, 16.0), (4.0, 32.0), (6.0, 40.0),
    ]  # fmt: skip


def test_who_walks_along_both_axes_looks_there() -> None:
    walker = Walker()
    walker.walk_to(Place(3.0, 0.0, 3.0), Monotonic(0.0))
    walked(walker, 0.0)
    assert walker.place.heading == pytest.approx(225.0)


def test_fields_have_the_heading_of_clients() -> None:
    """A player who goes along +x reports 90, as creatures are shown that do (recorded)."""
    walker = Walker()
    walker.walk_to(Place(1.0, 0.0, 0.0), Monotonic(0.0))
    walker.step(Monotonic(0.0))
    fields = walker.step(Monotonic(0.05)).fields()
    assert (fields["direction1"], fields["activity"]) == (90.0, RUNNING)
    assert fields["x"] == pytest.approx(0.4)


def test_who_is_put_somewhere_stands_there_and_says_nothing() -> None:
    walker = Walker()
    walker.walk_to(Place(50.0, 0.0, 0.0), Monotonic(0.0))
    walker.stand_at(Place(7.0, 8.0, 9.0))
    assert walker.get_timer() is None
    assert (walker.goal, walker.place) == (None, Place(7.0, 8.0, 9.0))


def test_a_new_goal_in_mid_step_changes_the_way_and_not_the_pace() -> None:
    walker = Walker()
    walker.walk_to(Place(100.0, 0.0, 0.0), Monotonic(10.0), speed=8.0)
    walker.step(Monotonic(10.0))
    walker.walk_to(Place(0.0, 0.0, 100.0), Monotonic(10.125), speed=8.0)
    assert walker.get_timer() == 10.0 + STEP  # not at once: the last step was an eighth ago
    step = walker.step(Monotonic(10.0 + STEP))
    assert step.place[:3] == (0.0, 0.0, 8.0 * STEP)  # and that eighth is not lost
    assert walker.get_timer() == 10.0 + 2 * STEP


def test_stopping_says_where() -> None:
    walker = Walker()
    walker.walk_to(Place(50.0, 0.0, 0.0), Monotonic(0.0))
    walker.step(Monotonic(0.0))
    walker.step(Monotonic(1.0))
    walker.stop(Monotonic(1.1))
    walker.is_sitting = True
    step = walker.step(Monotonic(1.1))
    assert (step.place.x, step.speed, step.activity) == (8.0, 0.0, SITTING)
    assert walker.get_timer() is None
