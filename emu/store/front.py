"""The awaitable face of the repositories: the ports of the login and world services.

Each port is a list of which call of the port is which method of a repository, and of how it is
carried out: in one of the `StoreConnections`. What goes in and comes out is said by the method.
Reads and writes have a store each, connections to one database: SQLite lets a reader go on while
somebody holds the write lock, if only it need not queue behind those who wait for it. What every
login needs is remembered, and each write says what it makes wrong of that. Where calls are carried
out is the business of the `Run` given for each. Knows no thread and no reactor.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, Concatenate, Final, Generic, ParamSpec, Protocol, TypeVar

from emu.commands.registry import account_authority, account_rank
from emu.limits.addresses import BanList
from emu.model import Account, Character, WorldCharacter
from emu.store.accounts import AccountRepository, BannedAddress, Bans
from emu.store.characters import CharacterRepository
from emu.store.remembered import Memory
from emu.store.repository import Repository, name_key
from emu.store.store import Roster, Store
from emu.store.world_characters import WorldCharacters
from emu.store.worlds import ModelNumbers, ReportRepository, WorldRepository
from emu.times import Clock, Moment

P = ParamSpec("P")
R = TypeVar("R", bound=Repository)
T = TypeVar("T")

MOST_NAMES: Final = 100_000
"""Accounts whose name is known by their id."""


class Run(Protocol):
    """Carries a call out and gives its result; calls are carried out in the order they came."""

    def __call__(self, call: Callable[[], T], /) -> Awaitable[T]:
        """Carry out one call."""


@dataclass(frozen=True, slots=True)
class StoreConnections:
    """Stores over one database, and where their calls are carried out."""

    reader: Store
    read: Run
    writer: Store
    write: Run
    later: Run
    """Writes what nobody waits for, a little later."""
    persistent: Run
    """Writes what nobody waits for, at once; while the database is locked, as soon as it is not."""
    memory: Memory


class AsyncRepository(Generic[R]):
    """One repository made awaitable."""

    def __init__(self, ways: StoreConnections, repository: Callable[[Store], R]) -> None:
        """Take the ways; `repository` picks what this is the face of."""
        writes = repository(ways.writer)
        self.read = repository(ways.reader), ways.read
        self.write = writes, ways.write
        self.later = writes, ways.later
        self.persistent = writes, ways.persistent
        self.memory = ways.memory


Port = Callable[Concatenate[AsyncRepository[R], P], Coroutine[Any, Any, T]]
"""A method of a port."""
Forget = Callable[..., None]
"""Forgets what a write makes wrong; it gets the memory, and then the write's own arguments."""


def everything(memory: Memory, *_values: Any, **_named: Any) -> None:
    """Forget all that is remembered."""
    memory.forget_all()


def nothing(_memory: Memory, *_values: Any, **_named: Any) -> None:
    """Forget nothing: none of it is remembered."""


def read(method: Callable[Concatenate[R, P], T]) -> Port[R, P, T]:
    """Make a call of a port of a method that reads."""

    async def call(front: AsyncRepository[R], /, *values: P.args, **named: P.kwargs) -> T:
        repository, run = front.read
        return await run(partial(method, repository, *values, **named))

    return call


def write(method: Callable[Concatenate[R, P], T], forget: Forget = everything) -> Port[R, P, T]:
    """Make a call of a port of a method that changes something."""
    return _by(attrgetter("write"), method, forget)


def later(method: Callable[Concatenate[R, P], T], forget: Forget = everything) -> Port[R, P, T]:
    """Make the same of a change that nobody waits for."""
    return _by(attrgetter("later"), method, forget)


def persistent(
    method: Callable[Concatenate[R, P], T], forget: Forget = everything
) -> Port[R, P, T]:
    """Make the same of a change that nobody waits for, and that others wait behind."""
    return _by(attrgetter("persistent"), method, forget)


def _by(
    way: Callable[[AsyncRepository[R]], tuple[R, Run]],
    method: Callable[Concatenate[R, P], T],
    forget: Forget,
) -> Port[R, P, T]:
    async def call(front: AsyncRepository[R], /, *values: P.args, **named: P.kwargs) -> T:
        repository, run = way(front)
        try:
            return await run(partial(method, repository, *values, **named))
        finally:
            forget(front.memory, *values, **named)

    return call


def _of_account(memory: Memory, account_id: int, *_others: Any, **_named: Any) -> None:
    """Forget what the login server's list has of an account."""
    memory.characters.forget(account_id)


class AsyncAccounts(AsyncRepository[AccountRepository]):
    """Implements `emu.login.ports.AccountStore`."""

    _record = later(AccountRepository.record_login, nothing)
    add_account = write(
        AccountRepository.add, lambda memory, name, *_, **__: memory.accounts.forget(name_key(name))
    )
    set_password = write(
        AccountRepository.set_password, lambda memory, *_, **__: memory.accounts.forget_all()
    )

    def __init__(self, ways: StoreConnections) -> None:
        super().__init__(ways, lambda store: store.login.accounts)
        self._names: dict[int, str] = {}
        """Under which name an account is remembered, by its id."""

    async def find_account(self, name: str) -> Account | None:
        """Return the account of this name, without regard to case."""
        key = name_key(name)
        return await self.memory.accounts.get(key, partial(self._find, key, name))

    async def record_login(
        self, account_id: int, address: str, version: int, moment: Moment
    ) -> None:
        """Remember when, from where and with which client version an account logged in."""
        accounts = self.memory.accounts
        try:
            await self._record(account_id, address, version, moment)
        except BaseException:
            accounts.forget_all()
            raise
        key = self._names.get(account_id, "")
        account = accounts.known(key)
        if account is None:  # it may be read just now
            accounts.forget_all()
            return
        recorded = replace(
            account, last_login=moment, last_address=address, last_client_version=version
        )
        accounts.put(key, recorded)

    async def _find(self, key: str, name: str) -> Account | None:
        repository, run = self.read
        account = await run(partial(AccountRepository.find, repository, name))
        if account is not None:
            if len(self._names) >= MOST_NAMES:
                self._names.clear()
            self._names[account.id] = key
        return account


class AsyncAccountAdministration(AsyncRepository[AccountRepository]):
    """Implements `emu.admin.ports.AccountAdministration`."""

    every = read(AccountRepository.every)
    find_account = read(AccountRepository.find)
    add_account = write(AccountRepository.add)
    set_password = write(AccountRepository.set_password)
    set_enabled = write(AccountRepository.set_enabled)
    ban = write(AccountRepository.ban)


class AsyncAccountGate(AsyncRepository[AccountRepository]):
    """Implements `emu.processes.ports.AccountGate`."""

    open_among = read(AccountRepository.open_among)

    def __init__(
        self, ways: StoreConnections, bans: AsyncBans, clock: Clock, *, knows_accounts: bool
    ) -> None:
        """`knows_accounts`: the world's accounts are those of the login service here."""
        super().__init__(ways, lambda store: store.login.accounts)
        self._bans = bans
        self._clock = clock
        self._knows_accounts = knows_accounts

    async def kept_out(self, clients: Sequence[tuple[int, str]]) -> Sequence[int]:
        """Return whose account is banned, disabled or gone, or whose address is banned."""
        moment = self._clock.moment()
        found = {
            account_id
            for account_id, address in clients
            if await self._bans.is_address_banned(address, moment)
        }
        asked = {account_id for account_id, _ in clients} - found
        if self._knows_accounts and asked:
            found |= asked - set(await self.open_among(sorted(asked), moment))
        return sorted(found)


class AsyncRoster(AsyncRepository[Roster]):
    """Implements `emu.admin.ports.CharacterList`."""

    every = read(Roster.every)
    delete = write(Roster.delete)
    restore = write(Roster.restore)


class AsyncCharacters(AsyncRepository[CharacterRepository]):
    """Implements `emu.login.ports.CharacterStore`."""

    _read = read(CharacterRepository.of_account)
    add_character = write(CharacterRepository.add)
    delete_character = write(CharacterRepository.delete, _of_account)
    update_character = persistent(CharacterRepository.update, _of_account)
    set_equipment = persistent(
        CharacterRepository.set_equipment, lambda memory, *_, **__: memory.characters.forget_all()
    )

    async def characters_of(self, account_id: int) -> Sequence[Character]:
        """Return the account's characters that are not deleted, oldest first."""
        return await self.memory.characters.get(account_id, lambda: self._read(account_id))


class AsyncWorlds(AsyncRepository[WorldRepository]):
    """Implements `emu.login.ports.RegisteredWorlds`."""

    find_world_by_account = read(WorldRepository.find_by_account)
    add_world = write(WorldRepository.add)
    world_connected = persistent(WorldRepository.connected, nothing)
    record_status = persistent(WorldRepository.record_status, nothing)
    set_zones = persistent(WorldRepository.set_zones, nothing)
    zones_of = read(WorldRepository.zones_of)


class AsyncReports(AsyncRepository[ReportRepository]):
    """Implements `emu.login.ports.LogStore`."""

    add_client_log = later(ReportRepository.add_client_log, nothing)
    add_bug_report = persistent(ReportRepository.add_bug_report, nothing)


class AsyncModels(AsyncRepository[ModelNumbers]):
    """Implements `emu.processes.ports.ModelSource`."""

    model_numbers = read(ModelNumbers.numbers)


class AsyncWorldCharacters(AsyncRepository[WorldCharacters]):
    """Implements `emu.processes.ports.WorldCharacterStore`."""

    create = write(
        WorldCharacters.create,
        lambda memory, character: memory.world_characters.forget(character.account_id),
    )
    find = read(WorldCharacters.find)
    find_named = read(WorldCharacters.find_named)
    statuses_of = read(WorldCharacters.statuses_of)
    delete = write(
        WorldCharacters.delete,
        lambda memory, account_id, *_, **__: memory.world_characters.forget(account_id),
    )
    save_character = later(
        WorldCharacters.save_character,
        lambda memory, *values: memory.world_characters.forget(values[-1].account_id),
    )
    mute_account = write(
        WorldCharacters.mute_account,
        lambda memory, account_id, *_, **__: memory.world_characters.forget(account_id),
    )
    standings = read(WorldCharacters.standings)
    set_admin_status = write(
        WorldCharacters.set_admin_status,
        lambda memory, *_, **__: memory.world_characters.forget_all(),
    )
    _of_account = read(WorldCharacters.of_account)

    async def of_account(self, account_id: int) -> Sequence[WorldCharacter]:
        """Return an account's characters that are not deleted."""
        return await self.memory.world_characters.get(
            account_id, lambda: self._of_account(account_id)
        )

    async def rank_of(self, account_id: int) -> int:
        """Return the rank of an account; see `emu.commands.registry.account_rank`."""
        return account_rank(await self.statuses_of(account_id))

    async def authority_of(self, account_id: int) -> int:
        """Return what `emu.commands.registry.account_authority` says of an account."""
        return account_authority(await self.statuses_of(account_id))


class AsyncBans(AsyncRepository[Bans]):
    """The bans as every login asks for them: in memory, parsed again when they have changed."""

    _read = read(Bans.every)

    def __init__(self, ways: StoreConnections) -> None:
        super().__init__(ways, lambda store: store.login.bans)
        self._rows: Sequence[BannedAddress] = ()
        self._bans = BanList(())

    async def every(self) -> Sequence[BannedAddress]:
        """Return all bans, ended ones too."""
        return await self.memory.bans.get("", self._read)

    async def is_address_banned(self, address: str, moment: Moment) -> bool:
        """Say whether a ban that has not ended covers an address."""
        rows = await self.every()
        if rows is not self._rows:
            self._rows = rows
            self._bans = BanList((ban.prefix, ban.until) for ban in rows)
        return self._bans.covers(address, moment)
