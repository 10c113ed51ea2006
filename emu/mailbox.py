"""One actor's mailbox: whatever arrives for it is done one at a time, in order, within bounds.

An actor is whoever must not be in two places at once: a client of the login service, a visitor of
the world, one world's updates, one link's requests. Knows nothing of what a task does. Who starts
coroutines (`Spawn`) is the shell's business.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

Task = Callable[[], Awaitable[object]]
"""One piece of work. What may go wrong with it is its own business."""
Spawn = Callable[[Coroutine[Any, Any, None]], None]
"""Starts a coroutine and deals, itself, with what it may raise."""


class PendingAnswer(Protocol):
    """An answer that a coroutine can wait for; the Twisted layer's is a `Deferred`."""

    def __await__(self) -> Any:
        """Wait, and return the value."""

    def callback(self, result: Any, /) -> object:
        """End the waiting with a value."""

    def errback(self, error: BaseException, /) -> object:
        """End the waiting with an error."""


class Mailbox:
    """Tasks of one actor. Whoever puts one in never waits for it.

    What a task raises goes to whoever spawns coroutines; what waits behind it is done all the same.
    `limit` is how many may wait; it may be changed at any time. `held_bytes` is the sum of the
    sizes that were told of those that wait. `idle` is called when nothing is left to do.
    """

    __slots__ = ("_spawn", "_tasks", "_working", "held_bytes", "idle", "limit")

    def __init__(self, spawn: Spawn, limit: int) -> None:
        """Take at most `limit` tasks beside the one that is being done."""
        self._spawn = spawn
        self.limit = limit
        self.held_bytes = 0
        self._tasks: list[tuple[Task, int]] = []  # mostly empty, and then a tenth of a deque
        self._working = False
        self.idle: Callable[[], object] | None = None

    @property
    def is_working(self) -> bool:
        """Whether a task is being done."""
        return self._working

    def __len__(self) -> int:
        """Return how many tasks wait."""
        return len(self._tasks)

    def put(self, task: Task, size: int = 0) -> bool:
        """Have a task done behind those that wait; False, and it is not, when too many do.

        `size` is how many bytes it keeps in memory while it waits.
        """
        if len(self._tasks) >= self.limit:
            return False
        self._tasks.append((task, size))
        self.held_bytes += size
        if not self._working:
            self._working = True
            self._spawn(self._work())
        return True

    def clear(self) -> None:
        """Forget the tasks that wait."""
        self._tasks.clear()
        self.held_bytes = 0

    async def _work(self) -> None:
        try:
            while self._tasks:
                task, size = self._tasks.pop(0)
                self.held_bytes -= size
                try:
                    await task()
                except Exception as error:
                    if not self._tasks:
                        raise
                    self._spawn(_raise(error))
        finally:
            self._working = False
            if self.idle is not None:
                self.idle()


async def _raise(error: Exception) -> None:
    """Raise what a task raised, for whoever runs coroutines to deal with."""
    raise error
