"""Coroutines that somebody started and nobody waits for: they are counted, and their faults logged.

Stopping a service waits for them, so that what a world reported just before is still stored.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from twisted.internet.defer import Deferred
from twisted.logger import Logger


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
        task: Deferred[None] = Deferred.fromCoroutine(coroutine)
        task.addErrback(lambda failure: self._log.failure("a task failed", failure=failure))
        task.addCallback(self._done)

    async def finished(self) -> None:
        """Wait until nothing runs any more."""
        while self._running:
            waiting: Deferred[None] = Deferred()
            self._waiting.append(waiting)
            await waiting

    def _done(self, _: None) -> None:
        self._running -= 1
        if not self._running:
            waiting, self._waiting = self._waiting, []
            for one in waiting:
                one.callback(None)
