"""Everything stored, by who uses it: the login server, the world, and the operator's roster.

A character of the built-in world has two rows in one database, one in the list and one of the
world's; both change together here. One of another world has a row in the list only, and one whose
login server is elsewhere has only the world's.

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
from typing import Any, Self

from emu.database import LOCK_WAIT, Database
from emu.errors import DuplicateName
from emu.model import BUILT_IN_ACCOUNT, RosterEntry
from emu.store.accounts import AccountRepository, Bans, Settings
from emu.store.characters import CharacterRepository
from emu.store.repository import Repository, changes, name_key, reads, schema
from emu.store.world_characters import Belongings, WorldCharacters
from emu.store.worlds import ModelNumbers, ReportRepository, WorldRepository

_SAME = (
    "worlds.account = :built_in AND listed.char_id = own.id AND listed.account_id = own.account_id"
)

_LISTED = f"""
    SELECT listed.id, own.id AS own_id, listed.char_id, listed.name, listed.account_id,
        accounts.name AS account, worlds.name AS world, worlds.account = :built_in AS is_built_in,
        listed.level, listed.race, listed.class AS class_, listed.gender, listed.zone_id,
        listed.client_version, listed.created, listed.last_played, listed.deleted,
        listed.deleted_at
    FROM characters AS listed
    JOIN accounts ON accounts.id = listed.account_id
    JOIN worlds ON worlds.id = listed.world_id
    LEFT JOIN world_characters AS own ON {_SAME}
"""  # noqa: S608
_UNLISTED = f"""
    SELECT NULL, own.id, own.id, own.name, own.account_id, coalesce(accounts.name, ''), '', 1,
        own.level, own.race, own.class, own.gender, own.zone_id, own.client_version, own.created,
        own.last_played, own.deleted, own.deleted_at
    FROM world_characters AS own
    LEFT JOIN accounts ON accounts.id = own.account_id
    WHERE NOT EXISTS (
        SELECT 1 FROM characters AS listed JOIN worlds ON worlds.id = listed.world_id WHERE {_SAME}
    )
"""  # noqa: S608


class Roster(Repository):
    """All characters; what changes in both rows changes together."""

    @reads
    def every(self) -> list[RosterEntry]:
        """Return all characters by name, deleted ones too."""
        rows = self._run(
            f"SELECT * FROM ({_LISTED} UNION ALL {_UNLISTED})"  # noqa: S608
            " ORDER BY name COLLATE NOCASE, id, own_id",
            {"built_in": BUILT_IN_ACCOUNT},
        )
        return [_entry(dict(row)) for row in rows]

    @changes
    def rename(self, entry: RosterEntry, name: str) -> None:
        """Give a character another name. Raises `DuplicateName` when its world has that already."""
        if entry.own_id is not None:
            key = name_key(name)
            other = self._run(
                "SELECT 1 FROM world_characters WHERE name_key = ? AND id <> ?", (key, entry.own_id)
            )
            if other.fetchone() is not None:
                raise DuplicateName(f"there is already a character {name!r}")
            self._set("world_characters", entry.own_id, name=name, name_key=key)
        self._set("characters", entry.id, name=name)

    @changes
    def delete(self, entry: RosterEntry) -> None:
        """Mark a character deleted."""
        self._mark(entry, deleted=True)

    @changes
    def restore(self, entry: RosterEntry) -> None:
        """Undo a deletion. Raises `DuplicateName` when its world gave its number to another one."""
        other = self._run(
            "SELECT other.name FROM characters AS other JOIN characters AS listed"
            " ON other.world_id = listed.world_id AND other.char_id = listed.char_id"
            " WHERE listed.id = ? AND NOT other.deleted",
            (entry.id,),
        ).fetchone()
        if other is not None:
            raise DuplicateName(f"number {entry.char_id} of its world is {other['name']!r} by now")
        self._mark(entry, deleted=False)

    @changes
    def forget(self, entry: RosterEntry) -> None:
        """Remove a character for good, so that its name is free."""
        self._run("DELETE FROM characters WHERE id = ?", (entry.id,))
        self._run("DELETE FROM world_characters WHERE id = ?", (entry.own_id,))

    @reads
    def unlisted(self, world_id: int) -> list[int]:
        """Return the built-in world's characters that the list of `world_id` never had a row for.

        Those of accounts that are not here belong to another login server's list.
        """
        rows = self._run(
            "SELECT id FROM world_characters AS own WHERE NOT deleted"
            " AND EXISTS (SELECT 1 FROM accounts WHERE accounts.id = own.account_id)"
            " AND NOT EXISTS (SELECT 1 FROM characters"
            " WHERE world_id = ? AND char_id = own.id AND characters.account_id = own.account_id)"
            " ORDER BY id",
            (world_id,),
        )
        return [row["id"] for row in rows]

    @reads
    def disowned(self, world_id: int) -> list[tuple[int, int]]:
        """Return (account id, id) of those whose rows in the list of `world_id` are deleted."""
        rows = self._run(
            "SELECT account_id, id FROM world_characters AS own WHERE NOT deleted"
            " AND 1 = (SELECT min(characters.deleted) FROM characters"
            " WHERE world_id = ? AND char_id = own.id AND characters.account_id = own.account_id)"
            " ORDER BY id",
            (world_id,),
        )
        return [(account_id, char_id) for account_id, char_id in rows]

    def _mark(self, entry: RosterEntry, *, deleted: bool) -> None:
        self._set("characters", entry.id, deleted=deleted)
        self._set("world_characters", entry.own_id, deleted=deleted)


def _entry(values: dict[str, Any]) -> RosterEntry:
    flags = {name: bool(values[name]) for name in ("is_built_in", "deleted")}
    return RosterEntry(**{**values, **flags})


class LoginStore:
    """What the login server keeps."""

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """A deleted character stays, and its number is taken, for `keep_deleted` seconds."""
        self.accounts = AccountRepository(database)
        self.bans = Bans(database)
        self.worlds = WorldRepository(database)
        self.characters = CharacterRepository(database, keep_deleted)
        self.reports = ReportRepository(database)
        self.models = ModelNumbers(database)
        self.settings = Settings(database)


class WorldStore:
    """What the built-in world keeps."""

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """A deleted character stays, and its name is taken, for `keep_deleted` seconds."""
        self.characters = WorldCharacters(database, keep_deleted)
        self.belongings = Belongings(database)
        self.models = ModelNumbers(database)


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
