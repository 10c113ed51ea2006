"""The timer of a world: the world says when it is due, and is called then, whatever it raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.metrics import Histogram
from emu.net.scheduler import Scheduler
from emu.times import Monotonic
from emu.world.zones.zone import Zone

RETRY: Final = 0.1
"""Seconds until a world whose timer raised is called again."""


class WorldTimer:
    """Calls the world's timer when it is due."""

    __slots__ = (
        "_due", "_handle", "_is_handling", "_is_stopped", "_scheduler", "_ticks", "_timer",
        "_zone_ticks",
    )  # fmt: skip

    def __init__(
        self,
        scheduler: Scheduler,
        due: Callable[[], Monotonic | None],
        handle: Callable[[Monotonic], None],
        ticks: Histogram | None = None,
        zone_ticks: Histogram | None = None,
    ) -> None:
        """Call `handle` at the time that `due` returns; None is never.

        `ticks` records how many seconds each call took, `zone_ticks` those of the tick of each
        zone. The world that is called is made after its timer, because it needs `wake`.
        """
        self._scheduler = scheduler
        self._due, self._handle = due, handle
        self._ticks = ticks
        self._zone_ticks = zone_ticks
        self._timer = scheduler.timer(self)
        self._is_handling = False
        """While the world is called; it says at the end of the call when it is due next."""
        self._is_stopped = False

    def handle_timer(self, now: Monotonic) -> None:
        """Call the world; called by the scheduler.

        If the world raises, it is called again after a moment, whatever its own timer says.
        """
        if self._is_stopped:
            return
        begun = self._scheduler.now()
        due: Monotonic | None = Monotonic(now + RETRY)
        self._is_handling = True
        try:
            self._handle(now)
            due = self._due()
        finally:
            # Armed once: the reactor would wake in vain for each earlier time.
            self._is_handling = False
            if not self._is_stopped:
                self._scheduler.arm(self._timer, due)
        if self._ticks is not None:
            self._ticks.observe(self._scheduler.now() - begun)

    def tick(self, zone: Zone, now: Monotonic) -> None:
        """Tick a zone and record how long it took."""
        begun = self._scheduler.now()
        zone.tick(now)
        # Monitors read the metrics without a rank; the zone would betray its hidden players.
        if zone.is_listed and self._zone_ticks is not None:
            name = zone.definition.file
            self._zone_ticks.observe(self._scheduler.now() - begun, name, str(zone.instance))

    def wake(self, due: Monotonic) -> None:
        """Call the world at a time at the latest.

        This is called for every step of a player, so it compares times instead of asking the
        world for its earliest deadline.
        """
        if due < self._timer.deadline and not (self._is_handling or self._is_stopped):
            self._scheduler.arm(self._timer, due)

    def late(self, now: Monotonic) -> float:
        """Return how many seconds ago the world should have been called; 0 if it is in time."""
        due = None if self._is_stopped else self._due()
        return 0.0 if due is None else max(0.0, now - due)

    def stop(self) -> None:
        """Call the world no more."""
        self._scheduler.drop(self._timer)
        self._is_stopped = True
