"""Another process of the world, as this one knows it: its topics, its numbers, its delay."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

MINUTE: Final = 60.0
"""Seconds for which the fastest message counts, at least."""


@dataclass(slots=True, eq=False)
class Peer:
    """Another process."""

    name: str
    term: int
    heard_at: float
    topics: dict[str, int] = field(default_factory=dict)
    """Topics that it answers, each with when it began, in this process' count."""
    numbers: dict[str, int] = field(default_factory=dict)
    """The last number of each topic."""
    is_interrupted: bool = False
    """Whether it was not heard since this process has connected anew."""
    asked: int = 0
    """Its questions that this process has not answered yet."""
    _fastest: list[float] = field(default_factory=list)
    """The least difference between both clocks in this minute and in the last one."""
    _fastest_until: float = 0.0

    def lag(self, sent: float, now: float) -> float:
        """Return how much longer a message took than the fastest one of the last minutes.

        The clocks of two machines start at different times and drift apart slowly.
        """
        apart = now - sent
        if not math.isfinite(apart):
            return math.inf
        if now >= self._fastest_until:
            self._fastest = [apart, *self._fastest[:1]]
            self._fastest_until = now + MINUTE
        self._fastest[0] = min(self._fastest[0], apart)
        return apart - min(self._fastest)

    def reconnected(self, heard_at: float) -> None:
        """Forget what holds for one connection: notes were lost.

        The delays stay: a broker that stood still may deliver old messages now.
        """
        self.heard_at = heard_at
        self.is_interrupted = True
        self.numbers.clear()
