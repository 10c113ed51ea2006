"""A clock that stands still until a test moves it; its two times cannot be taken for each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.times import Moment, Monotonic
from emu.world.deadlines import Timetable
from emu.world.reports import Faults

APART = 1_700_000_000.0
"""Seconds by which the wall clock is ahead of the time that paces."""


class ManualClock:
    """`emu.times.Clock` in a test's hand."""

    def __init__(self, seconds: float = 1_000_000.0) -> None:
        self.seconds = seconds
        self.stepped = 0.0
        """How far somebody has set the wall clock forward."""

    def now(self) -> Monotonic:
        return Monotonic(self.seconds)

    def moment(self) -> Moment:
        return Moment(self.seconds + APART + self.stepped)


def timetable(wake: Callable[[Monotonic], None] = lambda _due: None) -> Timetable:
    """Return the timetable of a part of a world; a test calls its `handle_timer`."""
    return Timetable(wake, Faults(lambda _event: None).attempt)


IDLE: Final = frozenset((
    "players' deadlines", "the timer of the zones", "members who are away", "creatures that attack",
    "creatures of hostile factions", "rest of players",
))  # fmt: skip
"""The tasks that a world has without a behavior or a script."""


def waiting(timetable: Timetable) -> set[str]:
    """Return the tasks of a world's timetable that have a deadline."""
    heaps = (timetable._heap, timetable._last)
    return {
        entry[2].task
        for heap in heaps
        for entry in (*heap.entries, *heap.swept)
        if entry[2] is not None
    }
