"""A clock that stands still until a test moves it; its two times cannot be taken for each other."""

from __future__ import annotations

from emu.times import Moment, Monotonic

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
