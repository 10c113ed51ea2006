from pathlib import Path

from twisted.internet import reactor

from emu.errors import StoreError
from emu.net.storage import Storage


async def test_what_was_answered_is_there_after_closing(tmp_path: Path) -> None:
    path = tmp_path / "emu.sqlite"
    storage = Storage(path, reactor)
    account = await storage.store.add_account("bob", "hash", 1.0)
    await storage.close()
    again = Storage(path, reactor)
    found = await again.store.find_account("BOB")
    await again.close()
    assert found is not None
    assert found.id == account.id


async def test_after_closing_every_call_fails_plainly(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "emu.sqlite", reactor)
    await storage.close()
    try:
        await storage.store.find_account("bob")
    except StoreError:
        return
    raise AssertionError("a closed store answered")
