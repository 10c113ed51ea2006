"""Changes that nobody waits for, stored together a little later.

A crowd that logs in would otherwise wake the store's thread for every player, to remember a moment.
Here such calls are held back for a fifth of a second and share a transaction; while another program
holds the database's lock they are tried again. What is answered is stored, as always.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, fail
from twisted.python.failure import Failure

from emu.errors import StoreError, StoreLocked
from emu.net.scheduler import DelayedCall, Scheduler
from emu.net.stores.workers import StoreWorker

T = TypeVar("T")

DELAY = 0.2
"""Seconds that a call is held back at most."""
MOST_WAITING = 20_000
"""Calls that wait at once; further ones are refused."""


class Behind:
    """Implements `emu.store.front.Run` over the thread that writes."""

    def __init__(
        self, worker: StoreWorker, scheduler: Scheduler, *, most_waiting: int = MOST_WAITING
    ) -> None:
        self._worker = worker
        self._scheduler = scheduler
        self._most_waiting = most_waiting
        self.waiting = 0
        """How many calls are not answered yet."""
        self._held: list[tuple[Callable[[], Any], Deferred[Any]]] = []
        """Calls that are held back, and who is told."""
        self._flushing: DelayedCall | None = None
        self._is_hasty = False

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call some time soon and answer when its change is stored.

        Fails with `StoreError` when far too much waits.
        """
        if self.waiting >= self._most_waiting:
            return fail(StoreError("the store cannot keep up; is the disk slow or full?"))
        self.waiting += 1
        done: Deferred[T] = Deferred()
        self._hold(call, done)
        return done

    def hasten(self) -> None:
        """Put nothing off any more, and try nothing again: the server is about to stop."""
        self._is_hasty = True
        if self._flushing is not None:
            self._flushing.cancel()
            self._flush()

    def _hold(self, call: Callable[[], T], done: Deferred[T]) -> None:
        self._held.append((call, done))
        if self._is_hasty:
            self._flush()
        elif self._flushing is None:
            self._flushing = self._scheduler.later(DELAY, self._flush)

    def _flush(self) -> None:
        """Hand everything to the thread at once: what piles up there is one transaction."""
        self._flushing = None
        held, self._held = self._held, []
        for call, done in held:
            self._worker.run(call).addCallbacks(
                self._stored, self._failed, callbackArgs=(done,), errbackArgs=(call, done)
            )

    def _stored(self, result: T, done: Deferred[T]) -> None:
        self.waiting -= 1
        done.callback(result)

    def _failed(self, failure: Failure, call: Callable[[], T], done: Deferred[T]) -> None:
        if isinstance(failure.value, StoreLocked) and not self._is_hasty:
            self._hold(call, done)
            return
        self.waiting -= 1
        done.errback(failure)
