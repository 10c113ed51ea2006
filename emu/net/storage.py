"""The database in use: a connection that writes, one that reads, and the services' ports over both.

Each has a thread of its own. A write may have to wait for another program's, for seconds even; a
read never does, and so a player who comes back gets in meanwhile.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from emu.net.workers import StoreWorker
from emu.store import Store
from emu.store.front import (
    AccountFront,
    BanFront,
    CharacterFront,
    ModelFront,
    ReportFront,
    Way,
    WorldCharacterFront,
    WorldFront,
)
from emu.times import Clock


class Storage:
    """Opens the database for as long as the server runs.

    Its attributes implement the ports that are named after them. What a write has answered every
    later read sees. Raises `StoreError` when the database cannot be opened.
    """

    def __init__(
        self, path: Path, reactor: Any, clock: Clock, *, keep_deleted: float = math.inf
    ) -> None:
        """Open or make the database; a deleted character is kept for `keep_deleted` seconds."""
        self._written = Store.create(path, keep_deleted=keep_deleted)
        self._seen = Store.look(path)
        self._writer = StoreWorker(reactor, self._written.transaction, name="emu-store-write")
        self._reader = StoreWorker(reactor, self._seen.reading, name="emu-store-read")
        ways = Way(self._seen, self._reader.run), Way(self._written, self._writer.run)
        self.accounts = AccountFront(*ways, lambda store: store.login.accounts)
        self.bans = BanFront(*ways, clock)
        self.worlds = WorldFront(*ways, lambda store: store.login.worlds)
        self.characters = CharacterFront(*ways, lambda store: store.login.characters)
        self.reports = ReportFront(*ways, lambda store: store.login.reports)
        self.models = ModelFront(*ways, lambda store: store.login.models)
        self.world_characters = WorldCharacterFront(*ways, lambda store: store.world.characters)

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
