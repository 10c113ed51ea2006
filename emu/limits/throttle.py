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


class RateLimit:
    """One bucket: lets `burst` units through at once and `rate` units a second over time."""

    __slots__ = ("_burst", "_left", "_rate", "_when")

    def __init__(self, rate: float, burst: float, now: Monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._when = now

    def left(self, now: Monotonic) -> float:
        """Return how many units there are; below 0 they are owed."""
        if now > self._when:
            self._left = min(self._burst, self._left + (now - self._when) * self._rate)
            self._when = now
        return self._left

    def take(self, units: float, now: Monotonic) -> bool:
        """Spend units; False when there are not that many left."""
        if units > self.left(now):
            return False
        self._left -= units
        return True

    def charge(self, units: float, now: Monotonic) -> None:
        """Spend units even when there are none; debt grows to one full bucket at most."""
        self._left = max(self.left(now) - units, -self._burst)

    def give_back(self, units: float, now: Monotonic) -> bool:
        """Return units that were spent; True when the bucket is full with them."""
        self._left = min(self._burst, self.left(now) + units)
        return self._left >= self._burst


class Throttle:
    """A bucket for each key; keys that were not touched for longest are forgotten first."""

    __slots__ = ("_buckets", "_burst", "_most_keys", "_rate")

    def __init__(self, allowance: Allowance, *, most_keys: int = 100_000) -> None:
        self._burst = allowance.burst
        self._rate = 1 / allowance.refill
        self._most_keys = most_keys
        self._buckets: OrderedDict[Hashable, RateLimit] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def allows(self, key: Hashable, now: Monotonic) -> bool:
        """Say whether a token is left."""
        return self._bucket(key, now).left(now) >= 1

    def take(self, key: Hashable, now: Monotonic) -> bool:
        """Take a token; False, with nothing taken, when none is left."""
        bucket = self._bucket(key, now)
        if not bucket.take(1, now):
            return False
        self._keep(key, bucket)
        return True

    def charge(self, key: Hashable, now: Monotonic) -> None:
        """Take a token even when none is left; debt grows to one full bucket at most."""
        bucket = self._bucket(key, now)
        bucket.charge(1, now)
        self._keep(key, bucket)

    def give_back(self, key: Hashable, now: Monotonic) -> None:
        """Return a token that was taken for something that turned out right."""
        if self._bucket(key, now).give_back(1, now):
            self._buckets.pop(key, None)

    def _bucket(self, key: Hashable, now: Monotonic) -> RateLimit:
        """Return a key's bucket; a full one, which is not kept, for a key that has none."""
        known = self._buckets.get(key)
        return RateLimit(self._rate, self._burst, now) if known is None else known

    def _keep(self, key: Hashable, bucket: RateLimit) -> None:
        self._buckets[key] = bucket
        self._buckets.move_to_end(key)
        if len(self._buckets) > self._most_keys:
            self._buckets.popitem(last=False)
