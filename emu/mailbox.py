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


def start(spawn: Spawn, work: Coroutine[Any, Any, None]) -> None:
    """Start a coroutine with `spawn`; close it if that raises, and let the exception pass."""
    try:
        spawn(work)
    except Exception:
        # Otherwise Python warns of a coroutine that was never awaited.
        work.close()
        raise


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
    may wait; it may change at any time. `tasks` has those that wait, with their sizes; `held_bytes`
    is the sum of the sizes. `is_working` is whether a task is running. `idle` is called when no
    task is left.
    """

    __slots__ = ("_spawn", "held_bytes", "idle", "is_working", "limit", "tasks")

    def __init__(self, spawn: Spawn, limit: int) -> None:
        """Accept at most `limit` tasks besides the running one."""
        self._spawn = spawn
        self.limit = limit
        self.held_bytes = 0
        self.tasks: list[tuple[Task, int]] = []  # mostly empty, and then a tenth of a deque in size
        self.is_working = False
        self.idle: Callable[[], object] | None = None

    def __len__(self) -> int:
        """Return how many tasks wait."""
        return len(self.tasks)

    def put(self, task: Task, size: int = 0) -> bool:
        """Add a task behind those that wait; return False if too many do.

        `size` is the memory in bytes that it occupies while it waits.
        """
        # The running task does not count: it is bounded by being alone.
        if len(self.tasks) >= self.limit:
            return False
        self.tasks.append((task, size))
        self.held_bytes += size
        if not self.is_working:
            # Set before the start: `spawn` may run the first task within the call.
            self.is_working = True
            self._spawn(self._work())
        return True

    def clear(self) -> None:
        """Drop the tasks that wait."""
        self.tasks.clear()
        self.held_bytes = 0

    async def _work(self) -> None:
        try:
            while self.tasks:
                task, size = self.tasks.pop(0)
                # A running task holds its own memory; only waiting ones are counted.
                self.held_bytes -= size
                try:
                    await task()
                except Exception as error:
                    # The last task's error ends this coroutine, so `spawn` gets it without another
                    # one.
                    if not self.tasks:
                        raise
                    self._spawn(_raise(error))
        finally:
            self.is_working = False
            if self.idle is not None:
                self.idle()


async def _raise(error: Exception) -> None:
    """Raise the error of a task, so that `spawn` handles it."""
    raise error
