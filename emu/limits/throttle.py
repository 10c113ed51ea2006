"""Token buckets: one for each key, to slow guessing down, and one alone, to slow a peer down.

A bucket is full at first; every try takes a token, time gives tokens back, and without one nothing
more is tried. Time is an argument, memory is bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from emu.times import Monotonic


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many tries somebody has at once, and how many seconds each takes to come back."""

    burst: int
    refill: float


def hourly(count: int) -> Allowance:
    """Return the allowance of so many an hour, all at once or spread."""
    return Allowance(burst=count, refill=3600 / count)


class Throttle:
    """A bucket for each key; keys that were not touched for longest are forgotten first."""

    __slots__ = ("_allowance", "_buckets", "_most_keys")

    def __init__(self, allowance: Allowance, *, most_keys: int = 100_000) -> None:
        self._allowance = allowance
        self._most_keys = most_keys
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def allows(self, key: Hashable, now: Monotonic) -> bool:
        """Say whether a token is left."""
        return self._tokens(key, now) >= 1

    def take(self, key: Hashable, now: Monotonic) -> bool:
        """Take a token; False, with nothing taken, when none is left."""
        tokens = self._tokens(key, now)
        if tokens < 1:
            return False
        self._put(key, tokens - 1, now)
        return True

    def charge(self, key: Hashable, now: Monotonic) -> None:
        """Take a token even when none is left; debt grows to one full bucket at most."""
        self._put(key, max(self._tokens(key, now) - 1, -float(self._allowance.burst)), now)

    def give_back(self, key: Hashable, now: Monotonic) -> None:
        """Return a token that was taken for something that turned out right."""
        self._put(key, self._tokens(key, now) + 1, now)

    def _tokens(self, key: Hashable, now: Monotonic) -> float:
        tokens, when = self._buckets.get(key, (self._allowance.burst, now))
        gained = max(0.0, now - when) / self._allowance.refill
        return min(float(self._allowance.burst), tokens + gained)

    def _put(self, key: Hashable, tokens: float, now: Monotonic) -> None:
        if tokens >= self._allowance.burst:
            self._buckets.pop(key, None)
            return
        self._buckets[key] = (tokens, now)
        self._buckets.move_to_end(key)
        if len(self._buckets) > self._most_keys:
            self._buckets.popitem(last=False)


class RateLimit:
    """One bucket: lets `burst` units through at once and `rate` units a second over time."""

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
