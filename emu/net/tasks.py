"""Coroutines that somebody started and nobody waits for: how they run, and who counts them.

Stopping a service waits for its `Tasks`, so that what a world reported just before is still stored.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure


def run(
    work: Coroutine[Any, Any, Any], failed: Callable[[Failure], Any], result: object = None
) -> None:
    """Run a coroutine of a service to its end; `failed` gets what it raises.

    What they await in the end are Deferreds, and those alone are made: Twisted's own way would
    make two more for each of them. `result` is that of the one which it has waited for.
    """
    try:
        error = result.value if isinstance(result, Failure) else None
        # The Deferred itself hands its result over.
        waiting = work.send(None) if error is None else work.throw(error)
    except StopIteration:
        return
    except Exception:  # noqa: BLE001  # whatever it is, it must not leave the shell
        failed(Failure())  # type: ignore[no-untyped-call]
        return
    waiting.addBoth(lambda result: run(work, failed, result))


class Tasks:
    """Starts coroutines; `finished` waits for all that still run."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._running = 0
        self._waiting: list[Deferred[None]] = []

    def __len__(self) -> int:
        return self._running

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Start a coroutine now; what it raises is logged as a fault of ours."""
        self._running += 1
        run(self._to_its_end(coroutine), self._failed)

    async def finished(self) -> None:
        """Wait until nothing runs any more."""
        while self._running:
            waiting: Deferred[None] = Deferred()
            self._waiting.append(waiting)
            await waiting

    async def _to_its_end(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            self._running -= 1
            if not self._running:
                waiting, self._waiting = self._waiting, []
                for one in waiting:
                    one.callback(None)

    def _failed(self, failure: Failure) -> None:
        self._log.failure("a task failed", failure=failure)
