"""The timetable of a world: named deadlines of many owners in one heap.

Each component has deadlines of its own kind (`Timetable.deadlines`) with the function that handles
them. An owner has at most one deadline of each name; setting it again moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from heapq import heappop, heappush
from typing import Any, Final, Generic, Protocol, TypeVar

from emu.times import Monotonic

Owner = TypeVar("Owner", bound=Hashable)
Name = TypeVar("Name", bound=Hashable)

SWEEP_FROM: Final = 64
SWEPT_AT_ONCE: Final = 8
"""Entries that each change looks at while old ones are removed: more than it can add."""
LONG_SECONDS: Final = 0.008
"""Time of a turn after which what `may_wait` is for the next one."""
MOST_WAITS: Final = 20
"""Turns for which one deadline that `may_wait` does so at most."""
WORK_SECONDS: Final = 0.005
"""Time of a turn for work that can wait, of all zones together."""


class Attempt(Protocol):
    """Calls a function, and counts what it raises; `emu.world.reports.Faults.attempt` does."""

    def __call__(self, task: str, player: None, call: Callable[..., object], *values: Any) -> bool:
        """Return whether the function returned."""


_Entry = list[Any]
"""Time, serial number, kind, and owner with name; one that no longer counts has None as its kind.

A list and not a tuple, so that the heap need not ask the kind which of its entries count.
"""
_KIND: Final = 2


class _Heap:
    """Deadlines of all kinds by time, then in the order of their setting.

    A deadline that is moved or cleared leaves its old entry in the heap: finding it there would
    take as long as the heap is large. When old entries are the most, the heap is swept: what counts
    moves to a new one, a few at each change. A large zone that ends has a hundred thousand of them.
    """

    __slots__ = ("entries", "live", "serial", "swept")

    def __init__(self) -> None:
        self.entries: list[_Entry] = []
        self.swept: list[_Entry] = []
        """What is about to move to `entries`; a heap as well."""
        self.live = 0
        """How many entries count."""
        self.serial = 0
        """The number of the newest entry: it keeps heapq from comparing owners."""

    def sweep(self) -> None:
        """Remove some old entries while they are the most."""
        # A client that starts and stops to camp all day would otherwise fill the heap with them,
        # and the timers of a zone that has ended would keep all of its spawns.
        if not self.swept:
            if len(self.entries) <= SWEEP_FROM + 2 * self.live:
                return
            self.entries, self.swept = [], self.entries
        for _ in range(min(SWEPT_AT_ONCE, len(self.swept))):
            # A heap without its last entry is a heap.
            entry = self.swept.pop()
            if entry[_KIND] is not None:
                heappush(self.entries, entry)

    def first(self) -> _Entry | None:
        """Return the first entry that counts, None without one."""
        entries, swept = self.entries, self.swept
        while entries and entries[0][_KIND] is None:
            heappop(entries)
        found = entries[0] if entries else None
        if swept:
            while swept and swept[0][_KIND] is None:
                heappop(swept)
            if swept and (found is None or swept[0] < found):
                found = swept[0]
        return found

    def pop(self, entry: _Entry) -> None:
        """Remove what `first` has returned."""
        is_new = bool(self.entries) and self.entries[0] is entry
        heappop(self.entries if is_new else self.swept)


class Timetable:
    """All deadlines of a world; times are seconds of the caller's clock."""

    __slots__ = ("_began", "_clock", "_has_worked", "_heap", "_last", "attempt", "turn", "wake")

    def __init__(
        self, wake: Callable[[Monotonic], None], attempt: Attempt,
        clock: Callable[[], Monotonic] | None = None,
    ) -> None:  # fmt: skip
        """`wake` asks to call `handle_timer` at a time at the latest.

        `clock` shows how long a turn has taken by now; without it no turn is long.
        """
        self.wake = wake
        self.attempt = attempt
        self._clock = clock
        self._heap, self._last = _Heap(), _Heap()
        self.turn = 0
        """The number of calls of `handle_timer`: who may do something once in each compares it."""
        self._began: Monotonic | None = None
        """When the turn began, or the work between two turns; None if neither has."""
        self._has_worked = False

    def deadlines(
        self,
        task: str,
        handle: Callable[[Owner, Name, Monotonic], object],
        *,
        is_last: bool = False,
        may_wait: bool = False,
        most_waits: int = MOST_WAITS,
    ) -> Deadlines[Owner, Name]:
        """Return deadlines of a new kind, empty.

        `handle` is called with owner, name and the time when one is due; a fault in it is counted
        under `task` and stops no other. Those that are `is_last` come after all others of a call.
        Those that `may_wait` are handled in the next call if this one has taken long, each in the
        next `most_waits` ones at the latest.
        """
        heap = self._last if is_last else self._heap
        is_long = self.is_long if may_wait else None
        return Deadlines(self.wake, heap, task, handle, is_long=is_long, most_waits=most_waits)

    def get_timer(self) -> Monotonic | None:
        """Return when to call `handle_timer`, None without a deadline."""
        first, last = self._heap.first(), self._last.first()
        if first is None or (last is not None and last[0] < first[0]):
            first = last
        return None if first is None else first[0]

    def may_work(self, now: Monotonic) -> bool:
        """Return whether work that can wait may go on in this turn, and not only in the next one.

        `now` is the time of the question, not of the turn. All such work has the first
        `WORK_SECONDS` of a turn with all else that is due then, so that whoever waits for an answer
        gets it soon. The first question of a turn is always granted, so that work goes on under
        any load.
        """
        if not self._has_worked:
            self._has_worked = True
            self._began = now if self._began is None else self._began
            return True
        return self._began is not None and now - self._began < WORK_SECONDS

    def is_long(self) -> bool:
        """Return whether the turn has taken so long that what can be late by some ms should wait.

        A hundred creatures that strike in one instant have several turns for it, and whoever waits
        for an answer gets it between them. Nothing but the clock decides: a replay has its
        readings.
        """
        if self._clock is None or self._began is None:
            return False
        return self._clock() - self._began >= LONG_SECONDS

    def handle_timer(self, now: Monotonic) -> None:
        """Handle what was due when the call began; what becomes due meanwhile is for the next."""
        self.turn += 1
        self._began, self._has_worked = now, False
        for heap in (self._heap, self._last):
            newest = heap.serial
            while (entry := heap.first()) is not None and entry[0] <= now and entry[1] <= newest:
                heap.pop(entry)
                kind, key = entry[2], entry[3]
                kind.drop(entry)
                self.attempt(kind.task, None, kind.handle, *key, now)
        self._began, self._has_worked = None, False


class Deadlines(Generic[Owner, Name]):
    """The deadlines of one kind."""

    __slots__ = ("_due", "_heap", "_inner", "_is_long", "_most_waits", "_waits", "_wake", "handle",
                 "task")  # fmt: skip

    def __init__(
        self,
        wake: Callable[[Monotonic], None],
        heap: _Heap,
        task: str,
        handle: Callable[[Owner, Name, Monotonic], object],
        *,
        is_long: Callable[[], bool] | None = None,
        most_waits: int = MOST_WAITS,
    ) -> None:
        """Make no deadlines yet; see `Timetable.deadlines`."""
        self._wake = wake
        self._heap = heap
        self.task = task
        self._inner, self._is_long, self._most_waits = handle, is_long, most_waits
        self.handle = handle if is_long is None else self._handle_or_wait
        self._waits: dict[tuple[Owner, Name], int] = {}
        """For how many turns those have waited that were due in a long one."""
        self._due: dict[tuple[Owner, Name], _Entry] = {}
        """The entry of the heap that counts."""

    def __len__(self) -> int:
        return len(self._due)

    def set(self, owner: Owner, name: Name, due: Monotonic) -> None:
        """Set or move one deadline."""
        key, heap = (owner, name), self._heap
        before = self._due.get(key)
        if before is None:
            heap.live += 1
        elif before[0] == due:
            return
        else:
            before[_KIND] = None
        heap.serial += 1
        entry = self._due[key] = [due, heap.serial, self, key]
        heappush(heap.entries, entry)
        # Nothing else leaves an old entry in the heap; most deadlines are set anew when handled.
        if before is not None or heap.swept:
            heap.sweep()
        self._wake(due)

    def get(self, owner: Owner, name: Name) -> Monotonic | None:
        """Return the time of a deadline, None if there is none."""
        found = self._due.get((owner, name))
        return None if found is None else found[0]

    def clear(self, owner: Owner, name: Name) -> bool:
        """Remove one deadline; return whether there was one."""
        entry = self._due.get((owner, name))
        if entry is None:
            return False
        self.drop(entry)
        self._waits.pop((owner, name), None)
        self._heap.sweep()
        return True

    def forget(self, owner: Owner, names: Iterable[Name]) -> None:
        """Remove the deadlines of an owner that have one of these names."""
        for name in names:
            self.clear(owner, name)

    def _handle_or_wait(self, owner: Owner, name: Name, now: Monotonic) -> None:
        """Handle a deadline, or have it due in the next turn, but not for ever."""
        waits = self._waits.pop((owner, name), 0) if self._waits else 0
        if waits < self._most_waits and self._is_long is not None and self._is_long():
            self._waits[owner, name] = waits + 1
            self.set(owner, name, now)
        else:
            self._inner(owner, name, now)

    def drop(self, entry: _Entry) -> None:
        """Remove a deadline; its entry counts no longer."""
        entry[_KIND] = None
        del self._due[entry[3]]
        self._heap.live -= 1
