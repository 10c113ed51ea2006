import sqlite3
from contextlib import closing
from pathlib import Path

from twisted.internet import reactor
from twisted.internet.defer import Deferred

from emu.errors import StoreError
from emu.net.scheduler import Scheduler
from emu.net.storage import Storage


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


async def test_reads_go_on_while_another_program_holds_the_write_lock(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    storage = Storage(path, reactor, Scheduler(reactor))
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
        assert not writing.called
        other.execute("ROLLBACK")
    await writing
    found = await storage.accounts.find_account("bob")
    assert found is not None
    assert found.last_login == 9.0
    await storage.close()
