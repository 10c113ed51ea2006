"""The database in use: one connection in one thread, and the ports of the services over it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from emu.net.workers import StoreWorker
from emu.store import Store
from emu.store.front import AsyncStore, AsyncWorldCharacters


class Storage:
    """Opens the database for as long as the server runs.

    `store` implements the account, character, world and log ports; `world_characters` that of the
    built-in world. Raises `StoreError` when the database cannot be opened.
    """

    def __init__(self, path: Path, reactor: Any) -> None:
        self._store = Store.create(path)
        self._worker = StoreWorker(reactor, self._transaction)
        self.store = AsyncStore(self._store, self._worker.run, reactor.seconds)
        self.world_characters = AsyncWorldCharacters(self._store, self._worker.run)

    @property
    def direct(self) -> Store:
        """The store itself; only before the first call of the ports, or after `close`."""
        return self._store

    async def close(self) -> None:
        """Carry out what waits, then close the file."""
        await self._worker.stop()
        self._store.close()

    def _transaction(self) -> AbstractContextManager[object]:
        return self._store.transaction()
