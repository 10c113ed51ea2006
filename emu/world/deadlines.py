"""Named deadlines of many owners in one heap.

An owner has at most one deadline of each name; setting it again moves it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final, Generic, TypeVar

from emu.times import Monotonic

Owner = TypeVar("Owner", bound=Hashable)
Name = TypeVar("Name", bound=Hashable)

SWEEP_FROM: Final = 64


class Deadlines(Generic[Owner, Name]):
    """All deadlines; times are seconds of the caller's clock."""

    __slots__ = ("_due", "_heap", "_serial", "_wake")

    def __init__(self, wake: Callable[[Monotonic], None]) -> None:
        """`wake` asks to call `pop_due` at a time at the latest."""
        self._wake = wake
        self._due: dict[tuple[Owner, Name], Monotonic] = {}
        # A deadline that is moved or cleared leaves its old entry in the heap: finding it there
        # would take as long as the heap is large. An entry counts only while `_due` has its time.
        self._heap: list[tuple[Monotonic, int, tuple[Owner, Name]]] = []
        self._serial = 0

    def __len__(self) -> int:
        return len(self._due)

    def set(self, owner: Owner, name: Name, due: Monotonic) -> None:
        """Set or move one deadline."""
        key = (owner, name)
        self._due[key] = due
        # The serial number keeps entries with the same time in the order of their setting, and
        # keeps heapq from comparing owners.
        self._serial += 1
        heapq.heappush(self._heap, (due, self._serial, key))
        self._sweep()
        self._wake(due)

    def get(self, owner: Owner, name: Name) -> Monotonic | None:
        """Return the time of a deadline, None if there is none."""
        return self._due.get((owner, name))

    def clear(self, owner: Owner, name: Name) -> bool:
        """Remove one deadline; return whether there was one."""
        if self._due.pop((owner, name), None) is None:
            return False
        self._sweep()
        return True

    def forget(self, owner: Owner, names: Iterable[Name]) -> None:
        """Remove the deadlines of an owner that have one of these names."""
        for name in names:
            self.clear(owner, name)

    def _sweep(self) -> None:
        """Remove the old entries when they are the most."""
        # A client that starts and stops to camp all day would otherwise fill the heap with them,
        # and the timers of a zone that has ended would keep all of its spawns.
        if len(self._heap) > SWEEP_FROM + 2 * len(self._due):
            valid = enumerate(self._due.items())
            self._heap = [(when, serial, key) for serial, (key, when) in valid]
            self._serial = len(self._heap)
            heapq.heapify(self._heap)

    def next(self) -> Monotonic | None:
        """Return the time of the earliest deadline."""
        heap = self._heap
        # Old entries of moved and cleared deadlines are dropped when they come to the top.
        while heap and self._due.get(heap[0][2]) != heap[0][0]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def pop_due(self, now: Monotonic) -> tuple[Owner, Name] | None:
        """Remove and return the earliest deadline that is due; None if none is."""
        due = self.next()
        if due is None or due > now:
            return None
        key = heapq.heappop(self._heap)[2]
        del self._due[key]
        return key

    def some_due(self, now: Monotonic, most: int) -> Iterator[tuple[Owner, Name]]:
        """Remove and yield what is due, the earliest first, at most so many.

        `next` then returns the past if more is due.
        """
        for _ in range(most):
            due = self.pop_due(now)
            if due is None:
                return
            yield due
