"""Timers: what rings when, how often, and what waits for a player."""

from types import SimpleNamespace
from typing import Any

import pytest

from emu.times import Monotonic
from emu.world.events import Entered, Events
from emu.world.minds.timers import SHORTEST_REPEAT, MindTimer, Timers
from emu.world.reports import Faults
from tests.support.times import timetable


class Place:
    """A zone that a test says is watched or not."""

    is_watched = True


class Clockwork:
    """Timers with a clock of the test, and what has rung."""

    def __init__(self) -> None:
        self.now = Monotonic(100.0)
        self.events = Events(Faults(lambda _event: None))
        self.timetable = timetable()
        self.timers = Timers(events=self.events, timetable=self.timetable, now=lambda: self.now)
        self.zone: Any = Place()
        self.rung: list[tuple[str, float]] = []

    def add(self, name: str, seconds: float, owner: str = "one", **values: Any) -> None:
        timer = MindTimer(
            owner=owner, name=name, zone=self.zone, seconds=seconds,
            ring=lambda: self.rung.append((name, self.now - 100.0)), **values,
        )  # fmt: skip
        self.timers.add_timer(timer)

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while (due := self.timetable.get_timer()) is not None and due <= end:
            self.now = max(self.now, due)
            self.timetable.handle_timer(self.now)
        self.now = Monotonic(end)


@pytest.fixture
def clockwork() -> Clockwork:
    return Clockwork()


def test_a_timer_rings_as_often_as_it_says(clockwork: Clockwork) -> None:
    clockwork.add("once", 1.0)
    clockwork.add("thrice", 2.0, times=3)
    clockwork.run(60.0)
    assert clockwork.rung == [("once", 1.0), ("thrice", 2.0), ("thrice", 4.0), ("thrice", 6.0)]
    assert clockwork.timers.count("one") == 0


def test_repeats_have_a_least_pause(clockwork: Clockwork) -> None:
    clockwork.add("fast", 0.0, times=3)
    clockwork.run(1.0)
    times = [when for _, when in clockwork.rung]
    assert times == pytest.approx([times[0] + SHORTEST_REPEAT * number for number in range(3)])


def test_the_timers_of_an_owner_are_stopped_by_name_or_all(clockwork: Clockwork) -> None:
    for owner in ("one", "other"):
        clockwork.add("a", 1.0, owner)
        clockwork.add("b", 1.0, owner)
    clockwork.timers.stop("one", "a")
    assert (clockwork.timers.has("one", "a"), clockwork.timers.has("one", "b")) == (False, True)
    clockwork.timers.stop("other")
    clockwork.run(5.0)
    assert clockwork.rung == [("b", 1.0)]


@pytest.mark.parametrize(("waits", "rung"), [(False, [("beat", 1.0)]), (True, [])])
def test_a_timer_may_wait_for_a_player(
    clockwork: Clockwork, *, waits: bool, rung: list[tuple[str, float]]
) -> None:
    clockwork.zone.is_watched = False
    clockwork.add("beat", 1.0, waits_for_player=waits)
    clockwork.run(5.0)
    assert clockwork.rung == rung
    clockwork.zone.is_watched = True
    player: Any = SimpleNamespace(name="Aldana", zone=clockwork.zone)
    clockwork.events.publish(Entered(player, clockwork.now))
    clockwork.run(1.0)
    assert clockwork.rung == (rung or [("beat", 5.0)])


def test_what_waits_ends_with_its_zone_and_what_is_stopped_rings_no_more(
    clockwork: Clockwork,
) -> None:
    waiting: list[Any] = []
    clockwork.add("late", 1.0, pace=waiting.append)
    clockwork.zone.is_watched = False
    clockwork.add("beat", 1.0, "other", waits_for_player=True)
    clockwork.run(2.0)
    clockwork.timers.stop("one")
    for call in waiting:
        call()
    clockwork.timers.stop("other")
    assert not clockwork.timers._waiting
    player: Any = SimpleNamespace(name="Aldana", zone=clockwork.zone)
    clockwork.events.publish(Entered(player, clockwork.now))
    clockwork.run(2.0)
    assert (len(waiting), clockwork.rung) == (1, [])
