"""The database for the reactor: threads for its connections, and deferred writes.

One connection writes and others read, each with its own thread (`emu.net.store_worker`). The
writing one may wait for seconds for another program's lock; a reading one never does. On a server,
deferred writes have a connection of their own: nobody who awaits a write waits for theirs, too.
Nothing reads the database in the reactor's thread, because a slow disk or network would stop the
whole server. The rows of a SQLite file that every login needs are cached until somebody changes
them. Password hashes have their own threads, in `emu.net.login.password_workers`.

While a database on a server is away (`emu.net.store_reach`), reads and awaited writes fail with
`StoreAway`, and deferred writes wait for its return.

Deferred writes: when many players log in, each would wake the writing thread to store one time of
day. Such calls wait up to `DELAY` seconds and share a transaction. One batch is carried out at a
time. A batch that met a lock is tried again before every later call, so no change overtakes an
older one; so is one that found no server.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, DeferredList, fail
from twisted.python.failure import Failure

from emu.database import ServerUrl, Where
from emu.database.sqlite import LOCK_WAIT
from emu.database.sqlite.commits import CommitWatch
from emu.errors import StoreAway, StoreError, StoreLocked
from emu.model import Durability
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.net.store_reach import Reach
from emu.net.store_worker import LOCK_TRY, StoreWorker
from emu.store import Store
from emu.store.asynchronous import (
    AsyncAccountAdministration,
    AsyncAccountGate,
    AsyncAccounts,
    AsyncAudit,
    AsyncBans,
    AsyncCharacters,
    AsyncNotes,
    AsyncReports,
    AsyncRoster,
    AsyncSettings,
    AsyncWorlds,
    StoreConnections,
)
from emu.store.asynchronous_world import (
    AsyncContentEdits,
    AsyncGuilds,
    AsyncHandoffKeys,
    AsyncHouses,
    AsyncLedger,
    AsyncMail,
    AsyncMemories,
    AsyncModels,
    AsyncNodes,
    AsyncPetitions,
    AsyncPlacementFacts,
    AsyncThings,
    AsyncWorldCharacters,
)
from emu.store.batches import by_kind
from emu.store.row_cache import StoreCache

T = TypeVar("T")

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
        """Put calls that are to be repeated in front of the later ones, and answer the others."""
        # An empty list: `zip` then puts nothing back, and all calls are answered.
        locked = [] if self._has_given_up else [is_to_repeat(result) for _, result in results]
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


def is_to_repeat(result: object) -> bool:
    """Return whether a call failed because of another program's lock, or found no server."""
    return isinstance(result, Failure) and isinstance(result.value, StoreLocked | StoreAway)


_log = logger("store")
MOST_WARNINGS = 1000
"""Most warnings about unusable values; each is logged once."""
REMEMBERED = 2000
"""Rows of each kind that are cached."""
MOST_GROUPED = 512
"""Most changes in one transaction of a file."""
MOST_GROUPED_SERVER = 64
"""Most changes in one transaction on a server, which takes longer for each of them."""
MOST_READ_TOGETHER = 8
"""Most reads on a server that are answered together."""
BAN_SECONDS = 1.0
"""Longest time until a ban of another process counts here, with a database on a server."""
THREADS = 2
"""Threads that read from a server."""


class Storage:
    """The open database of a running server.

    Its attributes implement the ports of the services. A read sees every write that was answered
    before it. Raises `StoreError` if the database cannot be opened.
    """

    def __init__(
        self,
        where: Where,
        reactor: Any,
        scheduler: Scheduler,
        *,
        keep_deleted: float = math.inf,
        knows_accounts: bool = True,
        lock_wait: float = LOCK_WAIT,
        remembered: int = REMEMBERED,
        durability: Durability = Durability.FAST,
        threads: int = THREADS,
    ) -> None:
        """Open or create the database; a deleted character is kept for `keep_deleted` seconds.

        `knows_accounts`: the world in this process uses the accounts of this process's login
        service. A call that is not deferred fails with `StoreLocked` if another program locks the
        database for `lock_wait` seconds. `remembered` rows of each kind are cached, but only of a
        file: other processes change the rows on a server. `threads` read from a server.
        """
        self.direct = Store.create(where, keep_deleted=keep_deleted)
        """The writing store; use it only before the first call of the ports, or after `close`."""
        self.reach: Reach | None = None
        """Whether a database on a server answers; None for a file."""
        self.commits: CommitWatch | None = None
        """Detects commits of other programs; None where that is not possible."""
        self._warned: set[str] = set()
        self._questions = 0
        if isinstance(where, ServerUrl):
            self._open_server(where, reactor, scheduler, lock_wait, threads)
        else:
            self._open_file(where, reactor, lock_wait)
        self._behind = DeferredWrites(self._deferring, scheduler)
        for store in self._written:
            store.database.set_durability(durability)
        for store in self._stores:
            store.database.warn = self._warn
        ways = self._make_connections(remembered, scheduler)
        self._make_account_ports(ways, scheduler, knows_accounts=knows_accounts)
        self._make_world_ports(ways)

    def _make_connections(self, remembered: int, scheduler: Scheduler) -> StoreConnections:
        (reader, read), *more = zip(
            self._seen, [worker.run for worker in self._readers], strict=True
        )
        return StoreConnections(
            reader=reader,
            read=read,
            writer=self.direct,
            write=self._writer.run,
            later=self._behind.run,
            persistent=self._behind.run_at_once,
            cache=StoreCache(
                self._epoch,
                Deferred,
                remembered,
                partial(self._ban_epoch, scheduler),
                now=scheduler.now,
            ),
            deferring=self._written[-1],
            more_readers=more,
            least_busy=self._least_busy if more else None,
        )

    def _make_account_ports(
        self, ways: StoreConnections, scheduler: Scheduler, *, knows_accounts: bool
    ) -> None:
        """Make the ports for accounts, operators and the login service."""
        self.accounts = AsyncAccounts(ways)
        self.account_administration = AsyncAccountAdministration(
            ways, lambda store: store.login.accounts
        )
        self.roster = AsyncRoster(ways, lambda store: store.roster)
        self.audit = AsyncAudit(ways, lambda store: store.audit)
        self.notes = AsyncNotes(ways, lambda store: store.notes)
        self.bans = AsyncBans(ways, None if self.reach is None else scheduler.now)
        self.account_gate = AsyncAccountGate(
            ways, self.bans, scheduler, knows_accounts=knows_accounts
        )
        self.login_gate = AsyncAccountGate(ways, self.bans, scheduler, knows_accounts=True)
        """For the login service, which always has its own accounts."""
        self.worlds = AsyncWorlds(ways, lambda store: store.login.worlds)
        self.characters = AsyncCharacters(ways, lambda store: store.login.characters)
        self.reports = AsyncReports(ways, lambda store: store.login.reports)
        self.models = AsyncModels(ways, lambda store: store.login.models, scheduler.now)
        self.settings = AsyncSettings(ways, lambda store: store.login.settings)

    def _make_world_ports(self, ways: StoreConnections) -> None:
        """Make the ports for worlds and what is in them."""
        self.guilds = AsyncGuilds(ways, lambda store: store.world.guilds)
        self.memories = AsyncMemories(ways, lambda store: store.world.memories)
        self.content_edits = AsyncContentEdits(ways, lambda store: store.world.content_edits)
        self.placement_facts = AsyncPlacementFacts(ways, lambda store: store.world.placement_facts)
        self.nodes = AsyncNodes(ways, lambda store: store.world.nodes)
        self.handoffs = AsyncHandoffKeys(ways, partial(secrets.randbits, 32))
        """For a world of several processes; the only one of its world has them in memory."""
        self.ledger = AsyncLedger(ways, lambda store: store.world.ledger)
        self.things = AsyncThings(ways, lambda store: store.world.things)
        self.mail = AsyncMail(ways, lambda store: store.world.mail)
        self.houses = AsyncHouses(ways, lambda store: store.world.houses)
        self.petitions = AsyncPetitions(ways, lambda store: store.world.petitions)
        self.world_characters = AsyncWorldCharacters(ways, lambda store: store.world.characters)

    def _open_file(self, path: Path, reactor: Any, lock_wait: float) -> None:
        sqlite = self.direct.sqlite
        # The keeper makes them, after it has checked that the file is still the one that was
        # opened.
        sqlite.leave_checkpoints()
        seen = Store.open_for_reading(path)
        self._seen, self._written = [seen], [self.direct]
        self.commits = sqlite.watch_commits()
        self._writer = StoreWorker(
            reactor, self.direct.transaction, name="emu-store-write", most_grouped=MOST_GROUPED,
            patience=lock_wait, prepare=partial(sqlite.wait_for_locks, LOCK_TRY),
        )  # fmt: skip
        # A file has one writer at a time.
        self._deferring = self._writer
        self._readers = [
            StoreWorker(
                reactor, seen.reading, name="emu-store-read", patience=lock_wait,
                prepare=partial(seen.sqlite.wait_for_locks, LOCK_TRY),
            )
        ]  # fmt: skip

    def _open_server(
        self, where: ServerUrl, reactor: Any, scheduler: Scheduler, lock_wait: float, threads: int
    ) -> None:
        self._seen = [Store.open_for_reading(where) for _ in range(threads)]
        self.reach = reach = Reach(where, scheduler)
        self._written = [self.direct, Store.open(where.named("emu-later"))]
        self._writer, self._deferring = [
            StoreWorker(
                reactor, store.transaction, name=name, most_grouped=MOST_GROUPED_SERVER,
                patience=lock_wait, reach=reach, interrupt=store.database.interrupt,
            )
            for store, name in zip(
                self._written, ("emu-store-write", "emu-store-later"), strict=True
            )
        ]  # fmt: skip
        # Without groups: a snapshot for several reads would cost two more round trips.
        self._readers = [
            StoreWorker(
                reactor, None, name=f"emu-store-read-{number}", patience=lock_wait,
                most_grouped=MOST_READ_TOGETHER, reach=reach, interrupt=seen.database.interrupt,
            )
            for number, seen in enumerate(self._seen, 1)
        ]  # fmt: skip
        reach.watch(self._workers, self._seen[0].database.ping)

    @property
    def _stores(self) -> Sequence[Store]:
        return [*self._seen, *self._written]

    @property
    def _workers(self) -> Sequence[StoreWorker]:
        """The threads, in the order in which they are to end: those that write come last."""
        return [*dict.fromkeys((*self._readers, self._deferring, self._writer))]

    def _least_busy(self) -> int:
        """Return the index of the reading thread with the fewest calls."""
        waiting = [worker.waiting for worker in self._readers]
        return waiting.index(min(waiting))

    def _epoch(self) -> int:
        """Return a number that changes when another program has changed the database.

        If that cannot be detected, or the file was lost, the number changes with each call, so
        that no row is served from the cache.
        """
        if self.commits is not None and not self.direct.database.lost:
            return self.commits.epoch()
        self._questions += 1
        return self._questions

    def _ban_epoch(self, scheduler: Scheduler) -> int:
        """Return a number that changes when bans may be others; on a server, after `BAN_SECONDS`.

        Each login needs all bans, so they are not read again for each.
        """
        return self._epoch() if self.reach is None else int(scheduler.now() / BAN_SECONDS)

    def _warn(self, line: str) -> None:
        """Log a warning about an unusable value once. Any thread may call this."""
        if line not in self._warned and len(self._warned) < MOST_WARNINGS:
            self._warned.add(line)
            _log.warn("{line}; emu doctor --repair stores what is used", line=line)

    @property
    def is_away(self) -> bool:
        """The server of the database does not answer."""
        return self.reach is not None and self.reach.problem is not None

    @property
    def waiting(self) -> int:
        """Calls to the threads without an answer."""
        return sum(worker.waiting for worker in self._workers)

    @property
    def deferred(self) -> int:
        """Deferred writes that are not stored yet."""
        return self._behind.waiting

    def with_store(self, work: Callable[[Store], T]) -> Awaitable[T]:
        """Carry out a call with the writing store, in its thread."""
        return self._writer.run(partial(work, self.direct))

    def lose(self, problem: str) -> None:
        """Refuse every call from now on, with this line. Any thread may call this."""
        for store in self._stores:
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
        for worker in self._workers:
            await worker.stop()
        if self.reach is not None:
            self.reach.close()
        # After the threads have ended: a connection must not be closed while a thread uses it.
        for store in self._stores:
            store.close()
        if is_last:
            self.close_watch()

    def close_watch(self) -> None:
        """Close the commit watch, after all connections of this process to the database."""
        commits, self.commits = self.commits, None
        if commits is not None:
            commits.close()
