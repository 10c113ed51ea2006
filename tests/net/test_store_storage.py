import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.defer import Deferred, DeferredList
from twisted.internet.task import deferLater

from emu.errors import OutOfDate, StoreError
from emu.limits.addresses import BanList
from emu.net.scheduler import Scheduler
from emu.net.store import DELAY, Storage
from emu.store import BannedAddress, Store
from emu.times import Moment
from tests.support.database.engines import store_database
from tests.support.database.stores import saved_state, world_character


async def test_what_was_answered_is_there_after_closing(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    storage = Storage(path, reactor, Scheduler(reactor))
    account = await storage.accounts.add_account("bob", "hash", 1.0)
    await storage.close()
    again = Storage(path, reactor, Scheduler(reactor))
    found = await again.accounts.find_account("BOB")
    await again.close()
    assert found is not None
    assert found.id == account.id


async def test_after_closing_every_call_fails_plainly(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "emu.sqlite", reactor, Scheduler(reactor))
    await storage.close()
    try:
        await storage.accounts.find_account("bob")
    except StoreError:
        return
    raise AssertionError("a closed store answered")


@pytest.mark.slow
async def test_reads_go_on_while_another_program_holds_the_write_lock(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    scheduler = Scheduler(reactor)
    storage = Storage(path, reactor, scheduler)
    account = await storage.accounts.add_account("bob", "hash", 1.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE accounts SET last_login = 7")
        writing = Deferred.fromCoroutine(
            storage.accounts.record_login(account.id, "192.0.2.1", 546, 9.0)
        )
        found = await storage.accounts.find_account("bob")
        assert found is not None
        assert found.last_login is None
        assert await storage.characters.characters_of(found.id) == []
        assert not await storage.bans.is_address_banned("192.0.2.1", 1.0)
        await scheduler.pause(2 * DELAY)
        assert not writing.called
        other.execute("ROLLBACK")
    await writing
    found = await storage.accounts.find_account("bob")
    assert found is not None
    assert found.last_login == 9.0
    await storage.close()


async def test_the_moments_of_many_logins_share_a_transaction(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    storage = Storage(path, reactor, Scheduler(reactor))
    accounts = [await storage.accounts.add_account(f"p{n}", "hash", 1.0) for n in range(20)]
    begun: list[str] = []
    storage.direct.sqlite.connection.set_trace_callback(begun.append)
    await DeferredList(
        Deferred.fromCoroutine(storage.accounts.record_login(one.id, "::1", 546, 9.0))
        for one in accounts
    )
    storage.direct.sqlite.connection.set_trace_callback(None)
    assert begun.count("COMMIT") <= 2, "the first may have been taken alone"
    assert begun.count("BEGIN IMMEDIATE") <= 2
    await storage.close()
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT DISTINCT last_login FROM accounts").fetchall() == [(9.0,)]


async def test_what_is_put_off_is_stored_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    storage = Storage(path, reactor, Scheduler(reactor))
    account = await storage.accounts.add_account("bob", "hash", 1.0)
    login = Deferred.fromCoroutine(storage.accounts.record_login(account.id, "::1", 546, 9.0))
    await storage.close()
    await login
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT last_login FROM accounts").fetchall() == [(9.0,)]


async def test_a_change_by_another_program_is_seen_by_the_next_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emu.net.store.DELAY", 0.001)  # twenty logins in a row would wait for it
    path = tmp_path / "emu.sqlite"
    storage = Storage(path, reactor, Scheduler(reactor))
    account = await storage.accounts.add_account("bob", "hash", 1.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        for number in range(20):
            other.execute("UPDATE accounts SET password = ?", (str(number),))
            found = await storage.accounts.find_account("bob")
            assert found is not None
            assert found.password == str(number)
            await storage.accounts.record_login(account.id, f"192.0.2.{number}", 546, 9.0)
            found = await storage.accounts.find_account("bob")
            assert found is not None
            assert (found.password, found.last_address) == (str(number), f"192.0.2.{number}")
        assert not await storage.bans.is_address_banned("192.0.2.9", 1.0)
        other.execute(
            "INSERT INTO banned_addresses (prefix, reason, added) VALUES ('192.0.2', '', 0)"
        )
        assert await storage.bans.is_address_banned("192.0.2.9", 1.0)
    await storage.close()


async def test_the_bans_are_read_once_for_all_who_are_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(tmp_path / "emu.sqlite", reactor, Scheduler(reactor))
    accounts = [await storage.accounts.add_account(name, "hash", 1.0) for name in ("a", "b", "c")]
    reads = 0

    async def every() -> list[BannedAddress]:
        nonlocal reads
        reads += 1
        return [BannedAddress("192.0.2.1")]

    monkeypatch.setattr(storage.bans, "every", every)
    hosts = ("192.0.2.1", "192.0.2.2", "192.0.2.1")
    clients = [(account.id, host) for account, host in zip(accounts, hosts, strict=True)]
    assert await storage.login_gate.kept_out(clients) == [accounts[0].id, accounts[2].id]
    assert reads == 1
    await storage.close()


async def test_a_slow_disk_does_not_block_the_reactor(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "emu.sqlite", reactor, Scheduler(reactor))
    for number in range(5):
        await storage.accounts.add_account(f"p{number}", "hash", 1.0)
    threads = set()

    def slow() -> int:
        threads.add(threading.current_thread())
        time.sleep(0.0002)  # at each of 800 steps of SQLite
        return 0

    storage._seen[0].sqlite.connection.set_progress_handler(slow, 1)
    storage.direct.sqlite.connection.set_progress_handler(slow, 1)
    asked: list[Any] = []
    for number in range(5):
        asked += [
            storage.accounts.find_account(f"p{number}"),
            storage.characters.characters_of(number),
            storage.world_characters.of_account(number),
            storage.world_characters.find(number),
            storage.world_characters.rank_of(number),
            storage.bans.is_address_banned("192.0.2.9", 1.0),
            storage.roster.every(),
        ]
    await DeferredList([Deferred.fromCoroutine(one) for one in asked])
    assert threads
    assert threading.main_thread() not in threads
    await storage.close()


async def test_deferred_writes_of_one_kind_share_a_statement(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "emu.sqlite", reactor, Scheduler(reactor))
    made = [storage.direct.world.characters.create(world_character(name=name)) for name in "AB"]
    for name in "ab":
        storage.direct.login.accounts.add(name, "hash", 1.0)
    storage.direct.world.characters.claim(1, made[1].id, "other")
    statements: list[str] = []
    storage.direct.sqlite.connection.set_trace_callback(statements.append)
    calls: list[Any] = []
    for number, row in enumerate(made, 1):
        calls += [
            storage.accounts.record_login(number, "::1", 546, Moment(5.0)),
            storage.world_characters.save_character(row.id, saved_state(row, zone_id=33)),
        ]
    done = await DeferredList([Deferred.fromCoroutine(one) for one in calls], consumeErrors=True)
    assert [is_stored for is_stored, _ in done] == [True, True, True, False]
    failure: Any = done[3][1]
    assert failure.type is OutOfDate
    assert sum(one.startswith("SAVEPOINT") for one in statements) == 2, statements
    assert sum(one == "COMMIT" for one in statements) == 1
    await storage.close()


async def test_a_row_that_cannot_be_stored_fails_alone(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "emu.sqlite", reactor, Scheduler(reactor))
    for name in "ab":
        storage.direct.login.accounts.add(name, "hash", 1.0)
    wrong: Any = None  # no address
    calls = [
        storage.accounts.record_login(1, "::1", 546, Moment(5.0)),
        storage.accounts.record_login(2, wrong, 546, Moment(5.0)),
    ]
    done = await DeferredList([Deferred.fromCoroutine(one) for one in calls], consumeErrors=True)
    assert [is_stored for is_stored, _ in done] == [True, False]
    failure: Any = done[1][1]
    assert failure.type is StoreError
    found = await storage.accounts.find_account("a")
    assert found is not None
    assert found.last_address == "::1"
    await storage.close()


@pytest.mark.slow
async def test_bans_on_a_server_are_read_and_parsed_once_for_many_logins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[int] = []

    def parse(bans: Any) -> BanList:
        rows = list(bans)
        parsed.append(len(rows))
        return BanList(rows)

    monkeypatch.setattr("emu.store.asynchronous.BanList", parse)
    monkeypatch.setattr("emu.net.store.BAN_SECONDS", 0.2)
    with store_database() as where, Store.open(where) as other:
        storage = Storage(where, reactor, Scheduler(reactor))
        parsed.clear()
        try:
            other.login.bans.add(BannedAddress("192.0.2.1"))
            assert await storage.bans.is_address_banned("192.0.2.1", 1.0)
            for _ in range(20):
                assert not await storage.bans.is_address_banned("192.0.2.9", 1.0)
            await deferLater(reactor, 0.25)
            assert await storage.bans.is_address_banned("192.0.2.1", 1.0)
            assert parsed == [1], "the same rows are not parsed again"
            other.login.bans.add(BannedAddress("192.0.2.9"))
            await deferLater(reactor, 0.25)
            assert await storage.bans.is_address_banned("192.0.2.9", 1.0)
            assert parsed == [1, 2]
        finally:
            await storage.close()
