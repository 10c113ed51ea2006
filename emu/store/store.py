"""What is stored, by whom it is for: the login server's, the world's, and both in one file.

`LoginStore` and `WorldStore` are given a database each; it may be the same one. A server with both
in one process keeps both in one file, so that the list of characters and the world's own can be
brought in line; a world elsewhere has its own. Every method of a repository is a transaction of its
own, or a part of the one that is open, and raises `StoreError` when the database fails.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from emu.database import LOCK_WAIT, Database
from emu.store.bans import Bans
from emu.store.login.accounts import Accounts
from emu.store.login.characters import Characters
from emu.store.login.models import Models
from emu.store.login.reports import Reports
from emu.store.login.settings import Settings
from emu.store.login.worlds import Worlds
from emu.store.roster import Roster
from emu.store.schema import schema
from emu.store.world.belongings import Belongings
from emu.store.world.characters import WorldCharacters


class LoginStore:
    """What the login server keeps."""

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """A deleted character stays, and its number is taken, for `keep_deleted` seconds."""
        self.accounts = Accounts(database)
        self.bans = Bans(database)
        self.worlds = Worlds(database)
        self.characters = Characters(database, keep_deleted)
        self.reports = Reports(database)
        self.models = Models(database)
        self.settings = Settings(database)


class WorldStore:
    """What the built-in world keeps."""

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """A deleted character stays, and its name is taken, for `keep_deleted` seconds."""
        self.characters = WorldCharacters(database, keep_deleted)
        self.belongings = Belongings(database)
        self.models = Models(database)


class Store:
    """A database file with both, and what concerns both. It belongs to one thread at a time."""

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """Take an open database; `open`, `look` and `create` are how to get one."""
        self.database = database
        self.login = LoginStore(database, keep_deleted)
        self.world = WorldStore(database, keep_deleted)
        self.roster = Roster(database)
        self.transaction = database.transaction
        self.reading = database.reading

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self.database.path

    @classmethod
    def open(cls, path: Path, *, wait: float = LOCK_WAIT) -> Self:
        """Open an existing database; `wait` is how many seconds to wait for a lock."""
        return cls(Database.open(path, schema(), wait=wait))

    @classmethod
    def look(cls, path: Path, *, wait: float = LOCK_WAIT) -> Self:
        """Open an existing database to read it; no other program's write is in the way."""
        return cls(Database.look(path, schema(), wait=wait))

    @classmethod
    def create(cls, path: Path, *, keep_deleted: float = math.inf) -> Self:
        """Open a database, and make it first when it is not there."""
        return cls(Database.create(path, schema()), keep_deleted)

    @contextmanager
    def copy(self) -> Iterator[Store]:
        """Open a copy of the database to try things on; afterwards it is thrown away."""
        with self.database.copy() as copied:
            yield Store(copied)

    def close(self) -> None:
        """Close the database; every answered change is in it."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
