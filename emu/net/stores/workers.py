"""Worker threads of the store, one for each of its connections. The reactor never waits for them.

Twisted's thread pool does not serve here: a connection has one thread, and calls that have piled up
share one transaction. Owns the threads and the bounds on how many calls wait; what a call does is
the caller's business. Used from the reactor's thread only, and answers there. Passwords have
`emu.net.login.password_workers`.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from twisted.internet.defer import Deferred, fail
from twisted.internet.interfaces import IReactorFromThreads

from emu.errors import StoreError

T = TypeVar("T")


@dataclass(slots=True)
class _Job(Generic[T]):
    """One call, what became of it, and who is told."""

    call: Callable[[], T]
    done: Deferred[T]
    result: T | None = None
    error: BaseException | None = None

    def carry_out(self) -> None:
        """Run the call and keep its outcome. In a worker thread."""
        try:
            self.result = self.call()
        except BaseException as error:  # noqa: BLE001  # whatever it is belongs to the caller
            self.error = error

    def answer(self) -> None:
        """Tell the outcome. In the reactor's thread."""
        if self.error is not None:
            self.done.errback(self.error)
        else:
            self.done.callback(self.result)  # type: ignore[arg-type]  # None only where T has it


class StoreWorker:
    """One thread that carries calls out in the order they came.

    Calls that have piled up run as one group inside `group()` (a store's transaction, or one view
    of it for reads), and are answered after it: under load many changes share one commit, and
    nothing is answered that a crash could take back.
    """

    def __init__(
        self,
        reactor: IReactorFromThreads,
        group: Callable[[], AbstractContextManager[object]],
        *,
        name: str = "emu-store",
        most_waiting: int = 20_000,
        most_grouped: int = 64,
    ) -> None:
        """Prepare the thread; it starts with the first call."""
        self._name = name
        self._reactor = reactor
        self._group = group
        self._most_waiting = most_waiting
        self._most_grouped = most_grouped
        self._queue: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self.waiting = 0
        """How many calls are not answered yet."""
        self._thread: threading.Thread | None = None
        self._stopped: Deferred[None] | None = None

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call after all earlier ones and answer with its result.

        Fails with `StoreError` when the worker is stopping or far too much waits.
        """
        if self._stopped is not None:
            return fail(StoreError("the store is closing"))
        if self.waiting >= self._most_waiting:
            return fail(StoreError("the store cannot keep up; is the disk slow or full?"))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        done: Deferred[T] = Deferred()
        self.waiting += 1
        self._queue.put(_Job(call, done))
        return done

    def stop(self) -> Deferred[None]:
        """Take no more calls, carry out those that wait, and answer when the thread is done."""
        if self._stopped is None:
            self._stopped = Deferred()
            if self._thread is None:
                self._stopped.callback(None)
            else:
                self._queue.put(None)
        return self._stopped

    def _work(self) -> None:
        going = True
        while going:
            jobs, going = self._next_group()
            if len(jobs) == 1:
                jobs[0].carry_out()
            elif jobs:
                self._carry_out_together(jobs)
            self._reactor.callFromThread(self._answer, jobs)
        self._reactor.callFromThread(self._end)

    def _next_group(self) -> tuple[list[_Job[Any]], bool]:
        """Wait for a call, take those behind it; False with them when the worker is to end."""
        jobs: list[_Job[Any]] = []
        job = self._queue.get()
        while job is not None:
            jobs.append(job)
            if len(jobs) >= self._most_grouped:
                return jobs, True
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                return jobs, True
        return jobs, False

    def _carry_out_together(self, jobs: list[_Job[Any]]) -> None:
        try:
            with self._group():
                for job in jobs:
                    job.carry_out()
        except BaseException as error:  # noqa: BLE001  # no commit: nothing of the group is stored
            for job in jobs:
                job.error = job.error or error

    def _answer(self, jobs: list[_Job[Any]]) -> None:
        for job in jobs:
            self.waiting -= 1
            job.answer()

    def _end(self) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._stopped is not None:
            self._stopped.callback(None)
