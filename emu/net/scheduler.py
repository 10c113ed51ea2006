"""The clock, named deadlines in one heap, and the coroutines of the services.

The `Scheduler` needs one delayed call of the reactor for all deadlines. A core without input or
output says when it wants to be called (`get_timer`); its owner arms a `Timer`, and the core's
`handle_timer` is called. Both clocks are read here only: the steady one for durations, the wall
clock for times that are stored and shown.

Compiled along with the sessions where that is built.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Generic, Protocol, TypeVar, cast

from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from emu.net.logs import log_fault, logger
from emu.times import Moment, Monotonic

_log = logger("scheduler")

Owner = TypeVar("Owner")

SWEEP_FROM = 64
"""The number of void heap entries from which a sweep pays."""


class Timed(Protocol):
    """The owner of a timer."""

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""


class PlannedCall(Protocol):
    """A call that the reactor makes later."""

    def cancel(self) -> None:
        """Cancel the call."""


class Timer(Generic[Owner]):
    """One owner's deadline; `TimerHeap.arm` sets it. Infinite while the timer is not armed."""

    __slots__ = ("deadline", "owner", "queued")

    def __init__(self, owner: Owner) -> None:
        self.owner: Owner | None = owner
        self.deadline = math.inf
        self.queued = math.inf
        """The time of this timer's earliest heap entry."""


def _ignore(_deadline: float | None) -> None:
    """Do nothing when the next deadline changes."""


class TimerHeap(Generic[Owner]):
    """The deadlines of many owners. Times are seconds on the caller's clock.

    `moved` is called with the next deadline when it has become earlier or None.
    """

    # A session's deadline moves with every datagram, nearly always to later. Cancelling and making
    # a reactor call each time would cost more than the datagram. So a later deadline only changes
    # `Timer.deadline`, and the heap entry is corrected when it comes up. Void entries are swept out
    # once they are half of the heap, so that a flood of short sessions leaves nothing behind.

    __slots__ = ("_armed", "_heap", "_moved", "_serial", "_sweep_from", "_void")

    def __init__(
        self, sweep_from: int = SWEEP_FROM, moved: Callable[[float | None], object] = _ignore
    ) -> None:
        self._moved = moved
        self._heap: list[tuple[float, int, Timer[Owner]]] = []
        self._armed = 0
        self._serial = 0
        self._sweep_from = sweep_from
        self._void = 0  # the entries that may have become void since the last sweep

    def __len__(self) -> int:
        """Return the number of heap entries, void ones included."""
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
        # Only an earlier deadline needs a new entry; see the class's comment.
        if deadline < timer.queued:
            overtaken = timer.queued < math.inf
            self._push(timer)
            if overtaken:
                self._note_void()

    def drop(self, timer: Timer[Owner]) -> None:
        """Disarm a timer for good and forget its owner; a second call does nothing."""
        # A void entry may stay in the heap for long, and must not keep a session alive.
        timer.owner = None
        self.arm(timer, None)

    def next(self) -> float | None:
        """Return when to call `due` next (it may yield nothing then), None for never."""
        return self._heap[0][0] if self._heap else None

    def due(self, now: Monotonic) -> Iterator[Owner]:
        """Disarm each timer whose deadline has come, and yield its owner once."""
        # A timer that is armed meanwhile for a time that has come waits for the next call. So an
        # owner that is always due cannot keep the others waiting.
        latest, left = self._serial, []
        try:
            while self._heap and self._heap[0][0] <= now:
                entry = heapq.heappop(self._heap)
                queued, serial, timer = entry
                if queued != timer.queued:
                    continue  # void: the timer has an earlier entry
                if serial > latest:
                    left.append(entry)
                    continue
                timer.queued = math.inf
                if timer.deadline <= now:
                    timer.deadline = math.inf
                    self._armed -= 1
                    if timer.owner is not None:
                        # The owner may arm its timer again while this generator waits.
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
        # With no armed timer all entries are void, so the sweep costs nothing but their removal.
        if not self._armed:
            self._sweep()
        elif timer.queued < math.inf:
            self._note_void()

    def _push(self, timer: Timer[Owner]) -> None:
        timer.queued = timer.deadline
        # It orders entries of the same time, and shows `due` which ones were added meanwhile.
        self._serial += 1
        heapq.heappush(self._heap, (timer.deadline, self._serial, timer))
        # Only the earliest entry decides when the reactor must call.
        if self._heap[0][2] is timer:
            self._moved(timer.deadline)

    def _note_void(self) -> None:
        """Count an entry that became void; sweep when half of the heap may be void."""
        self._void += 1
        if self._void >= self._sweep_from and self._void * 2 >= len(self._heap):
            self._sweep()

    def _sweep(self) -> None:
        """Remove every void entry."""
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


class DelayedCall:
    """One later call; made by `Scheduler.later` and `Scheduler.every`."""

    __slots__ = ("_function", "_interval", "_scheduler", "_timer")

    def __init__(
        self, scheduler: Scheduler, function: Callable[[], object], interval: float | None
    ) -> None:
        self._scheduler = scheduler
        self._function = function
        self._interval = interval
        self._timer: Timer[Timed] = Timer(self)

    def arm(self, delay: float) -> None:
        """Set the call to `delay` seconds from now."""
        self._scheduler.arm(self._timer, Monotonic(self._scheduler.now() + delay))

    def cancel(self) -> None:
        """Cancel the call; does nothing if it was made."""
        self._scheduler.drop(self._timer)

    def handle_timer(self, now: Monotonic) -> None:
        """Make the call; called by the scheduler."""
        if self._interval is not None:
            # Before the call, so that a call which raises is nevertheless made again.
            self._scheduler.arm(self._timer, Monotonic(now + self._interval))
        self._function()


class Scheduler:
    """The clock and the timers of a process; implements `emu.times.Clock`."""

    def __init__(self, reactor: Any, moment: Callable[[], float] = time.time) -> None:
        """Use a reactor (`seconds` and `callLater`); `moment` reads the wall clock."""
        make_steady(reactor)
        self._reactor = reactor
        # Bound methods of other objects without a wrapper: they are called for every datagram.
        self.now = cast("Callable[[], Monotonic]", reactor.seconds)
        self.moment = cast("Callable[[], Moment]", moment)
        self._timers: TimerHeap[Timed] = TimerHeap(moved=self._moved)
        self.arm = self._timers.arm
        """Set when a timer's owner gets `handle_timer`; None for never."""
        self.drop = self._timers.drop
        """Disarm a timer for good and forget its owner; a second call does nothing."""
        self.failures = 0
        """How many owners of timers have raised."""
        self._wake: PlannedCall | None = None
        self._wake_at = math.inf
        """When the reactor calls; minus infinity while due timers are handled."""

    def timer(self, owner: Timed) -> Timer[Timed]:
        """Make a timer for an owner, not armed yet."""
        return Timer(owner)

    def soon(self, function: Callable[[], object]) -> PlannedCall:
        """Call once in the next turn of the reactor."""
        call: PlannedCall = self._reactor.callLater(0, function)
        return call

    def later(self, delay: float, function: Callable[[], object]) -> DelayedCall:
        """Call once after `delay` seconds."""
        call = DelayedCall(self, function, None)
        call.arm(delay)
        return call

    def every(self, interval: float, function: Callable[[], object]) -> DelayedCall:
        """Call every `interval` seconds, first after one interval; missed calls are skipped."""
        call = DelayedCall(self, function, interval)
        call.arm(interval)
        return call

    async def pause(self, seconds: float) -> None:
        """Wait."""
        waiting: Deferred[None] = Deferred()
        self.later(seconds, lambda: waiting.callback(None))
        await waiting

    async def within(
        self, deadline: Monotonic, work: Deferred[Any] | Coroutine[Any, Any, object]
    ) -> bool:
        """Wait for work until a deadline; return False if it is not done by then.

        Unfinished work continues. Raises what the work raises before the deadline.
        """
        waiting: Deferred[bool] = Deferred()

        def done(result: object) -> None:
            # Both the work and the deadline may finish in the same turn.
            if not waiting.called:
                call.cancel()
                if isinstance(result, Failure):
                    waiting.errback(result)
                else:
                    waiting.callback(True)

        call = self.later(max(0.0, deadline - self.now()), lambda: waiting.callback(False))
        step = work if isinstance(work, Deferred) else Deferred.fromCoroutine(work)
        step.addBoth(done)
        return await waiting

    def _moved(self, deadline: float | None) -> None:
        """Set the one reactor call to the earliest deadline, or cancel it without one."""
        if deadline is not None and deadline >= self._wake_at:
            return
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        self._wake_at = math.inf
        if deadline is not None:
            self._wake_at = deadline
            self._wake = self._reactor.callLater(max(0.0, deadline - self.now()), self._wake_up)

    def _wake_up(self) -> None:
        self._wake = None
        # No deadline is earlier than this, so `_moved` makes no reactor call while due timers are
        # handled.
        self._wake_at = -math.inf
        now = self.now()
        try:
            for owner in self._timers.due(now):
                try:
                    owner.handle_timer(now)
                except Exception:  # noqa: BLE001  # one owner must not stop all other timers
                    self.failures += 1
                    _log.failure("a timer failed")
        finally:  # also if a KeyboardInterrupt or SystemExit is caught further up
            self._wake_at = math.inf
            self._moved(self._timers.next())


def make_steady(reactor: Any) -> None:
    """Replace the clock of a Twisted reactor by the monotonic clock; other reactors keep theirs.

    Twisted's reactors time delayed calls by the wall clock: if it is set back an hour, every call
    comes an hour late. Calls that wait already keep their delay.
    """
    # A second call must not shift the delayed calls again.
    if isinstance(reactor, ReactorBase) and "seconds" not in vars(reactor):
        date = reactor.seconds()
        reactor.seconds = time.monotonic
        calls: list[Any] = list(reactor.getDelayedCalls())
        for call in calls:
            # Delayed calls store the time at which they are due; that time moves to the new clock.
            call.delay(time.monotonic() - date)


TimedCall = Callable[[Callable[[], object]], object]
"""Makes a call and charges the time that it takes."""


def run(
    work: Coroutine[Any, Any, Any],
    failed: Callable[[Failure], Any],
    result: object = None,
    timed: TimedCall | None = None,
) -> None:
    """Run a coroutine of a service to its end; `failed` gets what it raises.

    `result` is that of the Deferred that it has waited for. `timed` makes the calls that continue
    it after a wait; the first call is part of the caller's own time.
    """
    # The coroutines wait only for Deferreds. Twisted's `Deferred.fromCoroutine` would make two more
    # for each of them.
    try:
        error = result.value if isinstance(result, Failure) else None
        waiting = work.send(None) if error is None else work.throw(error)
    # The coroutine has returned.
    except StopIteration:
        return
    except Exception:  # noqa: BLE001  # it must not leave the reactor's callback
        failed(Failure())  # type: ignore[no-untyped-call]
        return
    if timed is None:
        waiting.addBoth(lambda result: run(work, failed, result))
    else:
        waiting.addBoth(lambda result: timed(lambda: run(work, failed, result, timed)))


class Tasks:
    """Coroutines that run by themselves. Stopping a service waits until all have `finished`."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._running = 0
        self._waiting: list[Deferred[None]] = []

    def __len__(self) -> int:
        """Return how many run."""
        return self._running

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Start a coroutine now; what it raises is logged as a fault of this program."""
        self._running += 1
        run(self._run_counted(coroutine), self._failed)

    async def finished(self) -> None:
        """Wait until no coroutine runs."""
        while self._running:
            waiting: Deferred[None] = Deferred()
            self._waiting.append(waiting)
            await waiting

    async def _run_counted(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            self._running -= 1
            if not self._running:
                # Exchanged first: a callback may start a coroutine and wait for it in turn.
                waiting, self._waiting = self._waiting, []
                for deferred in waiting:
                    deferred.callback(None)

    def _failed(self, failure: Failure) -> None:
        log_fault(self._log, "a task failed", failure)
