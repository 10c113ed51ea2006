"""Instances of zones."""

from __future__ import annotations

import gc
from random import Random

import pytest

from emu.times import Monotonic
from emu.world.deadlines import LONG_SECONDS, Timetable
from emu.world.population.atlas import read_atlas
from emu.world.reports import Faults
from emu.world.rules import ZoneRules
from emu.world.zones.chances import ZoneChances
from emu.world.zones.directory import (
    LATEST_TICK,
    TICKS_SECONDS,
    NoSuchZone,
    ZoneDeadline,
    Zones,
)
from emu.world.zones.zone import Zone
from tests.support.times import timetable
from tests.support.world.zone_clients import ZoneClient, player

FAULTS = Faults(lambda _event: None)
CHANCES = ZoneChances(lambda count: count - 1, Random)


def zones() -> Zones:
    return Zones(
        read_atlas(),
        lambda *_: None,
        ZoneRules(),
        faults=FAULTS,
        timetable=timetable(),
        chances=CHANCES,
        linger=10.0,
    )


def test_a_zone_is_started_once_and_found_again() -> None:
    known = zones()
    zone = known.with_space(325, 0.0, lambda _zone: 5)
    assert known.with_space(325, 1.0, lambda _zone: 5) is zone is known.find(325)
    assert list(known) == [zone]
    with pytest.raises(NoSuchZone, match="no zone 7"):
        known.with_space(7, 0.0, lambda _zone: 0)


def test_an_empty_zone_lingers_and_is_kept_by_who_comes_back() -> None:
    known = zones()
    zone = known.with_space(325, 0.0, lambda _zone: 0)
    known.left(zone, 1, 5.0)
    assert known.timetable.get_timer() is None
    known.left(zone, 0, 5.0)
    assert known.timetable.get_timer() == 15.0
    assert known.with_space(325, 6.0, lambda _zone: 0) is zone
    known.timetable.handle_timer(100.0)
    assert known.find(325) is zone
    known.left(zone, 0, 100.0)
    known.timetable.handle_timer(110.0)
    assert known.find(325) is None
    assert known.timetable.get_timer() is None


def test_of_zones_that_are_empty_for_long_each_call_ends_one() -> None:
    known = zones()
    for number in range(3):
        known.left(known.private(325, number, 0.0), 0, 5.0)
    for left in (2, 1, 0):
        assert known.timetable.get_timer() == (15.0 if left == 2 else 20.0)
        known.timetable.handle_timer(20.0)
        assert len(list(known)) == left
    assert known.timetable.get_timer() is None


@pytest.mark.slow
def test_a_zone_that_has_ended_needs_no_collector() -> None:
    def there() -> int:
        every = (one for one in gc.get_objects() if type(one) is Zone)
        return sum(one.instance == 4711 for one in every)

    known = zones()
    gc.disable()
    try:
        known.private(325, 4711, Monotonic(0.0))
        assert there() == 1
        known.end(known.private(325, 4711, Monotonic(0.0)))
        assert there() == 0
    finally:
        gc.enable()


def test_the_first_tick_of_a_long_turn_waits_for_a_further_one_but_not_for_long() -> None:
    seconds, ticked = 0.0, list[int]()
    times = Timetable(lambda _due: None, FAULTS.attempt, lambda: Monotonic(100.0 + seconds))
    known = Zones(
        read_atlas(), lambda *_: None, ZoneRules(), faults=FAULTS, timetable=times, chances=CHANCES,
    )  # fmt: skip
    known.tick = lambda zone, now: (ticked.append(times.turn), zone.tick(now))

    def work(_owner: str, _name: None, _now: Monotonic) -> None:
        nonlocal seconds
        seconds = 2 * LONG_SECONDS

    slow = times.deadlines("slow work", work)
    ZoneClient(player(1)).enter(known.private(325, 0, Monotonic(0.0)), Monotonic(99.0))
    for _ in range(LATEST_TICK + 1):
        seconds = 0.0
        slow.set("a", None, Monotonic(99.0))
        times.handle_timer(Monotonic(100.0))
    assert ticked == [LATEST_TICK + 1]


def test_ticks_of_many_zones_take_their_turns() -> None:
    ticked: list[Zone] = []
    seconds = 20.0

    def tick(zone: Zone, _now: Monotonic) -> None:
        nonlocal seconds
        seconds += 0.6 * TICKS_SECONDS
        ticked.append(zone)

    times = timetable()
    known = Zones(
        read_atlas(), lambda *_: None, ZoneRules(),
        faults=FAULTS, timetable=times, chances=CHANCES, tick=tick,
        clock=lambda: Monotonic(seconds),
    )  # fmt: skip
    running = [known.private(325, number, Monotonic(0.0)) for number in range(5)]
    for zone in running:
        known._deadlines.set(zone, ZoneDeadline.TICK, Monotonic(5.0))
    counts = []
    for _ in range(3):
        times.handle_timer(Monotonic(seconds))
        counts.append(len(ticked))
    assert counts == [2, 4, 5]
    assert ticked == running


def test_who_ticks_zones_may_time_them() -> None:
    ticked: list[tuple[Zone, float]] = []
    known = Zones(
        read_atlas(), lambda *_: None, ZoneRules(), faults=FAULTS, timetable=timetable(),
        chances=CHANCES, tick=lambda zone, now: ticked.append((zone, now)),
    )  # fmt: skip
    zone = known.with_space(325, 0.0, lambda _zone: 0)
    watching, moving = ZoneClient(player(1)), ZoneClient(player(2, 100.0))
    watching.enter(zone, 0.0)
    moving.enter(zone, 0.0)
    due = known.timetable.get_timer()
    assert due is not None
    known.timetable.handle_timer(due)
    assert ticked == [(zone, due)]
