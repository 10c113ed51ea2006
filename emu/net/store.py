"""The database as the reactor uses it: threads for its connections, and deferred writes.

Twisted's thread pool does not serve here: a connection has one thread, and calls that have piled up
share one transaction. Owns the threads and the bounds on how many calls wait and how long; what a
call does is the caller's business. Used from the reactor's thread only, and answers there.
Passwords have `emu.net.login.password_workers`.

While another program holds a lock, a try ends after a tenth of a second (`LOCK_TRY`, which the
connection has to be set to) and is made again. A call that has waited too long for the lock fails
with `StoreLocked`, and it is certain that it changed nothing.

A crowd that logs in would otherwise wake the store's thread for every player, to remember a moment.
Here such calls are held back for a fifth of a second and share a transaction. One batch of calls is
under way at a time. While another program holds the database's lock the batch is tried again before
anything that came later: no change overtakes an older one.

One connection writes and one reads, each in a thread of its own. A write may have to wait for
another program's, for seconds even; a read never does. Nothing is read in the reactor's thread: a
disk that is slow for one player would be slow for all. What every login needs is remembered, as
long as nobody has changed it.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from twisted.internet.defer import Deferred, DeferredList, fail
from twisted.internet.interfaces import IReactorFromThreads
from twisted.python.failure import Failure

from emu.database import LOCK_WAIT
from emu.errors import StoreError, StoreLocked
from emu.model import Durability
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.store import Store
from emu.store.front import (
    AsyncAccountAdministration,
    AsyncAccountGate,
    AsyncAccounts,
    AsyncBans,
    AsyncCharacters,
    AsyncModels,
    AsyncReports,
    AsyncRoster,
    AsyncWorldCharacters,
    AsyncWorlds,
    StoreConnections,
)
from emu.store.remembered import Memory

T = TypeVar("T")

LOCK_TRY: Final = 0.1
"""Seconds that SQLite waits for a lock in one try."""
LEAST_PATIENCE: Final = 0.1
"""Seconds that a call waits when the lock has been held for longer than a call may wait."""
PAUSE: Final = 0.01
"""Seconds between two tries of which SQLite itself does not wait in the first."""


@dataclass(slots=True, eq=False)
class _Job(Generic[T]):
    """One call, what became of it, and who is told."""

    call: Callable[[], T]
    done: Deferred[T]
    asked: float
    """When, by the monotonic clock."""
    result: T | None = None
    error: BaseException | None = None

    @property
    def is_locked(self) -> bool:
        """Whether another program's lock kept the call from being carried out."""
        return isinstance(self.error, StoreLocked)

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
        patience: float = 0.0,
        prepare: Callable[[], object] = lambda: None,
    ) -> None:
        """Prepare the thread; it starts with the first call, and calls `prepare` before that.

        `patience` is how many seconds a call may wait for another program's lock, counted from
        when it was asked for. In a lock that is held for longer, calls wait `LEAST_PATIENCE`.
        """
        self._name = name
        self._reactor = reactor
        self._group = group
        self._most_waiting = most_waiting
        self._most_grouped = most_grouped
        self._patience = patience
        self._prepare = prepare
        self._locked_since: float | None = None
        """When the first try failed of those that have failed without one in between that did not.

        Like all times here by the monotonic clock; the worker's thread alone uses it."""
        self._queue: queue.SimpleQueue[Sequence[_Job[Any]] | None] = queue.SimpleQueue()
        self.waiting = 0
        """How many calls are not answered yet."""
        self._thread: threading.Thread | None = None
        self._stopped: Deferred[None] | None = None

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call after all earlier ones and answer with its result.

        Fails with `StoreError` when the worker is stopping or far too much waits.
        """
        (done,) = self.run_together([call])
        return done

    def run_together(self, calls: Sequence[Callable[[], T]]) -> list[Deferred[T]]:
        """Carry several calls out in one group: a lock keeps all of them from it, or none."""
        reason = ""
        if self._stopped is not None:
            reason = "the store is closing"
        elif self.waiting + len(calls) > self._most_waiting:
            reason = "the store cannot keep up; is the disk slow or full?"
        if reason:
            return [fail(StoreError(reason)) for _ in calls]
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        asked = time.monotonic()
        jobs: list[_Job[T]] = [_Job(call, Deferred(), asked) for call in calls]
        self.waiting += len(jobs)
        self._queue.put(jobs)
        return [job.done for job in jobs]

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
        self._prepare()
        going = True
        jobs: list[_Job[Any]] = []
        while going or jobs:
            if going:
                going = self._take(jobs)
            if jobs:
                begun = time.monotonic()
                self._carry_out(jobs)
                jobs = self._answered(jobs, begun)
        self._reactor.callFromThread(self._end)

    def _take(self, jobs: list[_Job[Any]]) -> bool:
        """Take the calls that wait, and wait for one when there is none.

        Returns False when the worker is to end.
        """
        unit = self._queue.get() if not jobs else ()
        while unit is not None:
            jobs.extend(unit)
            if len(jobs) >= self._most_grouped:
                return True
            try:
                unit = self._queue.get_nowait()
            except queue.Empty:
                return True
        return False

    def _carry_out(self, jobs: list[_Job[Any]]) -> None:
        """Carry calls out, several of them as one group."""
        for job in jobs:
            job.error = None
        if len(jobs) == 1:
            jobs[0].carry_out()
            return
        try:
            with self._group():
                for number, job in enumerate(jobs):
                    job.carry_out()
                    if job.is_locked:  # and the others as well: each would wait in its turn
                        for later in jobs[number:]:
                            later.error = job.error
                        break
        except BaseException as error:  # noqa: BLE001  # no commit: nothing of the group is stored
            for job in jobs:
                job.error = job.error or error

    def _answered(self, jobs: list[_Job[Any]], begun: float) -> list[_Job[Any]]:
        """Answer what is done, and return what is to be tried again."""
        now = time.monotonic()
        locked = [job for job in jobs if job.is_locked]
        if len(locked) < len(jobs):
            self._locked_since = None
        if locked and self._locked_since is None:
            self._locked_since = begun
        again, done = list[_Job[Any]](), list[_Job[Any]]()
        for job in jobs:
            (again if job.is_locked and now < self._latest(job) else done).append(job)
        if done:
            self._reactor.callFromThread(self._answer, done)
        if again and now - begun < PAUSE:
            time.sleep(PAUSE)
        return again

    def _latest(self, job: _Job[Any]) -> float:
        """Return until when a call may wait for the lock."""
        held_long = (self._locked_since or 0.0) + self._patience
        least = job.asked + min(LEAST_PATIENCE, self._patience)
        return min(job.asked + self._patience, max(held_long, least))

    def _answer(self, jobs: list[_Job[Any]]) -> None:
        for job in jobs:
            self.waiting -= 1
            job.answer()

    def _end(self) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._stopped is not None:
            self._stopped.callback(None)


DELAY = 0.2
"""Seconds that a call is held back at most."""
MOST_WAITING = 20_000
"""Calls that wait at once; further ones are refused."""
MOST_TOGETHER = 512
"""Calls of one batch."""

_Call = tuple[Callable[[], Any], Deferred[Any]]
"""A call, and who is told what came of it."""


class DeferredWrites:
    """Implements `emu.store.front.Run` over the thread that writes."""

    def __init__(
        self, worker: StoreWorker, scheduler: Scheduler, *, most_waiting: int = MOST_WAITING
    ) -> None:
        self._worker = worker
        self._scheduler = scheduler
        self._most_waiting = most_waiting
        self.waiting = 0
        """How many calls are not answered yet."""
        self._held: list[_Call] = []
        """Calls that are not under way, in order."""
        self._flushing: DelayedCall | None = None
        self._is_under_way = False
        self._is_urgent = False
        """Whether the calls that are held go as soon as none are under way."""
        self._is_hasty = False
        self._has_given_up = False

    def run(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call some time soon and answer when its change is stored.

        Fails with `StoreError` when far too much waits.
        """
        return self._taken(call, is_urgent=False)

    def run_at_once(self, call: Callable[[], T]) -> Deferred[T]:
        """Carry out a call as `run` does, without holding it back."""
        return self._taken(call, is_urgent=True)

    def hasten(self) -> None:
        """Hold nothing back any more: the server is about to stop."""
        self._is_hasty = True
        if self._held:
            self._go_on(is_urgent=True)

    def give_up(self) -> None:
        """Try nothing again any more: what is locked now fails."""
        self._has_given_up = True
        self.hasten()

    def _taken(self, call: Callable[[], T], *, is_urgent: bool) -> Deferred[T]:
        if self.waiting >= self._most_waiting:
            return fail(StoreError("the store cannot keep up; is the disk slow or full?"))
        self.waiting += 1
        done: Deferred[T] = Deferred()
        self._held.append((call, done))
        self._go_on(is_urgent=is_urgent or self._is_hasty)
        return done

    def _go_on(self, *, is_urgent: bool) -> None:
        """Have what is held carried out: soon, at once, or when nothing is under way any more."""
        if self._is_under_way:
            self._is_urgent = self._is_urgent or is_urgent
        elif is_urgent:
            self._flush()
        elif self._flushing is None:
            self._flushing = self._scheduler.later(DELAY, self._flush)

    def _flush(self) -> None:
        """Hand calls to the thread at once, which makes one transaction of them."""
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        batch, self._held = self._held[:MOST_TOGETHER], self._held[MOST_TOGETHER:]
        self._is_under_way, self._is_urgent = True, bool(self._held)
        calls = [call for call, _ in batch]
        together = DeferredList(self._worker.run_together(calls), consumeErrors=True)
        together.addCallback(self._carried_out, batch)

    def _carried_out(self, results: list[tuple[bool, Any]], batch: list[_Call]) -> None:
        """Keep what the lock was in the way of, before what came later, and answer the rest."""
        locked = [] if self._has_given_up else [is_locked(result) for _, result in results]
        self._held[:0] = [call for call, again in zip(batch, locked, strict=False) if again]
        self._is_under_way = False
        if self._held:
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
    """Say whether a call failed because of another program's lock."""
    return isinstance(result, Failure) and isinstance(result.value, StoreLocked)


_log = logger("store")
MOST_WARNINGS = 1000
"""Values that cannot be used that are told of, each once."""
REMEMBERED = 2000
"""Rows of each kind that are remembered."""
MOST_GROUPED = 512
"""Changes that share a transaction, when so many have piled up."""


class Storage:
    """Opens the database for as long as the server runs.

    Its attributes implement the ports that are named after them. What a write has answered every
    later read sees. Raises `StoreError` when the database cannot be opened.
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
        """Open or make the database; a deleted character is kept for `keep_deleted` seconds.

        `knows_accounts`: the accounts of the world here are those of the login service here. A
        call that somebody waits for fails with `StoreLocked` when another program has locked the
        database for `lock_wait` seconds. `remembered` rows of each kind are kept in memory.
        """
        self.direct = Store.create(path, keep_deleted=keep_deleted)
        """The store that writes; only before the first call of the ports, or after `close`."""
        self.direct.database.set_durability(durability)
        self.direct.database.leave_checkpoints()
        self._warned: set[str] = set()
        self._seen = Store.look(path)
        self.commits = self.direct.database.watch_commits()
        """Tells commits of this server from those of other programs, where that is possible."""
        self._questions = 0
        self._writer = StoreWorker(
            reactor, self.direct.transaction, name="emu-store-write", most_grouped=MOST_GROUPED,
            patience=lock_wait, prepare=partial(self.direct.database.wait_for_locks, LOCK_TRY),
        )  # fmt: skip
        self._reader = StoreWorker(
            reactor, self._seen.reading, name="emu-store-read", patience=lock_wait,
            prepare=partial(self._seen.database.wait_for_locks, LOCK_TRY),
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
            memory=Memory(self._epoch, Deferred, remembered),
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
        """The same for the login service, which always knows its own accounts."""
        self.worlds = AsyncWorlds(ways, lambda store: store.login.worlds)
        self.characters = AsyncCharacters(ways, lambda store: store.login.characters)
        self.reports = AsyncReports(ways, lambda store: store.login.reports)
        self.models = AsyncModels(ways, lambda store: store.login.models)
        self.world_characters = AsyncWorldCharacters(ways, lambda store: store.world.characters)

    def _epoch(self) -> int:
        """Return a number that is another one once another program has changed the database.

        Where that cannot be told, and after the file was lost, it is another one each time: nothing
        is answered from memory then.
        """
        if self.commits is not None and not self.direct.database.lost:
            return self.commits.epoch()
        self._questions += 1
        return self._questions

    def _warn(self, line: str) -> None:
        """Write once what of the database cannot be used; the threads call this, too."""
        if line not in self._warned and len(self._warned) < MOST_WARNINGS:
            self._warned.add(line)
            _log.warn("{line}; emu doctor --repair stores what is used", line=line)

    @property
    def waiting(self) -> int:
        """How many calls to the threads are not answered yet."""
        return self._writer.waiting + self._reader.waiting

    @property
    def put_off(self) -> int:
        """How many writes that nobody waits for are not stored yet."""
        return self._behind.waiting

    def lose(self, problem: str) -> None:
        """Refuse every call from now on, with this line; may be called in any thread."""
        for store in (self.direct, self._seen):
            store.database.lost = problem

    def hasten(self) -> None:
        """Hold no write back any more: the server is about to stop."""
        self._behind.hasten()

    def give_up(self) -> None:
        """Wait for no lock any more with writes that nobody waits for."""
        self._behind.give_up()

    async def close(self, *, is_last: bool = True) -> None:
        """Carry out what waits, then close the file.

        `is_last` says whether no other connection of this process has it open; otherwise `let_go`
        must follow when that is so.
        """
        self.give_up()
        await self._reader.stop()
        await self._writer.stop()
        self._seen.close()
        self.direct.close()
        if is_last:
            self.let_go()

    def let_go(self) -> None:
        """Let go of what is left open for as long as this process uses the database."""
        commits, self.commits = self.commits, None
        if commits is not None:
            commits.close()
