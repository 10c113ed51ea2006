"""The database for the reactor: threads for its connections, and deferred writes.

There are two connections, each with its own thread. The writing one may wait for seconds for
another program's lock; the reading one never does. Nothing reads the database in the reactor's
thread, because a slow disk would stop the whole server. The rows that every login needs are cached
until somebody changes them.

Twisted's thread pool does not fit: a connection belongs to one thread, and waiting calls are to
share a transaction. This module owns the threads, and limits the number and the time of waiting
calls. It is used from the reactor's thread and answers there. Password hashes have their own
threads, in `emu.net.login.password_workers`.

Locks: SQLite waits `LOCK_TRY` seconds for another program's lock. Then the worker tries the call
again, until the caller's patience ends. A call that fails with `StoreLocked` has changed nothing.

Deferred writes: when many players log in, each would wake the writing thread to store one time of
day. Such calls wait up to `DELAY` seconds and share a transaction. One batch is carried out at a
time. A batch that met a lock is tried again before every later call, so no change overtakes an
older one.
"""

from __future__ import annotations

import math
import queue
import secrets
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from twisted.internet.defer import Deferred, DeferredList, fail
from twisted.internet.interfaces import IReactorFromThreads
from twisted.python.failure import Failure

from emu.database.sqlite import LOCK_WAIT
from emu.errors import StoreError, StoreLocked
from emu.model import Durability
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.store import Store
from emu.store.asynchronous import (
    AsyncAccountAdministration,
    AsyncAccountGate,
    AsyncAccounts,
    AsyncBans,
    AsyncCharacters,
    AsyncGuilds,
    AsyncHandoffKeys,
    AsyncMail,
    AsyncMemories,
    AsyncModels,
    AsyncNodes,
    AsyncPetitions,
    AsyncReports,
    AsyncRoster,
    AsyncSettings,
    AsyncWorldCharacters,
    AsyncWorlds,
    StoreConnections,
)
from emu.store.batches import by_kind, runs, together
from emu.store.row_cache import StoreCache

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
            errors = together([job.call for job in jobs])
        except StoreLocked as error:
            errors = [error] * len(jobs)
        except Exception:  # noqa: BLE001  # one of them has failed all: each gets its own outcome
            errors = None
        if errors is not None:
            for job, found in zip(jobs, errors, strict=True):
                job.error = found
            return
    for job in jobs:
        job.carry_out()


class StoreWorker:
    """One thread that carries out calls in order.

    Waiting calls run as one group inside `group()` (a transaction, or one snapshot for reads), and
    are answered after it. Under load, many changes share one commit. A change is answered only
    after its commit, so a crash cannot undo an answered change.
    """

    def __init__(
        self,
        reactor: IReactorFromThreads,
        group: Callable[[], AbstractContextManager[object]],
        *,
        name: str = "emu-store",
        most_waiting: int = 20_000,
        most_grouped: int = 64,
        patience: float = 0.0,
        prepare: Callable[[], object] = lambda: None,
    ) -> None:
        """Prepare the thread; it starts with the first call, and first calls `prepare`.

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
        self._locked_since: float | None = None
        """Time of the first failed try since the last successful one, by the monotonic clock.
        Only the worker's thread uses it."""
        # Passes calls to the thread; the answers return by `callFromThread`.
        self._queue: queue.SimpleQueue[Sequence[_Job[Any]] | None] = queue.SimpleQueue()
        self.waiting = 0
        """Calls without an answer."""
        self._thread: threading.Thread | None = None
        self._stopped: Deferred[None] | None = None

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call after all earlier ones, and return its result.

        Fails with `StoreError` if the worker is stopping or too many calls wait.
        """
        (done,) = self.run_together([call])
        return done

    def run_together(self, calls: Sequence[Callable[[], T]]) -> list[Deferred[T]]:
        """Carry out several calls in one group: a lock stops all of them, or none."""
        reason = ""
        if self._stopped is not None:
            reason = "the store is closing"
        elif self.waiting + len(calls) > self._most_waiting:
            reason = "the store cannot keep up; is the disk slow or full?"
        if reason:
            return [fail(StoreError(reason)) for _ in calls]
        if self._thread is None:
            # A daemon thread: a disk that hangs must not keep the process from ending.
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        asked = time.monotonic()
        jobs: list[_Job[T]] = [_Job(call, Deferred(), asked) for call in calls]
        # Only the reactor's thread changes this number, so it needs no lock.
        self.waiting += len(jobs)
        # One queue entry for all calls, so that `_take` never separates them.
        self._queue.put(jobs)
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
        return self._stopped

    def _work(self) -> None:
        # A connection of SQLite belongs to the thread that uses it.
        self._prepare()
        going = True
        jobs: list[_Job[Any]] = []
        while going or jobs:
            if going:
                going = self._take(jobs)
            if jobs:
                # Jobs that met a lock stay in `jobs`, in front of the calls that come meanwhile.
                begun = time.monotonic()
                self._carry_out(jobs)
                jobs = self._answered(jobs, begun)
        # The reactor's thread owns the Deferreds and the state of the worker.
        self._reactor.callFromThread(self._end)

    def _take(self, jobs: list[_Job[Any]]) -> bool:
        """Move waiting calls to `jobs`; wait for a call if there is none.

        Return False if the worker must end.
        """
        unit = self._queue.get() if not jobs else ()
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
        if len(jobs) == 1:
            # The repository's method makes its own transaction: a group would only add a savepoint.
            jobs[0].carry_out()
            return
        try:
            with self._group():
                done = 0
                for run in runs(jobs, attrgetter("call")):
                    _carry_out_run(run)
                    if run[0].is_locked:  # the others would each wait for the same lock
                        # They were not tried, and count as locked, too, so that their order stays.
                        for later in jobs[done:]:
                            later.error = run[0].error
                        break
                    done += len(run)
        except BaseException as error:  # noqa: BLE001  # no commit: no call of the group is stored
            for job in jobs:
                job.error = job.error or error

    def _answered(self, jobs: list[_Job[Any]], begun: float) -> list[_Job[Any]]:
        """Answer finished calls, and return those to try again."""
        now = time.monotonic()
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
        if again and now - begun < PAUSE:
            # SQLite returns at once for some locks (a snapshot that is too old, for instance).
            # Without a pause this loop would take a whole core.
            time.sleep(PAUSE)
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
            job.answer()

    def _end(self) -> None:
        if self._thread is not None:
            # The thread has already scheduled this call, so it ends within microseconds.
            self._thread.join()
        if self._stopped is not None:
            self._stopped.callback(None)


DELAY = 0.2
"""Longest time in seconds that a call is deferred."""
MOST_WAITING = 20_000
"""Waiting calls; further ones are refused."""
MOST_TOGETHER = 512
"""Calls in one batch."""

_Call = tuple[Callable[[], Any], Deferred[Any]]
"""A call, and the Deferred that gets its outcome."""


class DeferredWrites:
    """Writes that wait for each other, to share a transaction.

    `run` and `run_at_once` implement `emu.store.asynchronous.Run`.
    """

    def __init__(
        self, worker: StoreWorker, scheduler: Scheduler, *, most_waiting: int = MOST_WAITING
    ) -> None:
        self._worker = worker
        self._scheduler = scheduler
        self._most_waiting = most_waiting
        self.waiting = 0
        """Calls without an answer."""
        self._held: list[_Call] = []
        """Calls that are not in the current batch, in order."""
        self._flushing: DelayedCall | None = None
        self._is_under_way = False
        self._is_urgent = False
        """Carry out the held calls directly after the current batch."""
        self._is_hasty = False
        self._has_given_up = False

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call within `DELAY` seconds; the result comes when its change is stored.

        Fails with `StoreError` if too many calls wait.
        """
        return self._taken(call, is_urgent=False)

    def run_at_once(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call as `run` does, but without the delay."""
        return self._taken(call, is_urgent=True)

    def flush_soon(self) -> None:
        """Defer no call from now on: the server is about to stop."""
        self._is_hasty = True
        if self._held:
            self._go_on(is_urgent=True)

    def give_up(self) -> None:
        """Stop repeating calls: those that meet a lock fail from now on."""
        self._has_given_up = True
        self.flush_soon()

    def _taken(self, call: Callable[[], T], *, is_urgent: bool) -> Deferred[T]:
        if self.waiting >= self._most_waiting:
            return fail(StoreError("the store cannot keep up; is the disk slow or full?"))
        self.waiting += 1
        done: Deferred[T] = Deferred()
        self._held.append((call, done))
        self._go_on(is_urgent=is_urgent or self._is_hasty)
        return done

    def _go_on(self, *, is_urgent: bool) -> None:
        """Schedule the held calls: after the delay, at once, or after the current batch."""
        if self._is_under_way:
            self._is_urgent = self._is_urgent or is_urgent
        elif is_urgent:
            self._flush()
        elif self._flushing is None:
            self._flushing = self._scheduler.later(DELAY, self._flush)

    def _flush(self) -> None:
        """Pass the next batch to the thread, which makes one transaction of it."""
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        batch, self._held = self._held[:MOST_TOGETHER], self._held[MOST_TOGETHER:]
        batch = by_kind(batch, itemgetter(0))
        # Calls beyond MOST_TOGETHER have waited as long as this batch: they follow directly.
        self._is_under_way, self._is_urgent = True, bool(self._held)
        calls = [call for call, _ in batch]
        # Otherwise Twisted logs each error a second time, although its caller gets it.
        together = DeferredList(self._worker.run_together(calls), consumeErrors=True)
        together.addCallback(self._carried_out, batch)

    def _carried_out(self, results: list[tuple[bool, Any]], batch: list[_Call]) -> None:
        """Put calls that met a lock in front of the later ones, and answer the others."""
        # An empty list: `zip` then puts nothing back, and all calls are answered.
        locked = [] if self._has_given_up else [is_locked(result) for _, result in results]
        # In front, so that a later change of the same row is stored after an earlier one.
        self._held[:0] = [call for call, again in zip(batch, locked, strict=False) if again]
        self._is_under_way = False
        # Before the answers: a callback that adds a call must find the older ones scheduled.
        if self._held:
            # A batch that met a lock waits for the delay, or it would try in a tight loop.
            self._go_on(is_urgent=self._is_urgent and not any(locked))
        for number, ((_, done), (is_stored, result)) in enumerate(zip(batch, results, strict=True)):
            if locked and locked[number]:
                continue
            self.waiting -= 1
            if is_stored:
                done.callback(result)
            else:
                done.errback(result)


def is_locked(result: object) -> bool:
    """Return whether a call failed because of another program's lock."""
    return isinstance(result, Failure) and isinstance(result.value, StoreLocked)


_log = logger("store")
MOST_WARNINGS = 1000
"""Most warnings about unusable values; each is logged once."""
REMEMBERED = 2000
"""Rows of each kind that are cached."""
MOST_GROUPED = 512
"""Most changes in one transaction."""


class Storage:
    """The open database of a running server.

    Its attributes implement the ports of the services. A read sees every write that was answered
    before it. Raises `StoreError` if the database cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        reactor: Any,
        scheduler: Scheduler,
        *,
        keep_deleted: float = math.inf,
        knows_accounts: bool = True,
        lock_wait: float = LOCK_WAIT,
        remembered: int = REMEMBERED,
        durability: Durability = Durability.FAST,
    ) -> None:
        """Open or create the database; a deleted character is kept for `keep_deleted` seconds.

        `knows_accounts`: the world in this process uses the accounts of this process's login
        service. A call that is not deferred fails with `StoreLocked` if another program locks the
        database for `lock_wait` seconds. `remembered` rows of each kind are cached.
        """
        self.direct = Store.create(path, keep_deleted=keep_deleted)
        """The writing store; use it only before the first call of the ports, or after `close`."""
        self.direct.database.set_durability(durability)
        # The keeper makes them, after it has checked that the file is still the one that was
        # opened.
        self.direct.sqlite.leave_checkpoints()
        self._warned: set[str] = set()
        self._seen = Store.open_for_reading(path)
        self.commits = self.direct.sqlite.watch_commits()
        """Detects commits of other programs; None where that is not possible."""
        self._questions = 0
        self._writer = StoreWorker(
            reactor, self.direct.transaction, name="emu-store-write", most_grouped=MOST_GROUPED,
            patience=lock_wait, prepare=partial(self.direct.sqlite.wait_for_locks, LOCK_TRY),
        )  # fmt: skip
        self._reader = StoreWorker(
            reactor, self._seen.reading, name="emu-store-read", patience=lock_wait,
            prepare=partial(self._seen.sqlite.wait_for_locks, LOCK_TRY),
        )  # fmt: skip
        self._behind = DeferredWrites(self._writer, scheduler)
        for store in (self.direct, self._seen):
            store.database.warn = self._warn
        ways = StoreConnections(
            reader=self._seen,
            read=self._reader.run,
            writer=self.direct,
            write=self._writer.run,
            later=self._behind.run,
            persistent=self._behind.run_at_once,
            cache=StoreCache(self._epoch, Deferred, remembered),
        )
        self.accounts = AsyncAccounts(ways)
        self.account_administration = AsyncAccountAdministration(
            ways, lambda store: store.login.accounts
        )
        self.roster = AsyncRoster(ways, lambda store: store.roster)
        self.bans = AsyncBans(ways)
        self.account_gate = AsyncAccountGate(
            ways, self.bans, scheduler, knows_accounts=knows_accounts
        )
        self.login_gate = AsyncAccountGate(ways, self.bans, scheduler, knows_accounts=True)
        """For the login service, which always has its own accounts."""
        self.worlds = AsyncWorlds(ways, lambda store: store.login.worlds)
        self.characters = AsyncCharacters(ways, lambda store: store.login.characters)
        self.reports = AsyncReports(ways, lambda store: store.login.reports)
        self.models = AsyncModels(ways, lambda store: store.login.models)
        self.guilds = AsyncGuilds(ways, lambda store: store.world.guilds)
        self.settings = AsyncSettings(ways, lambda store: store.login.settings)
        self.memories = AsyncMemories(ways, lambda store: store.world.memories)
        self.nodes = AsyncNodes(ways, lambda store: store.world.nodes)
        self.handoffs = AsyncHandoffKeys(ways, partial(secrets.randbits, 32), scheduler.moment)
        """For a world of several processes; the only one of its world has them in memory."""
        self.mail = AsyncMail(ways, lambda store: store.world.mail)
        self.petitions = AsyncPetitions(ways, lambda store: store.world.petitions)
        self.world_characters = AsyncWorldCharacters(ways, lambda store: store.world.characters)

    def _epoch(self) -> int:
        """Return a number that changes when another program has changed the database.

        If that cannot be detected, or the file was lost, the number changes with each call, so
        that no row is served from the cache.
        """
        if self.commits is not None and not self.direct.database.lost:
            return self.commits.epoch()
        self._questions += 1
        return self._questions

    def _warn(self, line: str) -> None:
        """Log a warning about an unusable value once. Any thread may call this."""
        if line not in self._warned and len(self._warned) < MOST_WARNINGS:
            self._warned.add(line)
            _log.warn("{line}; emu doctor --repair stores what is used", line=line)

    @property
    def waiting(self) -> int:
        """Calls to the threads without an answer."""
        return self._writer.waiting + self._reader.waiting

    @property
    def deferred(self) -> int:
        """Deferred writes that are not stored yet."""
        return self._behind.waiting

    def with_store(self, work: Callable[[Store], T]) -> Awaitable[T]:
        """Carry out a call with the writing store, in its thread."""
        return self._writer.run(partial(work, self.direct))

    def lose(self, problem: str) -> None:
        """Refuse every call from now on, with this line. Any thread may call this."""
        for store in (self.direct, self._seen):
            store.database.lost = problem

    def flush_soon(self) -> None:
        """Defer no write from now on: the server is about to stop."""
        self._behind.flush_soon()

    def give_up(self) -> None:
        """Stop repeating deferred writes that meet a lock."""
        self._behind.give_up()

    async def close(self, *, is_last: bool = True) -> None:
        """Carry out the waiting calls, then close the file.

        `is_last`: no other connection of this process has it open. Otherwise call `close_watch`
        after the last one is closed.
        """
        # From now on a write that meets a lock fails: a lock must not delay the end of the process.
        self.give_up()
        await self._reader.stop()
        await self._writer.stop()
        # After the threads have ended: a connection must not be closed while a thread uses it.
        self._seen.close()
        self.direct.close()
        if is_last:
            self.close_watch()

    def close_watch(self) -> None:
        """Close the commit watch, after all connections of this process to the database."""
        commits, self.commits = self.commits, None
        if commits is not None:
            commits.close()
