"""One thread for one connection to the database: calls in order, in groups, with answers.

Twisted's thread pool does not fit: a connection belongs to one thread, and waiting calls are to
share a transaction. A `StoreWorker` owns its thread, and limits the number and the time of waiting
calls. It is used from the reactor's thread and answers there.

Locks: SQLite waits `LOCK_TRY` seconds for another program's lock. Then the worker tries the call
again, until the caller's patience ends. A call that fails with `StoreLocked` has changed nothing.

A database on a server may stop to answer; then the thread waits for ever. `emu.net.store_reach`
notices that, and ends the wait with the worker's `interrupt`.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, Generic, Protocol, TypeVar

from twisted.internet.defer import Deferred, fail
from twisted.internet.interfaces import IReactorFromThreads

from emu.errors import StoreAway, StoreError, StoreLocked
from emu.net.machine import ThreadWork, WorkThread, machine_of
from emu.store.batches import runs, together

T = TypeVar("T")

LOCK_TRY: Final = 0.1
"""Seconds that SQLite waits for a lock in one try."""
LEAST_PATIENCE: Final = 0.1
"""Seconds that a new call waits for a lock that has been held longer than the patience."""
PAUSE: Final = 0.01
"""Seconds between two tries if SQLite reports the lock without waiting."""


@dataclass(slots=True, eq=False)
class _Job(Generic[T]):
    """One call, its outcome, and the Deferred that gets it."""

    call: Callable[[], T]
    done: Deferred[T]
    asked: float
    """Time of the request, by the monotonic clock."""
    result: T | None = None
    error: BaseException | None = None

    is_probe: bool = False
    """The call is to find out whether the database answers again."""

    @property
    def is_hopeless(self) -> bool:
        """The call failed because of another program's lock, or the server does not answer."""
        return isinstance(self.error, StoreLocked | StoreAway)

    @property
    def is_locked(self) -> bool:
        """The call failed because of another program's lock."""
        return isinstance(self.error, StoreLocked)

    def carry_out(self) -> None:
        """Run the call and keep its outcome. In a worker thread."""
        try:
            self.result = self.call()
        except BaseException as error:  # noqa: BLE001  # the caller gets every error
            self.error = error

    def answer(self) -> None:
        """Pass the outcome to the caller. In the reactor's thread."""
        if self.error is not None:
            self.done.errback(self.error)
        else:
            self.done.callback(self.result)  # type: ignore[arg-type]  # None only where T has it


def _carry_out_run(jobs: Sequence[_Job[Any]]) -> None:
    """Carry out calls of one kind with as few statements as possible. In a worker thread."""
    if len(jobs) > 1:
        try:
            outcomes = together([job.call for job in jobs])
        except (StoreLocked, StoreAway) as error:
            outcomes = [error] * len(jobs)
        except Exception:  # noqa: BLE001  # one of them has failed all: each gets its own outcome
            outcomes = None
        if outcomes is not None:
            for job, outcome in zip(jobs, outcomes, strict=True):
                if isinstance(outcome, Exception):
                    job.error = outcome
                else:
                    job.result = outcome
            return
    for job in jobs:
        job.carry_out()


class Reachability(Protocol):
    """Whether a database's server answers. `problem` is read in any thread."""

    problem: StoreAway | None

    def asked(self) -> None:
        """Note that a call waits."""

    def lost(self, error: StoreAway) -> None:
        """Note that a call found no server."""


class StoreWorker:
    """One thread that carries out calls in order.

    Waiting calls run as one group inside `group()` (a transaction, or one snapshot for reads), and
    are answered after it. Under load, many changes share one commit. A change is answered only
    after its commit, so a crash cannot undo an answered change.
    """

    def __init__(
        self,
        reactor: IReactorFromThreads,
        group: Callable[[], AbstractContextManager[object]] | None,
        *,
        name: str = "emu-store",
        most_waiting: int = 20_000,
        most_grouped: int = 64,
        patience: float = 0.0,
        prepare: Callable[[], object] = lambda: None,
        reach: Reachability | None = None,
        interrupt: Callable[[], object] = lambda: None,
    ) -> None:
        """Prepare the thread; it starts with the first call, and first calls `prepare`.

        Without a `group`, each call stands for itself. While `reach` has a problem, every call
        fails with it. `interrupt` ends the wait of a call for the server; any thread may call it.
        `patience` is how many seconds a call may wait for another program's lock, from its request
        on. If the lock is held for longer, new calls wait only `LEAST_PATIENCE`.
        """
        self._name = name
        self._reactor = reactor
        self._group = group
        self._most_waiting = most_waiting
        self._most_grouped = most_grouped
        self._patience = patience
        self._prepare = prepare
        self._reach = reach
        self.interrupt = interrupt
        self._begun: float | None = None
        """When the present call was begun, by the monotonic clock."""
        self._locked_since: float | None = None
        """Time of the first failed try since the last successful one, by the monotonic clock.
        Only the worker's thread uses it."""
        # Passes calls to the thread; the answers return by `callFromThread`.
        self._queue: queue.SimpleQueue[Sequence[_Job[Any]] | None] = queue.SimpleQueue()
        self.waiting = 0
        """Calls without an answer."""
        self._machine = machine_of(reactor)
        self._steady = self._machine.steady
        self._thread: WorkThread | None = None
        self._stopped: Deferred[None] | None = None

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call after all earlier ones, and return its result.

        Fails with `StoreError` if the worker is stopping or too many calls wait.
        """
        (done,) = self.run_together([call])
        return done

    def run_together(self, calls: Sequence[Callable[[], T]]) -> list[Deferred[T]]:
        """Carry out several calls in one group: a lock stops all of them, or none."""
        if self._reach is not None and self._reach.problem is not None:
            return [fail(self._reach.problem) for _ in calls]
        return self._asked(calls)

    def probe(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call although the database is away."""
        (done,) = self._asked([call], is_probe=True)
        return done

    def is_overdue(self, seconds: float) -> bool:
        """Return whether the present call takes longer than this."""
        # Read once: the thread may end the call meanwhile.
        begun = self._begun
        return begun is not None and self._steady() - begun > seconds

    def _asked(
        self, calls: Sequence[Callable[[], T]], *, is_probe: bool = False
    ) -> list[Deferred[T]]:
        reason = ""
        if self._stopped is not None:
            reason = "the store is closing"
        elif self.waiting + len(calls) > self._most_waiting:
            reason = "the store cannot keep up; is the disk slow or full?"
        if reason:
            return [fail(StoreError(reason)) for _ in calls]
        if self._thread is None:
            self._thread = self._machine.thread(self._work(), self._name)
        asked = self._steady()
        jobs: list[_Job[T]] = [_Job(call, Deferred(), asked, is_probe=is_probe) for call in calls]
        if self._reach is not None:
            self._reach.asked()
        # Only the reactor's thread changes this number, so it needs no lock.
        self.waiting += len(jobs)
        # One queue entry for all calls, so that `_take` never separates them.
        self._queue.put(jobs)
        self._thread.wake()
        return [job.done for job in jobs]

    def stop(self) -> Deferred[None]:
        """Refuse new calls, carry out the waiting ones, and return when the thread has ended."""
        if self._stopped is None:
            self._stopped = Deferred()
            if self._thread is None:
                self._stopped.callback(None)
            else:
                # None comes after all waiting calls, so these are carried out first.
                self._queue.put(None)
                self._thread.wake()
        return self._stopped

    def _work(self) -> ThreadWork:
        # A connection of SQLite belongs to the thread that uses it.
        self._prepare()
        going = True
        jobs: list[_Job[Any]] = []
        while going or jobs:
            if going:
                while not jobs and self._queue.empty():
                    yield None
                going = self._take(jobs)
            if jobs:
                # Jobs that met a lock stay in `jobs`, in front of the calls that come meanwhile.
                begun = self._steady()
                self._carry_out(jobs)
                jobs = self._answered(jobs, begun)
                if jobs and self._steady() - begun < PAUSE:
                    # SQLite returns at once for some locks (a snapshot that is too old, for
                    # instance). Without a pause this loop would take a whole core.
                    yield PAUSE
        # The reactor's thread owns the Deferreds and the state of the worker.
        self._reactor.callFromThread(self._end)

    def _take(self, jobs: list[_Job[Any]]) -> bool:
        """Move waiting calls to `jobs`. Return False if the worker must end."""
        unit: Sequence[_Job[Any]] | None = ()
        while unit is not None:
            jobs.extend(unit)
            # A larger group would delay the answers of its first calls.
            if len(jobs) >= self._most_grouped:
                return True
            try:
                unit = self._queue.get_nowait()
            except queue.Empty:
                return True
        return False

    def _carry_out(self, jobs: list[_Job[Any]]) -> None:
        """Carry out calls; several of them as one group."""
        for job in jobs:
            job.error = None  # of the try before
        try:
            if len(jobs) == 1 or self._group is None:
                # The repository's method makes its own transaction: a group would only add a
                # savepoint.
                for run in runs(jobs, attrgetter("call")):
                    self._carry_out_run(run)
            else:
                self._carry_out_together(jobs, self._group)
        finally:
            self._begun = None

    def _carry_out_together(
        self, jobs: list[_Job[Any]], group: Callable[[], AbstractContextManager[object]]
    ) -> None:
        self._begun = self._steady()
        try:
            with group():
                done = 0
                for run in runs(jobs, attrgetter("call")):
                    self._carry_out_run(run)
                    if run[0].is_hopeless:  # the others would each wait for the same lock
                        # They were not tried, and count as locked, too, so that their order stays.
                        for later in jobs[done:]:
                            later.error = run[0].error
                        break
                    done += len(run)
                self._begun = self._steady()
        except BaseException as error:  # noqa: BLE001  # no commit: no call of the group is stored
            for job in jobs:
                job.error = job.error or error

    def _carry_out_run(self, jobs: Sequence[_Job[Any]]) -> None:
        """Carry out calls of one kind, unless the database is away."""
        problem = self._reach.problem if self._reach is not None else None
        if problem is not None and not jobs[0].is_probe:
            # They were asked before the database was away; they must not wait for it, too.
            for job in jobs:
                job.error = problem
            return
        self._begun = self._steady()
        _carry_out_run(jobs)

    def _answered(self, jobs: list[_Job[Any]], begun: float) -> list[_Job[Any]]:
        """Answer finished calls, and return those to try again."""
        now = self._steady()
        locked = [job for job in jobs if job.is_locked]
        if len(locked) < len(jobs):
            # Any call that was carried out shows that the lock is free again.
            self._locked_since = None
        if locked and self._locked_since is None:
            self._locked_since = begun
        again, done = list[_Job[Any]](), list[_Job[Any]]()
        for job in jobs:
            (again if job.is_locked and now < self._latest(job) else done).append(job)
        if done:
            # All answers of a group in one call: waking the reactor costs more than an answer.
            self._reactor.callFromThread(self._answer, done)
        return again

    def _latest(self, job: _Job[Any]) -> float:
        """Return the time until which a call may wait for the lock.

        While a program holds the lock for long, only the first calls wait for the full patience.
        Without that, every request of every player would take so long.
        """
        held_long = (self._locked_since or 0.0) + self._patience
        least = job.asked + min(LEAST_PATIENCE, self._patience)
        return min(job.asked + self._patience, max(held_long, least))

    def _answer(self, jobs: list[_Job[Any]]) -> None:
        for job in jobs:
            self.waiting -= 1
            # Before the answer, after which the caller may ask again.
            if isinstance(job.error, StoreAway) and self._reach is not None:
                self._reach.lost(job.error)
            job.answer()

    def _end(self) -> None:
        if self._thread is not None:
            # The thread has already scheduled this call, so it ends within microseconds.
            self._thread.join()
        if self._stopped is not None:
            self._stopped.callback(None)
