"""The awaitable face of a `Store`: it implements the ports of the login and world services.

Reads and writes have a store each, two connections to one database: SQLite lets a reader go on
while somebody holds the write lock, if only it need not queue behind those who wait for it. Where
calls are carried out is the business of the `Run` given for each. Knows no thread and no reactor.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from emu.limits.bans import BanList
from emu.model import (
    Account,
    Character,
    ClientLog,
    Equipment,
    World,
    WorldCharacter,
    ZoneDescription,
)
from emu.store.addresses import BannedAddress
from emu.store.store import Store
from emu.times import Clock, Moment

T = TypeVar("T")
P = ParamSpec("P")

BANS_REREAD = 1.0
"""Seconds between two looks at what bans there are: those of other programs count then."""


class Run(Protocol):
    """Carries a call out and gives its result; calls are carried out in the order they came."""

    def __call__(self, call: Callable[[], T], /) -> Awaitable[T]:
        """Carry out one call."""


class Calls:
    """Calls one store's methods by way of a `Run`."""

    __slots__ = ("_run", "_store")

    def __init__(self, store: Store, run: Run) -> None:
        self._store = store
        self._run = run

    def __call__(
        self, method: Callable[Concatenate[Store, P], T], *values: P.args, **named: P.kwargs
    ) -> Awaitable[T]:
        """Call a method of `Store` and give what it returns or raises."""
        return self._run(partial(method, self._store, *values, **named))


class AsyncStore:
    """`AccountStore`, `CharacterStore`, `WorldStore` and `LogStore` over one database."""

    __slots__ = ("_ban_rows", "_bans", "_bans_read", "_clock", "_read", "_write")

    def __init__(self, read: Calls, write: Calls, clock: Clock) -> None:
        self._read = read
        self._write = write
        self._clock = clock
        self._ban_rows: Sequence[BannedAddress] = ()
        self._bans = BanList(())
        self._bans_read = -math.inf

    async def find_account(self, name: str) -> Account | None:
        """Look an account up by name, without regard to case."""
        return await self._read(Store.find_account, name)

    async def add_account(self, name: str, password: str, created: Moment) -> Account:
        """Add an account; `password` is a PHC string. Raises `DuplicateName`."""
        return await self._write(Store.add_account, name, password, created)

    async def set_password(
        self, account_id: int, password: str, expected: str | None = None
    ) -> bool:
        """Replace the password hash; with `expected` only where that is still the stored one."""
        return await self._write(Store.set_password, account_id, password, expected)

    async def record_login(
        self, account_id: int, address: str, version: int, moment: Moment
    ) -> None:
        """Remember when, from where and with which client version the account logged in."""
        await self._write(Store.record_login, account_id, address, version, moment)

    async def characters_of(self, account_id: int) -> Sequence[Character]:
        """Return the account's characters that are not deleted, oldest first."""
        return await self._read(Store.characters_of, account_id)

    async def add_character(self, character: Character) -> Character:
        """Store a new character with all it has; an older row of the same character goes."""
        return await self._write(Store.add_character, character)

    async def delete_character(
        self, account_id: int, world_id: int, char_id: int, name: str
    ) -> bool:
        """Mark one character deleted; True when exactly that row was there and not deleted."""
        return await self._write(Store.delete_character, account_id, world_id, char_id, name)

    async def update_character(
        self, account_id: int, world_id: int, char_id: int, changes: Mapping[str, int | str | float]
    ) -> bool:
        """Change fields of one character; True when it is there."""
        return await self._write(
            Store.update_character, account_id, world_id, char_id, dict(changes)
        )

    async def set_equipment(self, world_id: int, items: Sequence[tuple[int, Equipment]]) -> None:
        """Store a batch of (char id, equipment) of one world in one transaction."""
        await self._write(Store.set_equipment, world_id, tuple(items))

    async def model_numbers(self, paths: Collection[str]) -> Mapping[str, int]:
        """Return the numbers of the models that are known, by path in lower case."""
        return await self._read(Store.model_numbers, tuple(paths))

    async def find_world_by_account(self, account: str) -> World | None:
        """Look a world up by the account name it registers with."""
        return await self._read(Store.find_world_by_account, account)

    async def add_world(self, name: str, account: str, password: str) -> World:
        """Add a world (for unregistered worlds that a setting lets in). Raises `DuplicateName`."""
        world = World(id=0, name=name, account=account, password=password)
        return await self._write(Store.add_world, world, self._clock.moment())

    async def world_connected(
        self, world_id: int, address: str, version: str, moment: Moment
    ) -> None:
        """Remember the address and program version of a world that has registered."""
        await self._write(Store.world_connected, world_id, address, version, moment)

    async def record_status(
        self, world_id: int, status: int, players: int, zones: int, moment: Moment
    ) -> None:
        """Remember a world's status report; -4 when its link is gone."""
        await self._write(Store.record_status, world_id, status, players, zones, moment)

    async def set_zones(self, world_id: int, zones: Sequence[ZoneDescription]) -> None:
        """Store zone names and descriptions of one world in one transaction."""
        await self._write(Store.set_zones, world_id, tuple(zones))

    async def zones_of(self, world_id: int) -> Sequence[ZoneDescription]:
        """Return the zones a world has described, by ascending id."""
        return await self._read(Store.zones_of, world_id)

    async def is_address_banned(self, address: str, moment: Moment) -> bool:
        """Say whether a ban that has not ended covers an address.

        Every login asks, so they are kept in memory, and parsed again only when they have changed.
        """
        now = self._clock.now()
        if now - self._bans_read >= BANS_REREAD:
            rows = await self._read(Store.banned_addresses)
            self._bans_read = now
            if rows != self._ban_rows:
                self._ban_rows = rows
                self._bans = BanList((ban.prefix, ban.until) for ban in rows)
        return self._bans.covers(address, moment)

    async def add_client_log(self, log: ClientLog) -> None:
        """Store one client log."""
        await self._write(Store.add_client_log, log)

    async def add_bug_report(
        self, world_id: int, account_id: int, fields: Mapping[str, str | int], received: Moment
    ) -> None:
        """Store one bug report relayed by a world."""
        await self._write(Store.add_bug_report, world_id, account_id, dict(fields), received)


class AsyncWorldCharacters:
    """`WorldCharacterStore` over one database."""

    __slots__ = ("_read", "_write")

    def __init__(self, read: Calls, write: Calls) -> None:
        self._read = read
        self._write = write

    async def create(self, character: WorldCharacter) -> WorldCharacter:
        """Store a new character and return it with its id. Raises `DuplicateName`."""
        return await self._write(Store.create_world_character, character)

    async def find(self, char_id: int) -> WorldCharacter | None:
        """Return a character that is not deleted."""
        return await self._read(Store.find_world_character, char_id)

    async def of_account(self, account_id: int) -> Sequence[WorldCharacter]:
        """Return an account's characters that are not deleted."""
        return await self._read(Store.world_characters_of, account_id)

    async def delete(self, account_id: int, char_id: int) -> bool:
        """Mark one deleted; True when that row was there and not deleted."""
        return await self._write(Store.delete_world_character, account_id, char_id)

    async def played(self, char_id: int, moment: Moment) -> None:
        """Remember when a character was played last."""
        await self._write(Store.world_character_played, char_id, moment)

    async def find_named(self, name: str) -> WorldCharacter | None:
        """Return a character that is not deleted by its name, without regard to case."""
        return await self._read(Store.find_named_world_character, name)

    async def set_admin_status(self, char_id: int, status: int) -> None:
        """Set a character's rank, or ban it."""
        await self._write(Store.set_admin_status, char_id, status)

    async def save_mute(self, char_id: int, until: Moment) -> None:
        """Remember until when a character may not speak."""
        await self._write(Store.save_mute, char_id, until)

    async def save_relations(self, char_id: int, relations: Sequence[tuple[int, str]]) -> None:
        """Replace a character's lists of friends and ignored ones."""
        await self._write(Store.save_relations, char_id, relations)

    async def save_place(
        self, char_id: int, zone_id: int, place: tuple[float, float, float, float]
    ) -> None:
        """Remember where a character is: its zone, and x, y, z, heading there."""
        await self._write(Store.save_world_character_place, char_id, zone_id, place)
