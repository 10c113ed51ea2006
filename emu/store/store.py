"""`Store`: one open database with every change as a transaction of its own.

The methods are the synchronous form of the login and world services' ports, plus what an operator's
commands need. A store belongs to one thread at a time; `emu.store.front` makes it awaitable. What
stands in which table is known to the row modules only.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from emu.database import LOCK_WAIT, Database, readable_errors
from emu.model import (
    Account,
    Character,
    ClientLog,
    Equipment,
    World,
    WorldCharacter,
    ZoneDescription,
)
from emu.store import (
    accounts,
    addresses,
    characters,
    models,
    reports,
    roster,
    world_characters,
    worlds,
)
from emu.store.addresses import BannedAddress
from emu.store.roster import RosterEntry
from emu.store.schema import schema
from emu.store.worlds import WorldReport
from emu.times import UNKNOWN, Moment


class Store:
    """An open database. Every method raises `StoreError` when the database fails."""

    __slots__ = ("_connection", "_database", "keep_deleted", "path", "reading", "transaction")

    def __init__(self, database: Database) -> None:
        """Take an open database; `open` and `create` are how to get one."""
        self.path = database.path
        self._database = database
        self._connection = database.connection
        self.transaction = database.transaction
        self.reading = database.reading
        self.keep_deleted = math.inf
        """Seconds that a deleted character stays, and its name is taken; looked at when a
        character is added."""

    @classmethod
    def open(cls, path: Path, *, wait: float = LOCK_WAIT) -> Store:
        """Open an existing database; `wait` is how many seconds to wait for a lock."""
        return cls(Database.open(path, schema(), wait=wait))

    @classmethod
    def look(cls, path: Path, *, wait: float = LOCK_WAIT) -> Store:
        """Open an existing database to read it; no other program's write is in the way."""
        return cls(Database.look(path, schema(), wait=wait))

    @classmethod
    def create(cls, path: Path) -> Store:
        """Open a database, and make it first when it is not there."""
        return cls(Database.create(path, schema()))

    @contextmanager
    def copy(self) -> Iterator[Store]:
        """Open a copy of the database to try things on; afterwards it is thrown away."""
        with self._database.copy() as copied:
            yield Store(copied)

    def close(self) -> None:
        """Close the database; every answered change is in it."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, for the row modules of this package."""
        return self._connection

    # Accounts

    def find_account(self, name: str) -> Account | None:
        """Return the account of this name, without regard to case."""
        with readable_errors(self.path):
            return accounts.find(self._connection, name)

    def accounts(self) -> list[Account]:
        """Return all accounts by name."""
        with readable_errors(self.path):
            return accounts.every(self._connection)

    def add_account(self, name: str, password: str, created: Moment) -> Account:
        """Add an account; `password` is a hash. Raises `DuplicateName`."""
        with self.transaction() as connection:
            return accounts.add(connection, name, password, created)

    def set_password(self, account_id: int, password: str, expected: str | None = None) -> bool:
        """Replace the password hash; with `expected` only where that is still the stored one."""
        with self.transaction() as connection:
            return accounts.set_password(connection, account_id, password, expected)

    def set_account_enabled(self, account_id: int, enabled: bool) -> None:
        """Let an account log in, or not."""
        with self.transaction() as connection:
            accounts.set_enabled(connection, account_id, enabled)

    def ban_account(self, account_id: int, until: Moment | None, reason: str) -> None:
        """Ban an account until a unix time (``math.inf``: for ever); None lifts the ban."""
        with self.transaction() as connection:
            accounts.set_ban(connection, account_id, until, reason)

    def record_login(self, account_id: int, address: str, version: int, moment: Moment) -> None:
        """Remember when, from where and with which client version an account logged in."""
        with self.transaction() as connection:
            accounts.record_login(connection, account_id, address, version, moment)

    def remove_account(self, account_id: int) -> None:
        """Remove an account and the rows of its characters."""
        with self.transaction() as connection:
            accounts.remove(connection, account_id)

    # Addresses

    def ban_address(self, entry: BannedAddress) -> bool:
        """Store a ban; one for the same prefix is replaced. True when it is new."""
        with self.transaction() as connection:
            return addresses.ban(connection, entry)

    def unban_address(self, prefix: str) -> bool:
        """Remove a ban; True when there was one."""
        with self.transaction() as connection:
            return addresses.lift(connection, prefix)

    def banned_addresses(self) -> list[BannedAddress]:
        """Return all bans, ended ones too."""
        with readable_errors(self.path):
            return addresses.every(self._connection)

    # Worlds

    def find_world(self, name: str) -> World | None:
        """Return the world of this name, without regard to case."""
        with readable_errors(self.path):
            return worlds.find(self._connection, name)

    def find_world_by_account(self, account: str) -> World | None:
        """Return the world that registers with this account name, without regard to case."""
        with readable_errors(self.path):
            return worlds.find_by_account(self._connection, account)

    def world_reports(self) -> list[WorldReport]:
        """Return all worlds by id, each with its latest status."""
        with readable_errors(self.path):
            return worlds.reports(self._connection)

    def add_world(self, world: World, created: Moment = UNKNOWN) -> World:
        """Add a world; the id 0 lets the store choose. Raises `DuplicateName`."""
        with self.transaction() as connection:
            return worlds.put(connection, world, created)

    def set_world_password(self, world_id: int, password: str) -> None:
        """Replace the hash of a world's link password."""
        with self.transaction() as connection:
            worlds.set_password(connection, world_id, password)

    def rename_world(self, world_id: int, name: str) -> None:
        """Show a world under another name. Raises `DuplicateName` when another world has it."""
        with self.transaction() as connection:
            worlds.rename(connection, world_id, name)

    def set_world_enabled(self, world_id: int, enabled: bool) -> None:
        """Let a world register, or not."""
        with self.transaction() as connection:
            worlds.set_enabled(connection, world_id, enabled)

    def world_connected(self, world_id: int, address: str, version: str, moment: Moment) -> None:
        """Remember the address and program version of a world that has registered."""
        with self.transaction() as connection:
            worlds.connected(connection, world_id, address, version, moment)

    def record_status(
        self, world_id: int, status: int, players: int, zones: int, moment: Moment
    ) -> None:
        """Remember a world's status report; -4 when its link is gone."""
        with self.transaction() as connection:
            worlds.record_status(connection, world_id, status, players, zones, moment)

    def set_zones(self, world_id: int, zones: Sequence[ZoneDescription]) -> None:
        """Store zone names and descriptions of one world."""
        with self.transaction() as connection:
            worlds.set_zones(connection, world_id, zones)

    def zones_of(self, world_id: int) -> list[ZoneDescription]:
        """Return the zones a world has described, by ascending id."""
        with readable_errors(self.path):
            return worlds.zones_of(self._connection, world_id)

    def remove_world(self, world_id: int) -> None:
        """Remove a world, what it reported, and the rows of its characters."""
        with self.transaction() as connection:
            worlds.remove(connection, world_id)

    # The login server's copy of the characters

    def characters_of(self, account_id: int) -> list[Character]:
        """Return the account's characters that are not deleted, oldest first."""
        with self.reading() as connection:
            return characters.of_account(connection, account_id)

    def count_characters(self, *, account_id: int = 0, world_id: int = 0) -> int:
        """Count the characters, not deleted, of one account or of one world."""
        with readable_errors(self.path):
            if account_id:
                return characters.count_of_account(self._connection, account_id)
            return characters.count_of_world(self._connection, world_id)

    def add_character(self, character: Character) -> Character:
        """Store a character with all it has; an older row of the same character goes."""
        with self.transaction() as connection:
            characters.purge(connection, character.created - self.keep_deleted)
            return replace(character, id=characters.add(connection, character))

    def delete_character(self, account_id: int, world_id: int, char_id: int, name: str) -> bool:
        """Mark one character deleted; True when exactly that row was there."""
        with self.transaction() as connection:
            return characters.delete(connection, account_id, world_id, char_id, name)

    def update_character(
        self, account_id: int, world_id: int, char_id: int, changes: Mapping[str, int | str | float]
    ) -> bool:
        """Change fields of one character; True when it is there."""
        with self.transaction() as connection:
            return characters.update(connection, account_id, world_id, char_id, changes)

    def set_equipment(self, world_id: int, items: Sequence[tuple[int, Equipment]]) -> None:
        """Store a batch of (char id, equipment) of one world."""
        with self.transaction() as connection:
            characters.set_equipment(connection, world_id, items)

    def model_numbers(self, paths: Collection[str]) -> dict[str, int]:
        """Return the numbers of the models that are known, by path in lower case."""
        with readable_errors(self.path):
            return models.numbers(self._connection, paths)

    # All characters, for operators

    def roster(self) -> list[RosterEntry]:
        """Return all characters of all worlds by name, deleted ones too."""
        with self.reading() as connection:
            return roster.every(connection)

    def listed_character(self, row_id: int) -> Character | None:
        """Return a row of the list with its looks, deleted or not."""
        with self.reading() as connection:
            return characters.get(connection, row_id)

    def rename_character(self, entry: RosterEntry, name: str) -> None:
        """Give a character another name. Raises `DuplicateName`."""
        with self.transaction() as connection:
            roster.rename(connection, entry, name)

    def mark_character(self, entry: RosterEntry, *, deleted: bool) -> None:
        """Delete a character, or bring it back. Raises `DuplicateName`."""
        with self.transaction() as connection:
            (roster.delete if deleted else roster.restore)(connection, entry)

    def forget_character(self, entry: RosterEntry) -> None:
        """Remove a character for good, so that its name is free."""
        with self.transaction() as connection:
            roster.forget(connection, entry)

    # What was reported

    def add_client_log(self, log: ClientLog) -> None:
        """Store one client log."""
        with self.transaction() as connection:
            reports.add_client_log(connection, log)

    def client_logs(self) -> list[ClientLog]:
        """Return all client logs, oldest first."""
        with readable_errors(self.path):
            return reports.client_logs(self._connection)

    def add_bug_report(
        self, world_id: int, account_id: int, fields: Mapping[str, str | int], received: Moment
    ) -> None:
        """Store one bug report relayed by a world."""
        with self.transaction() as connection:
            reports.add_bug_report(connection, world_id, account_id, fields, received)

    # The built-in world's own characters

    def create_world_character(self, character: WorldCharacter) -> WorldCharacter:
        """Store a new character and return it with its id. Raises `DuplicateName`."""
        with self.transaction() as connection:
            world_characters.purge(connection, character.created - self.keep_deleted)
            return world_characters.create(connection, character)

    def find_world_character(self, char_id: int) -> WorldCharacter | None:
        """Return a character that is not deleted."""
        with self.reading() as connection:
            return world_characters.find(connection, char_id)

    def world_characters_of(self, account_id: int) -> list[WorldCharacter]:
        """Return an account's characters that are not deleted."""
        with self.reading() as connection:
            return world_characters.of_account(connection, account_id)

    def delete_world_character(self, account_id: int, char_id: int) -> bool:
        """Mark one deleted; True when that row was there and not deleted."""
        with self.transaction() as connection:
            return world_characters.delete(connection, account_id, char_id)

    def unlisted_world_characters(self, world_id: int) -> list[WorldCharacter]:
        """Return characters that the login server's list of `world_id` never had a row for."""
        with self.reading() as connection:
            return world_characters.unlisted(connection, world_id)

    def disowned_world_characters(self, world_id: int) -> list[tuple[int, int]]:
        """Return (account id, id) of characters that are deleted in the login server's list."""
        with self.reading() as connection:
            return world_characters.disowned(connection, world_id)

    def world_character_played(self, char_id: int, moment: Moment) -> None:
        """Remember when a character was played last."""
        with self.transaction() as connection:
            world_characters.played(connection, char_id, moment)

    def find_named_world_character(self, name: str) -> WorldCharacter | None:
        """Return a character that is not deleted by its name, without regard to case."""
        with self.reading() as connection:
            return world_characters.find_named(connection, name)

    def set_admin_status(self, char_id: int, status: int) -> None:
        """Set a character's rank, or ban it."""
        with self.transaction() as connection:
            world_characters.set_admin_status(connection, char_id, status)

    def save_mute(self, char_id: int, until: Moment) -> None:
        """Remember until when a character may not speak."""
        with self.transaction() as connection:
            world_characters.save_mute(connection, char_id, until)

    def save_relations(self, char_id: int, relations: Sequence[tuple[int, str]]) -> None:
        """Replace a character's lists of friends and ignored ones."""
        with self.transaction() as connection:
            world_characters.save_relations(connection, char_id, relations)

    def save_world_character_place(
        self, char_id: int, zone_id: int, place: tuple[float, float, float, float]
    ) -> None:
        """Remember where a character is: its zone, and x, y, z, heading there."""
        with self.transaction() as connection:
            world_characters.save_place(connection, char_id, zone_id, place)
