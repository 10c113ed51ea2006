"""What two snapshots of one server tell together: how much a second, and how long ticks took.

Knows no clock: the server's own times stand in the snapshots.
"""

from __future__ import annotations

from dataclasses import dataclass

from emu.admin.snapshot.reading import Histogram, Snapshot


@dataclass(frozen=True, slots=True)
class Rates:
    """The time between two snapshots; `before` is None for the first look at a server."""

    now: Snapshot
    before: Snapshot | None = None

    @classmethod
    def between(cls, before: Snapshot | None, now: Snapshot) -> Rates:
        """Compare two snapshots; those of two processes, or of one moment, cannot be."""
        if before is None or before.process != now.process or before.taken >= now.taken:
            return cls(now)
        return cls(now, before)

    def rate(self, name: str, *labels: str) -> float | None:
        """Return how much a counter grows a second, None with nothing to compare."""
        if self.before is None:
            return None
        grown = self.now.number(name, *labels) - self.before.number(name, *labels)
        return max(0.0, grown) / (self.now.taken - self.before.taken)

    def rates_by_last(self, name: str, *labels: str) -> dict[str, float]:
        """Return what of a counter grows, a second, by its last label."""
        if self.before is None:
            return {}
        before, seconds = self.before.by_last(name, *labels), self.now.taken - self.before.taken
        grown = {
            key: (value - before.get(key, 0)) / seconds
            for key, value in self.now.by_last(name, *labels).items()
        }
        return {key: value for key, value in grown.items() if value > 0}

    def histogram(self, name: str, *labels: str) -> Histogram:
        """Return what a histogram noted between the two; of the first look, all since the start."""
        now = self.now.histogram(name, *labels)
        return now if self.before is None else now.since(self.before.histogram(name, *labels))
