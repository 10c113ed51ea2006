"""Worker threads for password hashes, with fair turns, so that the reactor never waits for them.

The threads are Twisted's own pool. `PasswordWorkers` adds what the pool lacks: turns rotate by
source (an address), one source has few turns at once, the queue is bounded, and a turn whose client
has left is skipped. Used from the reactor's thread only.

When the queue is full, the source with the most waiting items loses its newest one, so a source
that floods pays first. `FairQueue` is a plain value without threads and time.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from twisted.internet.defer import Deferred

from emu.errors import LimitExceeded
from emu.net.machine import machine_of

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Items that wait, and the number of each source's items in progress."""

    __slots__ = ("_at_once", "_lines", "_most_waiting", "_running", "_waiting")

    def __init__(self, *, most_waiting: int, at_once: int) -> None:
        """Set the bounds: items that wait in all, and items of one source in progress at once."""
        self._most_waiting = most_waiting
        self._at_once = at_once
        self._lines: OrderedDict[str, deque[T]] = OrderedDict()
        self._running: Counter[str] = Counter()
        self._waiting = 0

    def __len__(self) -> int:
        """Return how many items wait."""
        return self._waiting

    @property
    def running(self) -> int:
        """Items that were taken and are not done."""
        return self._running.total()

    def put(self, source: str, item: T) -> T | None:
        """Add an item; return the one that is dropped for it, perhaps the item itself."""
        line = self._lines.setdefault(source, deque())
        line.append(item)
        self._waiting += 1
        if self._waiting <= self._most_waiting:
            return None
        # Ties go against the source of the new item: it may not displace another one.
        longest = max(self._lines, key=lambda name: (len(self._lines[name]), name == source))
        return self._remove(longest, newest=True)

    def take(self) -> tuple[str, T] | None:
        """Return the next source and item; None when none may begin."""
        for source in self._lines:
            if self._running[source] < self._at_once:
                self._running[source] += 1
                # Behind all others: sources take turns, whatever the number of attempts that each
                # of them sends.
                self._lines.move_to_end(source)
                return source, self._remove(source)
        return None

    def done(self, source: str) -> None:
        """Record that an item of this source is done."""
        self._running[source] -= 1
        # A counter that kept zeros would grow with every address that ever tried.
        if not self._running[source]:
            del self._running[source]

    def clear(self) -> list[T]:
        """Remove and return all items that wait."""
        left = [item for line in self._lines.values() for item in line]
        self._lines.clear()
        self._waiting = 0
        return left

    def _remove(self, source: str, *, newest: bool = False) -> T:
        line = self._lines[source]
        # The newest of the longest line is dropped: a flood displaces itself, and those that wait
        # longest stay.
        item = line.pop() if newest else line.popleft()
        self._waiting -= 1
        if not line:
            del self._lines[source]
        return item


AT_ONCE = 2
"""Turns of one source at once.

Not more than the password attempts that a new address has for an account: right passwords that
arrive together must not be refused as wrong attempts.
"""


class PasswordWorkers:
    """Gives turns and runs calls; implements `emu.login.accounts.PasswordWork`.

    There are as many turns at once as threads. Threads start when they are first needed.
    """

    def __init__(self, reactor: Any, *, threads: int, most_waiting: int) -> None:
        self._threads = threads
        self._pool = machine_of(reactor).threads(reactor, threads, "emu-password")
        self._queue: FairQueue[Turn] = FairQueue(most_waiting=most_waiting, at_once=AT_ONCE)
        self._is_handing_out = False
        self._stopped: Deferred[None] | None = None

    @property
    def waiting(self) -> int:
        """Turns that wait."""
        return len(self._queue)

    def turn(self, source: str, wanted: Callable[[], bool]) -> Turn:
        """Return a turn, to be awaited with ``async with``; see `Turn`."""
        return Turn(self, source, wanted)

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Run a call in a thread and return its result; only valid within a turn."""
        return self._pool.run(call)

    def stop(self) -> Deferred[None]:
        """Refuse the waiting turns, finish the running ones, and fire when all threads are done."""
        if self._stopped is None:
            self._stopped = Deferred()
            for turn in self._queue.clear():
                turn.refuse("the workers are stopping")
            self._end_when_idle()
        return self._stopped

    def begin(self, turn: Turn) -> Deferred[None]:
        """Queue a turn; fails with `LimitExceeded` when it is refused."""
        if self._stopped is not None:
            turn.refuse("the workers are stopping")
        # The dropped turn may be this one or an older one of another source.
        elif (ousted := self._queue.put(turn.source, turn)) is not None:
            ousted.refuse("too many wait for a worker")
        self._hand_out()
        return turn.began

    def done(self, turn: Turn) -> None:
        """Return a turn."""
        self._queue.done(turn.source)
        self._hand_out()
        self._end_when_idle()

    def _hand_out(self) -> None:
        """Start turns while threads are free. A turn may be done before this returns."""
        # A turn that starts may end at once and call this again; the outer loop continues then, so
        # the stack does not grow with the queue.
        if self._is_handing_out:
            return
        self._is_handing_out = True
        try:
            while self._queue.running < self._threads and (taken := self._queue.take()) is not None:
                self._give(*taken)
        finally:
            self._is_handing_out = False

    def _give(self, source: str, turn: Turn) -> None:
        """Start a turn, unless its owner no longer waits.

        An error of that question fails the turn.
        """
        try:
            # The client may have disconnected while its turn waited; hashing for it would be
            # wasted.
            is_wanted = turn.wanted()
        except Exception:  # noqa: BLE001  # the others wait for their turn
            self._queue.done(source)
            turn.began.errback()
            return
        if is_wanted:
            turn.began.callback(None)
        else:
            self._queue.done(source)
            turn.refuse("nobody waits for it any more")

    def _end_when_idle(self) -> None:
        if self._stopped is None or self._stopped.called or self._queue.running:
            return
        self._pool.stop()
        self._stopped.callback(None)


class Turn:
    """One turn: ``async with`` waits for it, and returns it at the end of the block.

    The value bound by ``as`` is whether the turn had to wait. Raises `LimitExceeded` when too many
    wait, the workers are stopping, or `wanted` returns False when the turn starts.
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
        # A turn that began at once has its Deferred called already.
        has_waited = not began.called
        await began
        return has_waited

    async def __aexit__(self, *_error: object) -> None:
        """Return the turn."""
        self._workers.done(self)

    def refuse(self, reason: str) -> None:
        """Refuse the turn."""
        self.began.errback(LimitExceeded(reason))
