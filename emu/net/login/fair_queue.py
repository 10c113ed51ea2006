"""Who is next: sources take turns, and within a source whoever came first.

A plain value without threads or time. A source is whoever must not crowd out others, for passwords
an address. When too much waits, the longest line loses its newest: whoever sends most pays first.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Items that wait, and how many of each source are under way."""

    __slots__ = ("_at_once", "_lines", "_most_waiting", "_running", "_waiting")

    def __init__(self, *, most_waiting: int, at_once: int) -> None:
        """Bound what waits in all, and what one source may have under way at once."""
        self._most_waiting = most_waiting
        self._at_once = at_once
        self._lines: OrderedDict[str, deque[T]] = OrderedDict()
        self._running: Counter[str] = Counter()
        self._waiting = 0

    def __len__(self) -> int:
        """Return how many wait."""
        return self._waiting

    @property
    def running(self) -> int:
        """How many were taken and are not done."""
        return self._running.total()

    def put(self, source: str, item: T) -> T | None:
        """Let an item wait; return the one that has to go for it, perhaps the item itself."""
        line = self._lines.setdefault(source, deque())
        line.append(item)
        self._waiting += 1
        if self._waiting <= self._most_waiting:
            return None
        longest = max(self._lines, key=lambda name: (len(self._lines[name]), name == source))
        return self._remove(longest, newest=True)

    def take(self) -> tuple[str, T] | None:
        """Return the source and item that come next; None when nothing may begin."""
        for source in self._lines:
            if self._running[source] < self._at_once:
                self._running[source] += 1
                self._lines.move_to_end(source)
                return source, self._remove(source)
        return None

    def done(self, source: str) -> None:
        """Learn that an item of this source is over."""
        self._running[source] -= 1
        if not self._running[source]:
            del self._running[source]

    def clear(self) -> list[T]:
        """Return all that waits and let none of it wait any longer."""
        left = [item for line in self._lines.values() for item in line]
        self._lines.clear()
        self._waiting = 0
        return left

    def _remove(self, source: str, *, newest: bool = False) -> T:
        line = self._lines[source]
        item = line.pop() if newest else line.popleft()
        self._waiting -= 1
        if not line:
            del self._lines[source]
        return item
