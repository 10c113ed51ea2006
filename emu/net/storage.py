"""The database in use: a connection that writes, one that reads, and the services' ports over both.

Each has a thread of its own. A write may have to wait for another program's, for seconds even; a
read never does, and so a player who comes back gets in meanwhile.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from emu.net.workers import StoreWorker
from emu.store import Calls, Store
from emu.store.front import AsyncStore, AsyncWorldCharacters
from emu.times import Clock


class Storage:
    """Opens the database for as long as the server runs.

    `store` implements the account, character, world and log ports; `world_characters` that of the
    built-in world. What a write has answered every later read sees. Raises `StoreError` when the
    database cannot be opened.
    """

    def __init__(
        self, path: Path, reactor: Any, clock: Clock, *, keep_deleted: float = math.inf
    ) -> None:
        """Open or make the database; a deleted character is kept for `keep_deleted` seconds."""
        self._written = Store.create(path)
        self._written.keep_deleted = keep_deleted
        self._seen = Store.look(path)
        self._writer = StoreWorker(reactor, self._written.transaction, name="emu-store-write")
        self._reader = StoreWorker(reactor, self._seen.reading, name="emu-store-read")
        read = Calls(self._seen, self._reader.run)
        write = Calls(self._written, self._writer.run)
        self.store = AsyncStore(read, write, clock)
        self.world_characters = AsyncWorldCharacters(read, write)

    @property
    def direct(self) -> Store:
        """The store that writes; only before the first call of the ports, or after `close`."""
        return self._written

    async def close(self) -> None:
        """Carry out what waits, then close the file."""
        await self._reader.stop()
        await self._writer.stop()
        self._seen.close()
        self._written.close()
