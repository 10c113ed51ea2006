"""The timers of behaviors and scripts.

A timer has an owner and a name. It may wait for a player: if its zone is empty when it is due, it
goes on when somebody enters. Source: docs/guides/lua.md#time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Final

from emu.times import Monotonic
from emu.world.deadlines import Deadlines, Timetable
from emu.world.events import Entered, Events, Order
from emu.world.zones.zone import Zone

SHORTEST_TIMER: Final = 0.01
SHORTEST_REPEAT: Final = 0.1
"""Seconds between the calls of a timer that is to be called several times, at least."""

Pace = Callable[[Callable[[], object]], object]
"""Makes a call now, or when there is time for it."""


@dataclass(slots=True, eq=False, kw_only=True)
class MindTimer:
    """A call that an owner wants later."""

    owner: Hashable
    name: str
    zone: Zone
    ring: Callable[[], object]
    seconds: float
    """How long it waits for each call."""
    times: int = 1
    """How many calls are left."""
    waits_for_player: bool = False
    pace: Pace | None = None
    """None for a call that waits for no share of the processor."""
    is_stopped: bool = False


class Timers:
    """The timers of a world."""

    def __init__(
        self, *, events: Events, timetable: Timetable, now: Callable[[], Monotonic]
    ) -> None:
        self._now = now
        self._of_owner: dict[Hashable, list[MindTimer]] = {}
        self._waiting: dict[Zone, dict[MindTimer, None]] = {}
        """Timers that were due while nobody was in the zone."""
        self._due: Deadlines[MindTimer, str] = timetable.deadlines(
            "a timer of a behavior or a script", self._ring
        )
        events.subscribe(Entered, self._entered, Order.MINDS)

    def count(self, owner: Hashable) -> int:
        """Return how many timers an owner has."""
        return len(self._of_owner.get(owner, ()))

    def has(self, owner: Hashable, name: str) -> bool:
        """Return whether an owner has a timer with a name."""
        return any(timer.name == name for timer in self._of_owner.get(owner, ()))

    def add_timer(self, timer: MindTimer) -> None:
        """Begin a timer."""
        timer.seconds = max(SHORTEST_TIMER, timer.seconds)
        timer.times = max(1, timer.times)
        self._of_owner.setdefault(timer.owner, []).append(timer)
        self._due.set(timer, "", Monotonic(self._now() + timer.seconds))

    def stop(self, owner: Hashable, name: str = "") -> None:
        """Stop the timers of an owner with a name; all of them without one."""
        for timer in list(self._of_owner.get(owner, ())):
            if not name or timer.name == name:
                self._stop(timer)

    def _stop(self, timer: MindTimer) -> None:
        timer.is_stopped = True
        own = self._of_owner[timer.owner]
        own.remove(timer)
        if not own:
            del self._of_owner[timer.owner]
        self._due.clear(timer, "")
        waiting = self._waiting.get(timer.zone, {})
        # Otherwise a zone that ends while timers wait in it would stay in memory.
        if waiting.pop(timer, True) is None and not waiting:
            del self._waiting[timer.zone]

    def _entered(self, event: Entered) -> None:
        for timer in self._waiting.pop(event.player.zone, ()):
            self._due.set(timer, "", event.now)

    def _ring(self, timer: MindTimer, _name: str, _now: Monotonic) -> None:
        if timer.waits_for_player and not timer.zone.is_watched:
            self._waiting.setdefault(timer.zone, {})[timer] = None
        elif timer.pace is None:
            self._run(timer)
        else:
            timer.pace(partial(self._run, timer))

    def _run(self, timer: MindTimer) -> None:
        """Make the call, and set the timer again if it has calls left."""
        # It may have waited for its share.
        if timer.is_stopped:
            return
        timer.times -= 1
        # Before the call: that may set the same timer again, or stop this one.
        if timer.times > 0:
            pause = max(SHORTEST_REPEAT, timer.seconds)
            self._due.set(timer, "", Monotonic(self._now() + pause))
        else:
            self._stop(timer)
        timer.ring()
