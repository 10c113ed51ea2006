"""A database that is away: calls fail at once, deferred writes wait, and all goes on by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from emu.database import ServerUrl
from emu.errors import StoreAway
from emu.net.scheduler import Scheduler
from emu.net.store import Storage
from emu.net.store_reach import CHECK, PROBE, Reach
from tests.support.database.engines import connect, run, store_database
from tests.support.database.relay import Relay
from tests.support.patience import within

pytestmark = pytest.mark.slow


class Worker:
    """A thread whose calls the test ends."""

    waiting = 0

    def __init__(self) -> None:
        self.is_late = False
        self.interrupts = 0
        self.probes: list[Deferred[Any]] = []

    def is_overdue(self, _seconds: float) -> bool:
        return self.is_late

    def interrupt(self) -> None:
        self.interrupts += 1

    def probe(self, _call: Callable[[], object]) -> Deferred[Any]:
        self.probes.append(Deferred())
        return self.probes[-1]


def test_a_call_that_is_late_ends_and_probes_begin() -> None:
    clock = Clock()
    reach, first, second = Reach("the database", Scheduler(clock)), Worker(), Worker()
    reach.watch([first, second], lambda: None)  # type: ignore[list-item]
    second.waiting = 1
    reach.asked()
    clock.advance(CHECK)
    assert reach.problem is None
    second.is_late = True
    clock.advance(CHECK)
    assert str(reach.problem) == "the database: the database does not answer: a call took 5 seconds"
    assert (first.interrupts, second.interrupts, len(first.probes)) == (0, 1, 1)
    second.is_late, second.waiting = False, 0
    first.probes[0].errback(StoreAway("no"))
    assert (first.interrupts, second.interrupts) == (1, 2), "no old connection is used again"
    clock.advance(PROBE)
    assert reach.problem is not None
    first.probes[1].callback(None)
    assert reach.problem is None
    assert reach.times_away == 1
    clock.advance(10 * PROBE)
    assert len(first.probes) == 2
    assert not clock.getDelayedCalls()


def test_calls_go_on_while_a_probe_asks_whether_one_connection_was_lost() -> None:
    """Found by the simulation: who asked again for a movement was always refused at once."""
    clock = Clock()
    reach, first, second = Reach("the database", Scheduler(clock)), Worker(), Worker()
    reach.watch([first, second], lambda: None)  # type: ignore[list-item]
    for text in ("the connection was lost", "and another one"):
        reach.lost(StoreAway(text))
    assert (reach.problem, len(first.probes)) == (None, 1)
    first.probes[0].callback(None)
    assert (reach.problem, reach.times_away, first.interrupts) == (None, 0, 0)
    reach.lost(StoreAway("lost again"))
    first.probes[1].errback(StoreAway("nothing listens"))
    assert str(reach.problem) == "lost again"
    assert (reach.times_away, first.interrupts, second.interrupts) == (1, 1, 1)
    clock.advance(PROBE)
    first.probes[2].callback(None)
    assert reach.problem is None
    assert not clock.getDelayedCalls()


def test_a_late_call_is_no_question_to_the_probe_that_runs() -> None:
    clock = Clock()
    reach, first = Reach("the database", Scheduler(clock)), Worker()
    reach.watch([first], lambda: None)  # type: ignore[list-item]
    reach.lost(StoreAway("the connection was lost"))
    reach.asked()
    first.is_late = True
    clock.advance(CHECK)
    assert reach.problem is not None
    assert (first.interrupts, len(first.probes)) == (1, 1)


@contextmanager
def relayed() -> Iterator[tuple[Relay, ServerUrl]]:
    with store_database() as where, Relay(where.host, int(where.port or 5432)) as relay:
        yield relay, replace(where, port=str(relay.port))


async def is_back(storage: Storage, scheduler: Scheduler) -> None:
    assert storage.reach is not None
    while storage.reach.problem is not None:
        await scheduler.pause(0.05)


async def test_a_reset_connection_is_not_noticed_by_players() -> None:
    scheduler = Scheduler(reactor)
    with relayed() as (relay, where):
        storage = Storage(where, reactor, scheduler)
        account = await storage.accounts.add_account("bob", "hash", 1.0)
        relay.reset()
        assert await storage.accounts.find_account("bob") == account
        await storage.accounts.record_login(account.id, "::1", 546, 2.0)
        found = await storage.accounts.find_account("bob")
        assert found is not None
        assert found.last_login == 2.0
        await storage.close()


async def test_a_server_that_falls_silent_is_away_and_comes_back() -> None:
    scheduler = Scheduler(reactor)
    with relayed() as (relay, where):
        storage = Storage(where, reactor, scheduler)
        assert storage.reach is not None
        storage.reach._deadline = 0.4
        account = await storage.accounts.add_account("bob", "hash", 1.0)
        relay.is_silent = True
        with (
            within(4.0),
            pytest.raises(StoreAway, match=r"127\.0\.0\.1.*(is away|does not answer)"),
        ):
            await storage.accounts.find_account("bob")
        assert storage.reach.problem is not None
        saving = Deferred.fromCoroutine(storage.accounts.record_login(account.id, "::1", 546, 2.0))
        with within(0.2), pytest.raises(StoreAway):
            await storage.accounts.find_account("bob")
        with within(0.2), pytest.raises(StoreAway):
            await storage.accounts.add_account("eve", "hash", 1.0)
        assert storage.deferred == 1
        relay.is_silent = False
        with within(5.0):
            await is_back(storage, scheduler)
            await saving
        found = await storage.accounts.find_account("bob")
        assert found is not None
        assert found.last_login == 2.0
        await storage.close()


async def test_a_slow_server_is_slow_and_not_away() -> None:
    scheduler = Scheduler(reactor)
    with relayed() as (relay, where):
        storage = Storage(where, reactor, scheduler)
        relay.delay = 0.1
        account = await storage.accounts.add_account("bob", "hash", 1.0)
        assert await storage.accounts.find_account("bob") == account
        assert storage.reach is not None
        assert storage.reach.times_away == 0
        await storage.close()


async def test_a_connection_that_an_administrator_ends_disturbs_one_call_at_most() -> None:
    scheduler = Scheduler(reactor)
    with store_database() as where:
        storage = Storage(where, reactor, scheduler)
        account = await storage.accounts.add_account("bob", "hash", 1.0)
        # Waits for the end of each: one that ends in the middle of a call does disturb that call.
        run(
            where,
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = 'emu' AND datname = current_database()",
        )
        assert await storage.accounts.find_account("bob") == account
        await storage.accounts.record_login(account.id, "::1", 546, 2.0)
        await storage.close()


async def test_no_awaited_write_waits_for_deferred_ones() -> None:
    scheduler = Scheduler(reactor)
    with store_database() as where, closing(connect(where)) as other:
        storage = Storage(where, reactor, scheduler)
        try:
            account = await storage.accounts.add_account("bob", "hash", 1.0)
            with other.transaction():
                other.execute("SELECT 1 FROM accounts FOR UPDATE")
                deferred = Deferred.fromCoroutine(
                    storage.accounts.record_login(account.id, "::1", 546, 2.0)
                )
                storage.flush_soon()
                await storage.accounts.add_account("eve", "hash", 1.0)
                assert not deferred.called
            await deferred
        finally:
            await storage.close()
