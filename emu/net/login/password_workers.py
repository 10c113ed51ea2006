"""Threads for password work, and whose turn it is to use one. The reactor never waits for them.

The threads are Twisted's own pool. Ours is what that does not know: turns go round by source, one
source has few at once, so much may wait and no more, and who has gone loses the place in the line.
Used from the reactor's thread only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

from emu.errors import LimitExceeded
from emu.net.login.fair_queue import FairQueue

T = TypeVar("T")

AT_ONCE = 2
"""Turns one source has at once; not more than the guesses a new address has for an account, so that
right passwords that come together are never taken for guessing."""


class PasswordWorkers:
    """Gives turns and runs calls; implements `emu.login.accounts.authentication.PasswordWork`.

    Threads start when they are first needed; there are as many turns at once as threads.
    """

    def __init__(self, reactor: Any, *, threads: int, most_waiting: int) -> None:
        self._reactor = reactor
        self._threads = threads
        self._pool = ThreadPool(0, threads, "emu-password")
        self._queue: FairQueue[Turn] = FairQueue(most_waiting=most_waiting, at_once=AT_ONCE)
        self._is_handing_out = False
        self._stopped: Deferred[None] | None = None

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._queue)

    def turn(self, source: str, wanted: Callable[[], bool]) -> Turn:
        """Return a turn, to be awaited with ``async with``; see `Turn`."""
        return Turn(self, source, wanted)

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call in a thread and answer with its result; to be used within a turn."""
        if not self._pool.started:
            self._pool.start()
        return deferToThreadPool(self._reactor, self._pool, call)

    def stop(self) -> Deferred[None]:
        """Refuse what waits, let what runs end, and answer when all threads are done."""
        if self._stopped is None:
            self._stopped = Deferred()
            for turn in self._queue.clear():
                turn.refuse("the workers are stopping")
            self._end_when_idle()
        return self._stopped

    def begin(self, turn: Turn) -> Deferred[None]:
        """Put a turn into the line; fails with `LimitExceeded` when it will not come."""
        if self._stopped is not None:
            turn.refuse("the workers are stopping")
        elif (ousted := self._queue.put(turn.source, turn)) is not None:
            ousted.refuse("too many wait for a worker")
        self._hand_out()
        return turn.began

    def done(self, turn: Turn) -> None:
        """Take a turn back."""
        self._queue.done(turn.source)
        self._hand_out()
        self._end_when_idle()

    def _hand_out(self) -> None:
        """Give turns while there are any. Whoever gets one may be done before we go on."""
        if self._is_handing_out:
            return
        self._is_handing_out = True
        while self._queue.running < self._threads and (taken := self._queue.take()) is not None:
            source, turn = taken
            if turn.wanted():
                turn.began.callback(None)
            else:
                self._queue.done(source)
                turn.refuse("nobody waits for it any more")
        self._is_handing_out = False

    def _end_when_idle(self) -> None:
        if self._stopped is None or self._stopped.called or self._queue.running:
            return
        if self._pool.started:
            self._pool.stop()
        self._stopped.callback(None)


class Turn:
    """One turn: ``async with`` waits for it, and gives it back at the end of the block.

    The value bound by ``as`` says whether it had to wait. Raises `LimitExceeded` when too many
    wait, the workers are stopping, or `wanted` says no when the turn comes.
    """

    __slots__ = ("_workers", "began", "source", "wanted")

    def __init__(self, workers: PasswordWorkers, source: str, wanted: Callable[[], bool]) -> None:
        self._workers = workers
        self.source = source
        self.wanted = wanted
        self.began: Deferred[None] = Deferred()

    async def __aenter__(self) -> bool:
        """Wait for the turn."""
        began = self._workers.begin(self)
        has_waited = not began.called
        await began
        return has_waited

    async def __aexit__(self, *_error: object) -> None:
        """Give the turn back."""
        self._workers.done(self)

    def refuse(self, reason: str) -> None:
        """Let the turn never come."""
        self.began.errback(LimitExceeded(reason))
