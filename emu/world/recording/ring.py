"""The newest minutes of a zone: entries in segments, of which the oldest one goes.

A segment begins with a snapshot of the zone, so that a replay can begin there; the first one of a
zone begins with its start, and needs none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

SEGMENTS: Final = 5
"""Segments of a whole ring: it has up to one of these parts more than it was asked for."""
MOST_ENTRIES: Final = 200_000
"""Entries of a ring; a crowded zone keeps a shorter time instead."""


@dataclass(slots=True)
class InputEntry:
    """One thing that came into a zone; `number` gives the order among all zones."""

    number: int
    now: float
    kind: str
    data: tuple[Any, ...] = ()
    readings: list[float] = field(default_factory=list)
    """What the clock showed while it was handled, in that order."""


@dataclass(slots=True)
class Segment:
    """The entries from one snapshot to the next."""

    began: float
    snapshot: Any = None
    """What the zone was; None for its start."""
    drawn: int = 0
    """Numbers that chance had given before."""
    seed: bytes = b""
    first_spawn: int = 1
    """The number of a spawn that was free when the zone started."""
    beside: tuple[bytes, int] = (b"", 0)
    """Seed and count of the chance of what belongs to no zone."""
    entries: list[InputEntry] = field(default_factory=list)


class Ring:
    """The newest segments of one zone."""

    __slots__ = ("_seconds", "segments")

    def __init__(self, seconds: float, first: Segment) -> None:
        """Keep at least `seconds`."""
        self._seconds = seconds
        self.segments: deque[Segment] = deque((first,))

    def add_entry(self, entry: InputEntry) -> None:
        """Add an entry."""
        self.segments[-1].entries.append(entry)

    def is_over(self, now: float) -> bool:
        """Return whether the next segment is to begin."""
        newest = self.segments[-1]
        return (
            now - newest.began >= self._seconds / SEGMENTS
            or len(newest.entries) >= MOST_ENTRIES // SEGMENTS
        )

    def begin(self, segment: Segment) -> None:
        """Begin a segment; forget those that are too old, or too many."""
        self.segments.append(segment)
        while len(self.segments) > 1 and (
            segment.began - self.segments[1].began >= self._seconds
            or sum(len(one.entries) for one in self.segments) > MOST_ENTRIES
        ):
            self.segments.popleft()

    def __iter__(self) -> Iterator[InputEntry]:
        """All entries, the oldest first."""
        for segment in self.segments:
            yield from segment.entries

    def __len__(self) -> int:
        return sum(len(one.entries) for one in self.segments)
