"""What ended zones had, freed in slices."""

from __future__ import annotations

import weakref

from emu.times import Monotonic
from emu.world.deadlines import WORK_SECONDS
from emu.world.population.freeing import AT_ONCE, Freeing
from tests.support.times import timetable


class Thing:
    pass


def test_objects_are_freed_a_slice_in_each_turn() -> None:
    seconds = 10.0

    def now() -> Monotonic:
        nonlocal seconds
        seconds += WORK_SECONDS / 4
        return Monotonic(seconds)

    times = timetable()
    freeing = Freeing(times, now)
    things = {number: Thing() for number in range(5 * AT_ONCE)}
    alive = weakref.WeakSet(things.values())
    freeing.free_in_slices(things.values(), [])
    things.clear()
    left = [len(alive)]
    while (due := times.get_timer()) is not None:
        seconds = max(seconds, due)
        times.handle_timer(Monotonic(seconds))
        left.append(len(alive))
    assert left == [5 * AT_ONCE, 2 * AT_ONCE, 0]
    assert not len(freeing)


def test_nothing_waits_where_nothing_is_large() -> None:
    times = timetable()
    Freeing(times, lambda: Monotonic(0.0)).free_in_slices([], ())
    assert times.get_timer() is None
