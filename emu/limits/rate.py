"""A token bucket: how much a peer may send at once and over time. Knows no clock."""

from __future__ import annotations

from emu.times import Monotonic


class RateLimit:
    """Lets `burst` units through at once and `rate` units a second over time."""

    __slots__ = ("_burst", "_left", "_rate", "_when")

    def __init__(self, rate: float, burst: float, now: Monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._when = now

    def has(self, units: float, now: Monotonic) -> bool:
        """Say whether there are that many units left."""
        return self.take(0, now) and units <= self._left

    def take(self, units: float, now: Monotonic) -> bool:
        """Spend units; False when there are not that many left."""
        if now > self._when:
            self._left = min(self._burst, self._left + (now - self._when) * self._rate)
            self._when = now
        if units > self._left:
            return False
        self._left -= units
        return True
