"""Repositories of mail, petitions and the ledger for a world in memory, in a database of its own.

One database serves all worlds of a process, one after the other: a world empties it when it first
uses it. Its characters are those of the world's store in memory: coins are the same in both.
"""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from emu.errors import StoreError
from emu.model import WorldCharacter
from emu.store import Store
from emu.store.repository import name_key
from tests.support.world.world_fakes import CharactersInMemory

_numbers = count(1_000_000, 1000)
NOTHING: dict[str, Callable[[], Any]] = {
    "waiting": lambda: 0, "unseen": list, "of": dict, "reserve": lambda: next(_numbers),
}  # fmt: skip
"""What entering the world asks for, and the answer of an empty database."""


TABLES = (
    "world_house_things", "world_house_access", "world_house_deposits", "world_house_history",
    "world_houses",
    "world_ledger", "world_mail", "world_petitions", "world_characters", "world_things",
    "world_banks", "world_thing_sums", "sqlite_sequence",
)  # fmt: skip
SAME = {"move_surely": "move", "move_later": "move", "send_surely": "send"}
"""Calls of a port that differ from one of the repository in their patience only."""


@cache
def database() -> Store:
    """Return the database of this process."""
    folder = Path(mkdtemp())
    store = Store.create(folder / "emu.sqlite")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(store.close)
    return store


class StoredBeside:
    """The database beside a store of characters in memory."""

    def __init__(self, characters: CharactersInMemory) -> None:
        self._characters = characters
        self.is_used = False
        self._written: dict[int, WorldCharacter] = {}
        """The characters as they were written last, by their numbers."""
        self.ledger: Any = _Port(self, lambda store: store.world.ledger)
        self.things: Any = _Port(self, lambda store: store.world.things)
        self.mail: Any = _Port(self, lambda store: store.world.mail)
        self.houses: Any = _Port(self, lambda store: store.world.houses)
        self.petitions: Any = _Port(self, lambda store: store.world.petitions)

    @property
    def store(self) -> Store:
        store = database()
        if not self.is_used:
            self.is_used = True
            self._written.clear()
            for table in TABLES:
                store.database.connection.execute(f"DELETE FROM {table}")
        return store

    def run(self, call: Callable[[], Any]) -> Any:
        """Carry out a call with the characters in memory; their coins are then those stored."""
        if self._characters.broken:
            raise StoreError("the disk is full")
        run = self.store.database.connection.execute
        for row in self._characters.rows.values():
            if self._written.get(row.id) is row:
                continue
            self._written[row.id] = row
            values = (
                row.id, row.account_id, row.name, name_key(row.name), row.coins,
                row.ledger_revision, row.deleted, row.term,
            )  # fmt: skip
            run(
                "INSERT INTO world_characters (id, account_id, name, name_key, coins,"
                " ledger_revision, deleted, term, race, class, gender, deity, level, starting_zone,"
                " zone_id, client_version, created)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 1, 1, 1, 546, 0.0)"
                " ON CONFLICT (id) DO UPDATE SET coins = excluded.coins,"
                " ledger_revision = excluded.ledger_revision, deleted = excluded.deleted,"
                " term = excluded.term",
                values,
            )
        try:
            return call()
        except BaseException:
            self._written.clear()  # it may have been undone with the call
            raise
        finally:
            sql = "SELECT id, coins, ledger_revision FROM world_characters"
            for char_id, coins, revision in run(sql).fetchall():
                known = self._characters.rows.get(char_id)
                if known is not None and (known.coins, known.ledger_revision) != (coins, revision):
                    known = replace(known, coins=coins, ledger_revision=revision)
                    self._characters.rows[char_id] = self._written[char_id] = known


class _Port:
    """A repository with awaitable methods."""

    def __init__(self, beside: StoredBeside, repository: Callable[[Store], Any]) -> None:
        self._beside = beside
        self._repository = repository

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        async def call(*values: Any, **named: Any) -> Any:
            beside = self._beside
            if not beside.is_used and name in NOTHING:
                return NOTHING[name]()
            method = getattr(self._repository(beside.store), SAME.get(name, name))
            return beside.run(lambda: method(*values, **named))

        return call
