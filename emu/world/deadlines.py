"""What is to be done when: deadlines of many owners in one heap, by name.

An owner has one deadline of each name; setting it again moves it. Entries that were overtaken stay
in the heap until they come up or are most of it. Knows no clock.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from emu.times import Monotonic

Owner = TypeVar("Owner", bound=Hashable)

SWEEP_FROM: Final = 64


class Deadlines(Generic[Owner]):
    """All deadlines; times are seconds of the caller's clock."""

    __slots__ = ("_due", "_heap", "_serial")

    def __init__(self) -> None:
        self._due: dict[tuple[Owner, str], Monotonic] = {}
        self._heap: list[tuple[Monotonic, int, tuple[Owner, str]]] = []
        self._serial = 0

    def __len__(self) -> int:
        return len(self._due)

    def set(self, owner: Owner, what: str, due: Monotonic) -> None:
        """Set or move one deadline."""
        key = (owner, what)
        self._due[key] = due
        self._serial += 1
        heapq.heappush(self._heap, (due, self._serial, key))
        if len(self._heap) > SWEEP_FROM + 2 * len(self._due):
            alive = enumerate(self._due.items())
            self._heap = [(when, serial, key) for serial, (key, when) in alive]
            self._serial = len(self._heap)
            heapq.heapify(self._heap)

    def get(self, owner: Owner, what: str) -> Monotonic | None:
        """Return when something is due, None when it is not."""
        return self._due.get((owner, what))

    def clear(self, owner: Owner, what: str) -> bool:
        """Take one deadline back; returns whether there was one."""
        return self._due.pop((owner, what), None) is not None

    def forget(self, owner: Owner, names: tuple[str, ...]) -> None:
        """Take back what an owner may have, by these names."""
        for what in names:
            self.clear(owner, what)

    def next(self) -> Monotonic | None:
        """Return the earliest deadline."""
        heap = self._heap
        while heap and self._due.get(heap[0][2]) != heap[0][0]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def pop_due(self, now: Monotonic) -> tuple[Owner, str] | None:
        """Take the earliest deadline that has come, None when none has."""
        due = self.next()
        if due is None or due > now:
            return None
        key = heapq.heappop(self._heap)[2]
        del self._due[key]
        return key
