"""The clock of the process and one heap of all deadlines, over one reactor call.

Whoever has something to do later asks here: sessions, links, limits. A core says when with
`get_timer`; its owner arms a timer, and the core gets `handle_timer`. Both times are read here and
nowhere else: the reactor's, made steady, paces; the wall clock's is stored and shown.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, cast

from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall
from twisted.python.failure import Failure

from emu.net.logs import logger
from emu.net.timers import Timed, Timer, TimerHeap
from emu.times import Moment, Monotonic

_log = logger("scheduler")


class DelayedCall:
    """One call that is to come; made by `Scheduler.later` and `Scheduler.every`."""

    __slots__ = ("_function", "_interval", "_scheduler", "_timer")

    def __init__(
        self, scheduler: Scheduler, function: Callable[[], object], interval: float | None
    ) -> None:
        self._scheduler = scheduler
        self._function = function
        self._interval = interval
        self._timer: Timer[Timed] = Timer(self)

    def arm(self, delay: float) -> None:
        """Have the call come after a delay in seconds."""
        self._scheduler.arm(self._timer, Monotonic(self._scheduler.now() + delay))

    def cancel(self) -> None:
        """Have it come no more; does nothing when it has come."""
        self._scheduler.drop(self._timer)

    def handle_timer(self, now: Monotonic) -> None:
        """Make the call; called by the scheduler."""
        if self._interval is not None:
            self._scheduler.arm(self._timer, Monotonic(now + self._interval))
        self._function()


class Scheduler:
    """Implements `emu.times.Clock`; one for a process."""

    def __init__(self, reactor: Any, moment: Callable[[], float] = time.time) -> None:
        """Stand on a reactor (`seconds` and `callLater`); `moment` reads the wall clock."""
        make_steady(reactor)
        self._reactor = reactor
        # Methods of other objects, taken as they are: they are called for every datagram.
        self.now = cast("Callable[[], Monotonic]", reactor.seconds)
        self.moment = cast("Callable[[], Moment]", moment)
        self._timers: TimerHeap[Timed] = TimerHeap(moved=self._moved)
        self.arm = self._timers.arm
        """Sets when a timer's owner gets `handle_timer`; None is never."""
        self.drop = self._timers.drop
        """Disarms a timer for good and lets go of its owner; a second time does nothing."""
        self.failures = 0
        """How many timers' owners have raised."""
        self._wake: IDelayedCall | None = None
        self._wake_at = math.inf
        """When the reactor calls; minus infinity while due timers are handled."""

    def timer(self, owner: Timed) -> Timer[Timed]:
        """Make a timer for an owner, not armed yet."""
        return Timer(owner)

    def soon(self, function: Callable[[], object]) -> IDelayedCall:
        """Call once what is being done now is done."""
        call: IDelayedCall = self._reactor.callLater(0, function)
        return call

    def later(self, delay: float, function: Callable[[], object]) -> DelayedCall:
        """Call once after `delay` seconds."""
        call = DelayedCall(self, function, None)
        call.arm(delay)
        return call

    def every(self, interval: float, function: Callable[[], object]) -> DelayedCall:
        """Call each `interval` seconds, for the first time after one; missed turns are left out."""
        call = DelayedCall(self, function, interval)
        call.arm(interval)
        return call

    async def pause(self, seconds: float) -> None:
        """Wait."""
        waiting: Deferred[None] = Deferred()
        self.later(seconds, lambda: waiting.callback(None))
        await waiting

    async def within(self, deadline: Monotonic, work: Deferred[Any]) -> bool:
        """Wait for work until a time has come; False when it is not done by then.

        What is not done goes on, and nobody waits for it. Raises what the work raises in time.
        """
        waiting: Deferred[bool] = Deferred()

        def done(result: object) -> None:
            if not waiting.called:
                call.cancel()
                if isinstance(result, Failure):
                    waiting.errback(result)
                else:
                    waiting.callback(True)

        call = self.later(max(0.0, deadline - self.now()), lambda: waiting.callback(False))
        work.addBoth(done)
        return await waiting

    def _moved(self, deadline: float | None) -> None:
        """Have the one reactor call stand at the earliest deadline; let go of it without one."""
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
        self._wake_at = -math.inf
        now = self.now()
        try:
            for owner in self._timers.due(now):
                try:
                    owner.handle_timer(now)
                except Exception:  # noqa: BLE001  # the timers of all others would stand still
                    self.failures += 1
                    _log.failure("a timer failed")
        finally:  # also when something ends the program that then goes on all the same
            self._wake_at = math.inf
            self._moved(self._timers.next())


def make_steady(reactor: Any) -> None:
    """Have a reactor of Twisted's tell the time by the monotonic clock; others are left alone.

    Twisted's reactors keep the date at which a delayed call is due, read from the wall clock: set
    back an hour, everything comes an hour late. Calls that wait already keep their time.
    """
    if isinstance(reactor, ReactorBase) and "seconds" not in vars(reactor):
        date = reactor.seconds()
        reactor.seconds = time.monotonic
        for call in reactor.getDelayedCalls():
            call.delay(time.monotonic() - date)
