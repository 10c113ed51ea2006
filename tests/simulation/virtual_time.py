"""Virtual time of simulated processes: one heap of calls, and a reactor for each process.

A process can stand still, as after SIGSTOP, and be killed: its calls are then never made. The
events of a process are counted, so that a kill can come between any two of them.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable
from typing import Any

from twisted.internet.error import AlreadyCalled, AlreadyCancelled
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

EPOCH = 1_700_000_000.0
"""The wall clock at the beginning: seconds since 1970."""
BEGIN = 1000.0
"""The steady clock at the beginning."""


class PlannedCall:
    """One delayed call, as Twisted's `IDelayedCall`."""

    __slots__ = ("args", "function", "kw", "process", "serial", "state", "time", "timeline")

    def __init__(
        self, timeline: Timeline, process: SimulatedProcess | None, time: float,
        function: Callable[..., Any], args: tuple[Any, ...], kw: dict[str, Any],
    ) -> None:  # fmt: skip
        self.timeline = timeline
        self.process = process
        self.time = time
        self.function: Callable[..., Any] | None = function
        self.args = args
        self.kw = kw
        self.state = "active"
        self.serial = 0

    def active(self) -> bool:
        return self.state == "active"

    def getTime(self) -> float:
        return self.time

    def cancel(self) -> None:
        if self.state == "cancelled":
            raise AlreadyCancelled
        if self.state == "called":
            raise AlreadyCalled
        self.state = "cancelled"
        self.function = None
        self.args, self.kw = (), {}

    def reset(self, delay: float) -> None:
        self.time = self.timeline.now + delay
        self.timeline.push(self)

    def delay(self, seconds: float) -> None:
        self.time += seconds
        self.timeline.push(self)


class Timeline:
    """All calls of a simulation, in the order of their times."""

    def __init__(self, hidden: str = "") -> None:
        """`hidden` is another text in each run, and left out of the trace."""
        self.now = BEGIN
        self._hidden = hidden
        self._heap: list[tuple[float, int, PlannedCall]] = []
        self._serial = 0
        self.events = 0
        """Calls that were made."""
        self._hash = hashlib.blake2b(digest_size=16)
        self.lines: list[str] | None = None
        """The trace, if it is kept."""
        self.between: Callable[[], object] | None = None
        """Called before each call, for instance to stop at a time."""

    @property
    def passed(self) -> float:
        """Virtual seconds since the beginning."""
        return self.now - BEGIN

    def note(self, *what: object) -> None:
        """Add a line to the trace, which makes the hash."""
        line = f"{self.passed:.6f} {' '.join(map(str, what))}"
        if self._hidden:
            line = line.replace(self._hidden, "")
        self._hash.update(line.encode("utf-8", "backslashreplace"))
        if self.lines is not None:
            self.lines.append(line)

    def note_bytes(self, mark: bytes, data: bytes) -> None:
        """Add bytes to the hash alone."""
        self._hash.update(mark + data)

    def digest(self) -> str:
        """Return the hash of the trace so far."""
        return self._hash.hexdigest()

    def call(
        self, process: SimulatedProcess | None, delay: float, function: Callable[..., Any],
        *args: Any, **kw: Any,
    ) -> PlannedCall:  # fmt: skip
        """Plan a call of a process; None is the simulation itself."""
        when = self.now + delay if delay > 0.0 else self.now
        made = PlannedCall(self, process, when, function, args, kw)
        # As `push`, without a call: this is done a hundred thousand times in a run.
        self._serial += 1
        made.serial = self._serial
        heapq.heappush(self._heap, (when, self._serial, made))
        return made

    def push(self, call: PlannedCall) -> None:
        """Add a call, or move it; entries of its earlier times become void."""
        self._serial += 1
        call.serial = self._serial
        heapq.heappush(self._heap, (call.time, self._serial, call))

    def __len__(self) -> int:
        """Return how many calls wait."""
        return sum(call.serial == serial and call.active() for _, serial, call in self._heap)

    def waiting_of(self, process: SimulatedProcess) -> int:
        """Return how many calls of a process wait."""
        return sum(
            call.process is process and call.serial == serial and call.active()
            for _, serial, call in self._heap
        )

    def run(self, until: float, is_over: Callable[[], object] = lambda: False) -> None:
        """Make calls until `until` seconds have passed, or until it is over."""
        end = BEGIN + until
        heap = self._heap
        while heap and heap[0][0] <= end and not is_over():
            when, serial, call = heapq.heappop(heap)
            if call.serial != serial or call.state != "active":
                continue
            self.now = max(self.now, when)
            process = call.process
            if process is not None:
                if process.is_dead:
                    continue
                if process.is_still:
                    process.kept.append(call)
                    continue
                process.events += 1
            self.events += 1
            function, args, kw = call.function, call.args, call.kw
            assert function is not None
            call.state, call.function, call.args = "called", None, ()
            if process is None:
                function(*args, **kw)
            else:
                process.make(function, args, kw)
        if not is_over():
            self.now = max(self.now, end)


@implementer(IReactorTime)
class SimulatedProcess:
    """The time of one process; the base of its reactor."""

    def __init__(self, timeline: Timeline, name: str) -> None:
        self.timeline = timeline
        self.name = name
        self.is_dead = False
        self.is_still = False
        self.kept: list[PlannedCall] = []
        """Calls that came due while the process stands still."""
        self.events = 0
        self.clock_error = 0.0
        """Seconds by which the wall clock of its machine is ahead."""
        self.kill_at: tuple[int, Callable[[], object]] | None = None
        """Before which of its events it is killed, and what does that."""
        self.fault: Callable[[BaseException], object] | None = None
        """Receives what a call of the reactor raises."""

    def seconds(self) -> float:
        return self.timeline.now

    def moment(self) -> float:
        """Return the wall clock of the process' machine."""
        return EPOCH + self.timeline.passed + self.clock_error

    def callLater(  # type: ignore[override]
        self, delay: float, function: Callable[..., Any], *args: Any, **kw: Any
    ) -> Any:
        return self.timeline.call(self, delay, function, *args, **kw)

    def getDelayedCalls(self) -> list[Any]:
        return []

    def callFromThread(self, function: Callable[..., Any], *args: Any, **kw: Any) -> None:
        self.timeline.call(self, 0.0, function, *args, **kw)

    def callWhenRunning(self, function: Callable[..., Any], *args: Any, **kw: Any) -> None:
        self.timeline.call(self, 0.0, function, *args, **kw)

    def make(self, function: Callable[..., Any], args: tuple[Any, ...], kw: dict[str, Any]) -> None:
        """Make a call; kill the process before it, if that was planned."""
        if self.kill_at is not None and self.events >= self.kill_at[0]:
            _, kill = self.kill_at
            self.kill_at = None
            kill()
            return
        try:
            function(*args, **kw)
        except Exception as error:  # as a reactor does
            if self.fault is None:
                raise
            self.fault(error)

    def stand_still(self) -> None:
        """Stop, as after SIGSTOP."""
        self.is_still = True

    def go_on(self) -> None:
        """Go on; what came due meanwhile happens now, in the same order."""
        self.is_still = False
        kept, self.kept = self.kept, []
        for call in kept:
            if call.active():
                call.time = self.timeline.now
                self.timeline.push(call)

    def die(self) -> None:
        """End at once: no call is made any more."""
        self.is_dead = True
        self.kept.clear()
