"""One actor's mailbox: its tasks run one at a time, in order, within a limit.

An actor is anything that must not run twice at the same time: a client of the login service, a
player's client, the updates of one world, the requests of one link. The mailbox does not know what
a task does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

Task = Callable[[], Awaitable[object]]
"""One piece of work; it should handle its own errors."""
Spawn = Callable[[Coroutine[Any, Any, None]], None]
"""Starts a coroutine and handles what it raises."""


class PendingAnswer(Protocol):
    """A result that a coroutine can wait for; the Twisted layer uses a `Deferred`."""

    def __await__(self) -> Any:
        """Wait, and return the value."""

    def callback(self, result: Any, /) -> object:
        """End the wait with a value."""

    def errback(self, error: BaseException, /) -> object:
        """End the wait with an error."""


class Mailbox:
    """The tasks of one actor; `put` never waits for them.

    An error of a task goes to `spawn`, and the following tasks still run. `limit` is how many tasks
    may wait; it may change at any time. `held_bytes` is the sum of their sizes. `idle` is called
    when no task is left.
    """

    __slots__ = ("_spawn", "_tasks", "_working", "held_bytes", "idle", "limit")

    def __init__(self, spawn: Spawn, limit: int) -> None:
        """Accept at most `limit` tasks besides the running one."""
        self._spawn = spawn
        self.limit = limit
        self.held_bytes = 0
        self._tasks: list[
            tuple[Task, int]
        ] = []  # mostly empty, and then a tenth of a deque in size
        self._working = False
        self.idle: Callable[[], object] | None = None

    @property
    def is_working(self) -> bool:
        """Whether a task is running."""
        return self._working

    def __len__(self) -> int:
        """Return how many tasks wait."""
        return len(self._tasks)

    def put(self, task: Task, size: int = 0) -> bool:
        """Add a task behind those that wait; return False if too many do.

        `size` is the memory in bytes that it occupies while it waits.
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
        """Drop the tasks that wait."""
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
    """Raise the error of a task, so that `spawn` handles it."""
    raise error
