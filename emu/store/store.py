"""The whole store, by user: the login server, the world, and the operator's list of characters.

A character of the built-in world has two rows in one database: one in the login server's list and
one in the world's table. Both change together here. A character of another world has only the row
in the list. A character whose login server is elsewhere has only the world's row.

`LoginStore` and `WorldStore` may share a database. A server with both services keeps them in one
file, so that both rows can be reconciled; a world on its own has its own file. Each method of a
repository is a transaction, or a savepoint in the open one, and raises `StoreError`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from emu.database import Database, Where
from emu.database.engines import create_database, open_database, open_for_reading
from emu.database.sqlite import LOCK_WAIT, SqliteDatabase
from emu.errors import DuplicateName
from emu.model import BUILT_IN_ACCOUNT, RosterEntry
from emu.store.accounts import AccountRepository, Bans, Settings, read_end
from emu.store.audit import AuditTrail
from emu.store.characters import CharacterRepository
from emu.store.content_edits import ContentEdits
from emu.store.guilds import GuildRepository
from emu.store.handoffs import HandoffRepository
from emu.store.houses import HouseRepository
from emu.store.ledger import LedgerRepository, Movements
from emu.store.mail import Mailboxes
from emu.store.memories import SpawnMemories
from emu.store.nodes import NodeTable
from emu.store.notes import OperatorNotes
from emu.store.petitions import PetitionRepository
from emu.store.placement_facts import PlacementFacts
from emu.store.repository import Repository, changes, name_key, reads, schemas
from emu.store.things import Things
from emu.store.world_characters import Belongings, WorldCharacters
from emu.store.worlds import ModelNumbers, ReportRepository, WorldRepository

# Account id, too: a reset world may have given the number to another account.
_SAME = (
    "worlds.account = :built_in AND listed.char_id = own.id AND listed.account_id = own.account_id"
)

_LISTED = f"""
    SELECT listed.id, own.id AS own_id, listed.char_id, listed.name, listed.account_id,
        accounts.name AS account, worlds.name AS world, worlds.account = :built_in AS is_built_in,
        listed.level, listed.race, listed.class AS class_, listed.gender, listed.zone_id,
        listed.client_version, listed.created, listed.last_played, listed.deleted,
        listed.deleted_at, own.admin_status AS rank, accounts.banned_until,
        coalesce(own.holder, '') AS holder
    FROM characters AS listed
    JOIN accounts ON accounts.id = listed.account_id
    JOIN worlds ON worlds.id = listed.world_id
    LEFT JOIN world_characters AS own ON {_SAME}
"""  # noqa: S608
_UNLISTED = f"""
    SELECT NULL, own.id, own.id, own.name, own.account_id, coalesce(accounts.name, ''), '', TRUE,
        own.level, own.race, own.class, own.gender, own.zone_id, own.client_version, own.created,
        own.last_played, own.deleted, own.deleted_at, own.admin_status, accounts.banned_until,
        own.holder
    FROM world_characters AS own
    LEFT JOIN accounts ON accounts.id = own.account_id
    WHERE NOT EXISTS (
        SELECT 1 FROM characters AS listed JOIN worlds ON worlds.id = listed.world_id WHERE {_SAME}
    )
"""  # noqa: S608


class Roster(Repository):
    """All characters; changes apply to both rows of a character."""

    @reads
    def every(self) -> list[RosterEntry]:
        """Return all characters, sorted by name, with deleted ones."""
        rows = self._run(
            f"SELECT * FROM ({_LISTED} UNION ALL {_UNLISTED}) AS found",  # noqa: S608
            {"built_in": BUILT_IN_ACCOUNT},
        )
        # Sorted here: each engine has its own order of letters, and of missing ids.
        return sorted((_entry(dict(row)) for row in rows), key=_place)

    @changes
    def rename(self, entry: RosterEntry, name: str) -> None:
        """Rename a character. Raises `DuplicateName` if its world has the name already."""
        # A character of another world has no row here whose name could collide.
        if entry.own_id is not None:
            key = name_key(name)
            other = self._run(
                "SELECT 1 FROM world_characters WHERE name_key = ? AND id <> ?", (key, entry.own_id)
            )
            if other.fetchone() is not None:
                raise DuplicateName(f"there is already a character {name!r}")
            self._set("world_characters", entry.own_id, name=name, name_key=key)
        # Both rows have the name; they change in one transaction.
        self._set("characters", entry.id, name=name)

    @changes
    def delete(self, entry: RosterEntry) -> None:
        """Mark a character deleted."""
        self._mark(entry, deleted=True)

    @changes
    def restore(self, entry: RosterEntry) -> None:
        """Undo a deletion. Raises `DuplicateName` if its world reused the character's number."""
        # Its number must be free. Its name is, because a deleted character keeps it.
        other = self._run(
            "SELECT other.name FROM characters AS other JOIN characters AS listed"
            " ON other.world_id = listed.world_id AND other.char_id = listed.char_id"
            " WHERE listed.id = ? AND NOT other.deleted",
            (entry.id,),
        ).fetchone()
        if other is not None:
            raise DuplicateName(f"number {entry.char_id} of its world is now {other['name']!r}")
        self._mark(entry, deleted=False)

    @changes
    def forget(self, entry: RosterEntry) -> None:
        """Remove a character permanently; its name becomes free."""
        # Both rows, or the next start would list the character again from the other one.
        self._run("DELETE FROM characters WHERE id = ?", (entry.id,))
        Movements(self.database).add_removed("id = ?", (entry.own_id,))
        self._run("DELETE FROM world_characters WHERE id = ?", (entry.own_id,))

    @reads
    def unlisted(self, world_id: int) -> list[int]:
        """Return the built-in world's characters that never had a row in the list of `world_id`.

        Characters of unknown accounts belong to another login server's list.
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
        """Return (account id, id) of the characters whose rows in the list are all deleted."""
        # One present row is enough to own the character.
        listed = (
            "SELECT 1 FROM characters WHERE world_id = :world_id AND char_id = own.id"
            " AND characters.account_id = own.account_id"
        )
        rows = self._run(
            "SELECT account_id, id FROM world_characters AS own WHERE NOT deleted"  # noqa: S608
            f" AND EXISTS ({listed}) AND NOT EXISTS ({listed} AND NOT characters.deleted)"
            " ORDER BY id",
            {"world_id": world_id},
        )
        return [(account_id, char_id) for account_id, char_id in rows]

    def _mark(self, entry: RosterEntry, *, deleted: bool) -> None:
        self._set("characters", entry.id, deleted=deleted)
        self._set("world_characters", entry.own_id, deleted=deleted)


def _place(entry: RosterEntry) -> tuple[str, int, int]:
    return name_key(entry.name), entry.id or 0, entry.own_id or 0


def _entry(values: dict[str, Any]) -> RosterEntry:
    flags = {name: bool(values[name]) for name in ("is_built_in", "deleted")}
    end = {"banned_until": read_end(values["banned_until"])}
    return RosterEntry(**{**values, **flags, **end})


class LoginStore:
    """The login server's repositories."""

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """A deleted character is kept, and its number stays taken, for `keep_deleted` seconds."""
        self.accounts = AccountRepository(database)
        self.bans = Bans(database)
        self.worlds = WorldRepository(database)
        self.characters = CharacterRepository(database, keep_deleted)
        self.reports = ReportRepository(database)
        self.models = ModelNumbers(database)
        self.settings = Settings(database)


class WorldStore:
    """The built-in world's repositories."""

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """A deleted character is kept, and its name stays taken, for `keep_deleted` seconds."""
        self.characters = WorldCharacters(database, keep_deleted)
        self.belongings = Belongings(database)
        self.handoffs = HandoffRepository(database)
        self.models = ModelNumbers(database)
        self.memories = SpawnMemories(database)
        self.placement_facts = PlacementFacts(database)
        self.content_edits = ContentEdits(database)
        self.nodes = NodeTable(database)
        self.guilds = GuildRepository(database)
        self.ledger = LedgerRepository(database)
        self.things = Things(database)
        self.mail = Mailboxes(database)
        self.petitions = PetitionRepository(database)
        self.houses = HouseRepository(database)


class Store:
    """A database file with the repositories of both services, for one thread at a time."""

    def __init__(self, database: Database, keep_deleted: float = math.inf) -> None:
        """Take an open database, as `open`, `open_for_reading` and `create` make it."""
        self.database = database
        self.login = LoginStore(database, keep_deleted)
        self.world = WorldStore(database, keep_deleted)
        self.roster = Roster(database)
        self.audit = AuditTrail(database)
        self.notes = OperatorNotes(database)
        # Bound here, because callers of the store do not know its database.
        self.transaction = database.transaction
        self.reading = database.reading

    @property
    def where(self) -> Where:
        """The database file, or the URL of its server."""
        return self.database.where

    @property
    def sqlite(self) -> SqliteDatabase:
        """The database file; only for a store that is one. Raises `TypeError`."""
        if not isinstance(self.database, SqliteDatabase):
            raise TypeError(f"{self.where} is no SQLite file")
        return self.database

    @property
    def path(self) -> Path:
        """The database file; only for a store that is one. Raises `TypeError`."""
        return self.sqlite.path

    @classmethod
    def open(cls, where: Where, *, wait: float = LOCK_WAIT) -> Self:
        """Open an existing database; `wait` is how many seconds to wait for a lock."""
        return cls(open_database(where, schemas(), wait=wait))

    @classmethod
    def open_for_reading(cls, where: Where, *, wait: float = LOCK_WAIT) -> Self:
        """Open an existing database for reading; writes of other programs do not block it."""
        return cls(open_for_reading(where, schemas(), wait=wait))

    @classmethod
    def create(cls, where: Where, *, keep_deleted: float = math.inf) -> Self:
        """Open a database; create its file, or its tables on a server, if they are missing."""
        return cls(create_database(where, schemas()), keep_deleted)

    @contextmanager
    def trial(self) -> Iterator[Store]:
        """Open a store with the same content, to try changes; none of them stays."""
        with self.database.trial() as tried:
            yield Store(tried)

    def close(self) -> None:
        """Close the database; it contains every acknowledged change."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
