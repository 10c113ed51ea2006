"""The dead of zones that do not run: what scripts want to stay dead there.

To know the placements of a location, the content of its zone must be read. A script can ask for
hundreds of zones in one call, so the number of reads is bounded over time, one zone is read after
another, and each read serves all locations of its zone that wait.
Source: docs/guides/lua.md#making.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from emu.content.population import Death
from emu.errors import EmuError
from emu.limits.rates import RateLimit
from emu.times import Monotonic
from emu.world.population.reading import ServedZone

READS_AT_ONCE: Final = 20
READ_RATE: Final = 0.2
"""Reads per second over time; a large zone takes a second of a thread."""
MOST_LOCATIONS: Final = 1000
"""Locations of one zone that wait."""


class AbsentDeaths:
    """Stores what stays dead in zones that do not run."""

    def __init__(
        self,
        *,
        read: Callable[[int], Awaitable[ServedZone | None]],
        start: Callable[[Coroutine[Any, Any, None]], object],
        died: Callable[[int, list[Death]], object],
        failed: Callable[[str], object],
        now: Callable[[], Monotonic],
    ) -> None:
        """`read` reads a zone and raises `EmuError`, `died` stores its deaths."""
        self._read = read
        self._start = start
        self._died = died
        self._failed = failed
        self._now = now
        self._pace = RateLimit(READ_RATE, READS_AT_ONCE, now())
        self._waiting: dict[int, dict[int, Monotonic]] = {}
        """When what stands at locations returns, by zone and location."""
        self._is_reading = False

    def keep(self, zone_id: int, location: int, seconds: int) -> None:
        """Let a location stay empty for so long; what is too much over time is left out."""
        now = self._now()
        if zone_id not in self._waiting and not self._pace.take(1, now):
            return
        locations = self._waiting.setdefault(zone_id, {})
        if location in locations or len(locations) < MOST_LOCATIONS:
            locations[location] = Monotonic(now + max(0, seconds))
        if not self._is_reading:
            self._is_reading = True
            self._start(self._store())

    async def _store(self) -> None:
        try:
            while self._waiting:
                zone_id = next(iter(self._waiting))
                try:
                    served = await self._read(zone_id)
                except EmuError as error:
                    self._failed(f"zone {zone_id}: a spawn could not be kept dead: {error}")
                    served = None
                # With those that came while the zone was read.
                locations = self._waiting.pop(zone_id)
                if served is not None:
                    self._died(zone_id, [
                        Death(one.id, is_dead=True, returns=locations[one.location_id])
                        for one in served.content.placements
                        if one.location_id in locations
                    ])  # fmt: skip
        finally:
            self._is_reading = False
