"""Pauses that end early when the server stops."""

from __future__ import annotations

from twisted.internet.defer import Deferred

from emu.net.scheduler import DelayedCall, Scheduler


class Pauses:
    """Makes coroutines wait; `end` lets all of them go on, and nobody waits any more."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: dict[Deferred[None], DelayedCall] = {}
        self._has_ended = False

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, seconds: float) -> None:
        """Wait."""
        if self._has_ended:
            return
        waiting: Deferred[None] = Deferred()
        self._waiting[waiting] = self._scheduler.later(seconds, lambda: self._go_on(waiting))
        await waiting

    def end(self) -> None:
        """Let everybody go on."""
        self._has_ended = True
        for waiting, call in list(self._waiting.items()):
            call.cancel()
            self._go_on(waiting)

    def _go_on(self, waiting: Deferred[None]) -> None:
        del self._waiting[waiting]
        waiting.callback(None)
