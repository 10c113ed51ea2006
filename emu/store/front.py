"""The awaitable face of the repositories: the ports of the login and world services.

Each port is a list of which call of the port is which method of a repository, and of how it is
carried out: in one of four `Ways`. What goes in and comes out is said by the method. Reads and
writes have a store each, connections to one database: SQLite lets a reader go on while somebody
holds the write lock, if only it need not queue behind those who wait for it. Where calls are
carried out is the business of the `Run` given for each. Knows no thread and no reactor.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from emu.commands.ranks import account_rank
from emu.errors import StoreLocked
from emu.limits.bans import BanList
from emu.store.bans import BannedAddress, Bans
from emu.store.login.accounts import Accounts
from emu.store.login.characters import Characters
from emu.store.login.models import Models
from emu.store.login.reports import Reports
from emu.store.login.worlds import Worlds
from emu.store.repository import Repository
from emu.store.roster import Roster
from emu.store.store import Store
from emu.store.world.belongings import Belongings
from emu.store.world.characters import WorldCharacters
from emu.times import Clock, Moment

P = ParamSpec("P")
R = TypeVar("R", bound=Repository)
T = TypeVar("T")

BANS_REREAD = 1.0
"""Seconds between two looks at what bans there are: those of other programs count then."""


class Run(Protocol):
    """Carries a call out and gives its result; calls are carried out in the order they came."""

    def __call__(self, call: Callable[[], T], /) -> Awaitable[T]:
        """Carry out one call."""


@dataclass(frozen=True, slots=True)
class Ways:
    """Stores over one database, and where their calls are carried out."""

    here: Store
    """Read at once, by whoever asks: what a player who comes back is waiting for."""
    reader: Store
    read: Run
    writer: Store
    write: Run
    later: Run
    """Writes what nobody waits for."""


class Front(Generic[R]):
    """One repository made awaitable."""

    def __init__(self, ways: Ways, repository: Callable[[Store], R]) -> None:
        """Take the ways; `repository` picks what this is the face of."""
        writes = repository(ways.writer)
        self.here = repository(ways.here)
        self.read = repository(ways.reader), ways.read
        self.write = writes, ways.write
        self.later = writes, ways.later


Port = Callable[Concatenate[Front[R], P], Coroutine[Any, Any, T]]
"""A method of a port."""


def look(method: Callable[Concatenate[R, P], T]) -> Port[R, P, T]:
    """Make a call of a port of a small read: answered at once, in the caller's thread.

    With WAL a read waits for nobody, except when the database is being recovered; then it is
    carried out like any other read.
    """

    async def call(front: Front[R], /, *values: P.args, **named: P.kwargs) -> T:
        try:
            return method(front.here, *values, **named)
        except StoreLocked:
            repository, run = front.read
            return await run(partial(method, repository, *values, **named))

    return call


def read(method: Callable[Concatenate[R, P], T]) -> Port[R, P, T]:
    """Make a call of a port of a method that reads."""
    return _by(attrgetter("read"), method)


def write(method: Callable[Concatenate[R, P], T]) -> Port[R, P, T]:
    """Make a call of a port of a method that changes something."""
    return _by(attrgetter("write"), method)


def later(method: Callable[Concatenate[R, P], T]) -> Port[R, P, T]:
    """Make the same of a change that nobody waits for."""
    return _by(attrgetter("later"), method)


def _by(
    way: Callable[[Front[R]], tuple[R, Run]], method: Callable[Concatenate[R, P], T]
) -> Port[R, P, T]:
    async def call(front: Front[R], /, *values: P.args, **named: P.kwargs) -> T:
        repository, run = way(front)
        return await run(partial(method, repository, *values, **named))

    return call


class AccountFront(Front[Accounts]):
    """Implements `emu.login.ports.AccountStore`."""

    find_account = look(Accounts.find)
    add_account = write(Accounts.add)
    set_password = write(Accounts.set_password)
    record_login = later(Accounts.record_login)


class AccountAdministrationFront(Front[Accounts]):
    """Implements `emu.admin.ports.AccountAdministration`."""

    every = read(Accounts.every)
    find_account = read(Accounts.find)
    add_account = write(Accounts.add)
    set_password = write(Accounts.set_password)
    set_enabled = write(Accounts.set_enabled)
    ban = write(Accounts.ban)


class RosterFront(Front[Roster]):
    """Implements `emu.admin.ports.CharacterList`."""

    every = read(Roster.every)
    delete = write(Roster.delete)
    restore = write(Roster.restore)


class CharacterFront(Front[Characters]):
    """Implements `emu.login.ports.CharacterStore`."""

    characters_of = look(Characters.of_account)
    add_character = write(Characters.add)
    delete_character = write(Characters.delete)
    update_character = write(Characters.update)
    set_equipment = write(Characters.set_equipment)


class WorldFront(Front[Worlds]):
    """Implements `emu.login.ports.RegisteredWorlds`."""

    find_world_by_account = read(Worlds.find_by_account)
    add_world = write(Worlds.add)
    world_connected = write(Worlds.connected)
    record_status = write(Worlds.record_status)
    set_zones = write(Worlds.set_zones)
    zones_of = read(Worlds.zones_of)


class ReportFront(Front[Reports]):
    """Implements `emu.login.ports.LogStore`."""

    add_client_log = later(Reports.add_client_log)
    add_bug_report = write(Reports.add_bug_report)


class ModelFront(Front[Models]):
    """Implements `emu.processes.stores.ModelSource`."""

    model_numbers = read(Models.numbers)


class WorldCharacterFront(Front[WorldCharacters]):
    """Implements `emu.processes.stores.WorldCharacterStore`."""

    create = write(WorldCharacters.create)
    find = look(WorldCharacters.find)
    find_named = read(WorldCharacters.find_named)
    of_account = look(WorldCharacters.of_account)
    statuses_of = look(WorldCharacters.statuses_of)
    delete = write(WorldCharacters.delete)
    played = write(WorldCharacters.played)
    save_place = later(WorldCharacters.save_place)
    save_mute = write(WorldCharacters.save_mute)
    set_admin_status = write(WorldCharacters.set_admin_status)

    async def rank_of(self, account_id: int) -> int:
        """Return the rank of an account; see `emu.commands.ranks.account_rank`."""
        return account_rank(await self.statuses_of(account_id))


class BelongingsFront(Front[Belongings]):
    """Implements `emu.processes.stores.BelongingsStore`."""

    save_relations = later(Belongings.save_relations)
    save_titles = later(Belongings.save_titles)
    save_hotkeys = later(Belongings.save_hotkeys)
    save_channels = later(Belongings.save_channels)


class BanFront(Front[Bans]):
    """The bans as every login asks for them: kept in memory, parsed again when they changed."""

    every = look(Bans.every)

    def __init__(self, ways: Ways, clock: Clock) -> None:
        super().__init__(ways, lambda store: store.login.bans)
        self._clock = clock
        self._rows: Sequence[BannedAddress] = ()
        self._bans = BanList(())
        self._looked = -math.inf

    async def is_address_banned(self, address: str, moment: Moment) -> bool:
        """Say whether a ban that has not ended covers an address."""
        now = self._clock.now()
        if now - self._looked >= BANS_REREAD:
            rows = await self.every()
            self._looked = now
            if rows != self._rows:
                self._rows = rows
                self._bans = BanList((ban.prefix, ban.until) for ban in rows)
        return self._bans.covers(address, moment)
