"""The database in use: connections that write and read, and the services' ports over them.

One connection writes and one reads, each in a thread of its own. A write may have to wait for
another program's, for seconds even; a read never does. A third one reads in the reactor's thread
what every login needs: a few rows found by an index take less time than to ask another thread.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from emu.net.scheduler import Scheduler
from emu.net.stores.behind import Behind
from emu.net.stores.workers import StoreWorker
from emu.store import Store
from emu.store.front import (
    AccountAdministrationFront,
    AccountFront,
    BanFront,
    BelongingsFront,
    CharacterFront,
    ModelFront,
    ReportFront,
    RosterFront,
    Ways,
    WorldCharacterFront,
    WorldFront,
)

MOST_GROUPED = 512
"""Changes that share a transaction, when so many have piled up."""


class Storage:
    """Opens the database for as long as the server runs.

    Its attributes implement the ports that are named after them. What a write has answered every
    later read sees. Raises `StoreError` when the database cannot be opened.
    """

    def __init__(
        self, path: Path, reactor: Any, scheduler: Scheduler, *, keep_deleted: float = math.inf
    ) -> None:
        """Open or make the database; a deleted character is kept for `keep_deleted` seconds."""
        self.direct = Store.create(path, keep_deleted=keep_deleted)
        """The store that writes; only before the first call of the ports, or after `close`."""
        self._seen = Store.look(path)
        self._here = Store.look(path, wait=0.0)
        self._writer = StoreWorker(
            reactor, self.direct.transaction, name="emu-store-write", most_grouped=MOST_GROUPED
        )
        self._reader = StoreWorker(reactor, self._seen.reading, name="emu-store-read")
        self._behind = Behind(self._writer, scheduler)
        ways = Ways(
            here=self._here,
            reader=self._seen,
            read=self._reader.run,
            writer=self.direct,
            write=self._writer.run,
            later=self._behind.run,
        )
        self.accounts = AccountFront(ways, lambda store: store.login.accounts)
        self.account_administration = AccountAdministrationFront(
            ways, lambda store: store.login.accounts
        )
        self.roster = RosterFront(ways, lambda store: store.roster)
        self.bans = BanFront(ways, scheduler)
        self.worlds = WorldFront(ways, lambda store: store.login.worlds)
        self.characters = CharacterFront(ways, lambda store: store.login.characters)
        self.reports = ReportFront(ways, lambda store: store.login.reports)
        self.models = ModelFront(ways, lambda store: store.login.models)
        self.world_characters = WorldCharacterFront(ways, lambda store: store.world.characters)
        self.belongings = BelongingsFront(ways, lambda store: store.world.belongings)

    @property
    def waiting(self) -> int:
        """How many calls to the threads are not answered yet."""
        return self._writer.waiting + self._reader.waiting

    @property
    def put_off(self) -> int:
        """How many writes that nobody waits for are not stored yet."""
        return self._behind.waiting

    def hasten(self) -> None:
        """Put no write off any more: the server is about to stop."""
        self._behind.hasten()

    async def close(self) -> None:
        """Carry out what waits, then close the file."""
        self.hasten()
        await self._reader.stop()
        await self._writer.stop()
        self._here.close()
        self._seen.close()
        self.direct.close()
