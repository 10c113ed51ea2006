"""Deadlines of many owners over one reactor call: a heap that is corrected when it is read.

A session's deadline moves with every datagram, nearly always later. Cancelling and rearming a
reactor call each time would cost more than the datagram; here a later deadline only overwrites a
number, and the heap entry is put right when it comes up. Entries that mean nothing any more are
swept out when they are half of the heap or all of it, so that a flood of sessions that come and
go leaves nothing behind. Knows no reactor.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

from emu.times import Monotonic

Owner = TypeVar("Owner")

SWEEP_FROM = 64
"""Entries without a meaning that are not worth a sweep."""


class Timed(Protocol):
    """What a timer belongs to."""

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""


class Timer(Generic[Owner]):
    """One owner's deadline; made by `TimerHeap.timer` and armed by `TimerHeap.arm`."""

    __slots__ = ("deadline", "owner", "queued")

    def __init__(self, owner: Owner) -> None:
        self.owner: Owner | None = owner
        self.deadline = math.inf
        self.queued = math.inf
        """When the earliest heap entry of this timer comes up."""


def _nobody(_deadline: float | None) -> None:
    """Whom a heap tells that is asked anyway."""


class TimerHeap(Generic[Owner]):
    """All deadlines of one endpoint. Times are seconds on the caller's clock.

    `moved` is called when what `next` says has become earlier or None, and is told what that is.
    """

    __slots__ = ("_armed", "_heap", "_moved", "_serial", "_sweep_from", "_void")

    def __init__(
        self, sweep_from: int = SWEEP_FROM, moved: Callable[[float | None], object] = _nobody
    ) -> None:
        self._moved = moved
        self._heap: list[tuple[float, int, Timer[Owner]]] = []
        self._armed = 0
        self._serial = 0
        self._sweep_from = sweep_from
        self._void = 0  # entries that may be without a meaning, since the last sweep

    def __len__(self) -> int:
        """How many entries there are, of whatever meaning."""
        return len(self._heap)

    def timer(self, owner: Owner) -> Timer[Owner]:
        """Make a timer, not armed yet."""
        return Timer(owner)

    def arm(self, timer: Timer[Owner], deadline: float | None) -> None:
        """Set a timer's deadline, or disarm it with None."""
        if deadline is None:
            self._disarm(timer)
            return
        self._armed += timer.deadline == math.inf
        timer.deadline = deadline
        if deadline < timer.queued:
            overtaken = timer.queued < math.inf
            self._push(timer)
            if overtaken:
                self._note_void()

    def drop(self, timer: Timer[Owner]) -> None:
        """Disarm a timer for good and let go of its owner; a second time does nothing."""
        timer.owner = None
        self.arm(timer, None)

    def next(self) -> float | None:
        """Return when to call `due` next (it may yield nothing then), None when never."""
        return self._heap[0][0] if self._heap else None

    def due(self, now: Monotonic) -> Iterator[Owner]:
        """Disarm and yield the owner of each timer whose deadline has come, each of them once.

        Who arms a timer meanwhile for a time that has come is left for the next call: one that is
        always due cannot keep the others waiting.
        """
        latest, left = self._serial, []
        try:
            while self._heap and self._heap[0][0] <= now:
                entry = heapq.heappop(self._heap)
                queued, serial, timer = entry
                if queued != timer.queued:
                    continue  # an earlier entry of the same timer has taken over
                if serial > latest:
                    left.append(entry)
                    continue
                timer.queued = math.inf
                if timer.deadline <= now:
                    timer.deadline = math.inf
                    self._armed -= 1
                    if timer.owner is not None:
                        yield timer.owner
                elif timer.deadline < math.inf:
                    self._push(timer)
        finally:
            for entry in left:
                heapq.heappush(self._heap, entry)
            if not self._armed:
                self._sweep()

    def _disarm(self, timer: Timer[Owner]) -> None:
        if timer.deadline == math.inf:
            return
        timer.deadline = math.inf
        self._armed -= 1
        if not self._armed:
            self._sweep()
        elif timer.queued < math.inf:
            self._note_void()

    def _push(self, timer: Timer[Owner]) -> None:
        timer.queued = timer.deadline
        self._serial += 1
        heapq.heappush(self._heap, (timer.deadline, self._serial, timer))
        if self._heap[0][2] is timer:
            self._moved(timer.deadline)

    def _note_void(self) -> None:
        """Count an entry that lost its meaning; sweep when half of the heap may be such."""
        self._void += 1
        if self._void >= self._sweep_from and self._void * 2 >= len(self._heap):
            self._sweep()

    def _sweep(self) -> None:
        """Remove every entry without a meaning."""
        self._void = 0
        kept = []
        for entry in self._heap:
            timer = entry[2]
            if timer.deadline == math.inf:
                timer.queued = math.inf
            elif entry[0] == timer.queued:
                kept.append(entry)
        heapq.heapify(kept)
        self._heap = kept
        if not kept:
            self._moved(None)
