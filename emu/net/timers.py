"""Deadlines of many owners over one reactor call: a heap that is corrected when it is read.

A session's deadline moves with every datagram, nearly always later. Cancelling and rearming a
reactor call each time would cost more than the datagram; here a later deadline only overwrites a
number, and the heap entry is put right when it comes up. Knows no reactor.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import Generic, TypeVar

Owner = TypeVar("Owner")


class Timer(Generic[Owner]):
    """One owner's deadline; made by `TimerHeap.timer` and armed by `TimerHeap.arm`."""

    __slots__ = ("deadline", "owner", "queued")

    def __init__(self, owner: Owner) -> None:
        self.owner = owner
        self.deadline = math.inf
        self.queued = math.inf
        """When the earliest heap entry of this timer comes up."""


class TimerHeap(Generic[Owner]):
    """All deadlines of one endpoint. Times are seconds on the caller's clock."""

    __slots__ = ("_heap", "_serial")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Timer[Owner]]] = []
        self._serial = 0

    def timer(self, owner: Owner) -> Timer[Owner]:
        """Make a timer, not armed yet."""
        return Timer(owner)

    def arm(self, timer: Timer[Owner], deadline: float | None) -> None:
        """Set a timer's deadline, or disarm it with None."""
        timer.deadline = math.inf if deadline is None else deadline
        if timer.deadline < timer.queued:
            self._push(timer)

    def next(self) -> float | None:
        """Return when to call `due` next (it may yield nothing then), None when never."""
        return self._heap[0][0] if self._heap else None

    def due(self, now: float) -> Iterator[Owner]:
        """Disarm and yield the owner of each timer whose deadline has come."""
        while self._heap and self._heap[0][0] <= now:
            queued, _, timer = heapq.heappop(self._heap)
            if queued != timer.queued:
                continue  # an earlier entry of the same timer has taken over
            timer.queued = math.inf
            if timer.deadline <= now:
                timer.deadline = math.inf
                yield timer.owner
            elif timer.deadline < math.inf:
                self._push(timer)

    def _push(self, timer: Timer[Owner]) -> None:
        timer.queued = timer.deadline
        self._serial += 1
        heapq.heappush(self._heap, (timer.deadline, self._serial, timer))
