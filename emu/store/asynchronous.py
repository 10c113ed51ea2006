"""The repositories' asynchronous interface: the ports of the login and world services.

A port maps each of its calls to a method of a repository and to a `Run`, which decides in which
thread and when it is carried out. The repository's method documents arguments and result.

Reads and writes use different connections to one database, so that a read never waits behind
writes that wait for SQLite's write lock. Rows that every login needs are cached, so that logins do
not wait for a disk; each write states which cached rows it makes invalid. A commit of another
program (`emu.database.sqlite.commits`) clears the cache. The module has no thread and no reactor.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, Concatenate, Final, Generic, ParamSpec, Protocol, TypeVar

from emu.gather import both
from emu.limits.addresses import BanList
from emu.model import Account, Character
from emu.store.accounts import AccountRepository, BannedAddress, Bans, Settings
from emu.store.audit import AuditTrail
from emu.store.batches import Batchable
from emu.store.characters import CharacterRepository
from emu.store.notes import OperatorNotes
from emu.store.repository import Repository, name_key
from emu.store.row_cache import StoreCache
from emu.store.store import Roster, Store
from emu.store.worlds import ReportRepository, WorldRepository
from emu.times import Clock, Moment, Monotonic

P = ParamSpec("P")
R = TypeVar("R", bound=Repository)
T = TypeVar("T")

BANS_KEPT: Final = 0.5
"""Seconds for which bans are not read again from a database that several programs change."""
MOST_NAMES: Final = 100_000
"""Most entries of the map from account ids to names."""


class Run(Protocol):
    """Carries out calls in order, and returns their results."""

    def __call__(self, call: Callable[[], T], /) -> Awaitable[T]:
        """Carry out one call."""


@dataclass(frozen=True, slots=True)
class StoreConnections:
    """Two stores over one database, and the `Run` for each kind of call."""

    reader: Store
    read: Run
    writer: Store
    write: Run
    later: Run
    """Deferred writes."""
    persistent: Run
    """Writes without delay, repeated until the database is not locked."""
    cache: StoreCache
    deferring: Store | None = None
    """The store of `later` and `persistent`; None for `writer`."""
    more_readers: Sequence[tuple[Store, Run]] = ()
    """Further stores that read, each with its `Run`."""
    least_busy: Callable[[], int] | None = None
    """Returns which of all readers has the fewest calls; None if there is only one."""


class AsyncRepository(Generic[R]):
    """One repository, with awaitable methods."""

    def __init__(self, connections: StoreConnections, repository: Callable[[Store], R]) -> None:
        """`repository` returns the repository of a store."""
        writes = repository(connections.writer)
        readers = ((connections.reader, connections.read), *connections.more_readers)
        self._reads = [(repository(store), run) for store, run in readers]
        self._least_busy = connections.least_busy
        self.write = writes, connections.write
        behind = writes if connections.deferring is None else repository(connections.deferring)
        self.later = behind, connections.later
        self.persistent = behind, connections.persistent
        self.cache = connections.cache

    @property
    def read(self) -> tuple[R, Run]:
        """The repository of a reading store, and its `Run`."""
        return self._reads[0 if self._least_busy is None else self._least_busy()]


Port = Callable[Concatenate[AsyncRepository[R], P], Coroutine[Any, Any, T]]
"""A method of a port."""
Forget = Callable[..., None]
"""Removes the rows from the cache that a write makes invalid: `forget(cache, *arguments)`."""
Many = Callable[[R, Sequence[tuple[Any, ...]]], Sequence[Any]]
"""A method of a repository for several calls of another one; see `later`."""


def forget_all(cache: StoreCache, *_values: Any, **_named: Any) -> None:
    """Clear the cache."""
    cache.forget_all()


def forget_nothing(_memory: StoreCache, *_values: Any, **_named: Any) -> None:
    """Keep the cache: it has no rows of these tables."""


def read(method: Callable[Concatenate[R, P], T]) -> Port[R, P, T]:
    """Return the port's call for a method that reads."""

    async def call(port: AsyncRepository[R], /, *values: P.args, **named: P.kwargs) -> T:
        # A reading call uses the reading connection, which never waits for SQLite's write lock.
        repository, run = port.read
        return await run(partial(method, repository, *values, **named))

    return call


def write(method: Callable[Concatenate[R, P], T], forget: Forget = forget_all) -> Port[R, P, T]:
    """Return the port's call for a method that writes."""
    return _writing(attrgetter("write"), method, forget)


def later(
    method: Callable[Concatenate[R, P], T], forget: Forget = forget_all, many: Many[R] | None = None
) -> Port[R, P, T]:
    """Return the port's call for a deferred write.

    `many` carries out several calls at once; it takes a list of their arguments, and returns the
    error or the result of each. The calls then have no named arguments.
    """
    return _writing(attrgetter("later"), method, forget, many)


def persistent(
    method: Callable[Concatenate[R, P], T], forget: Forget = forget_all, many: Many[R] | None = None
) -> Port[R, P, T]:
    """Return the port's call for a write that is repeated while the database is locked.

    `many` as for `later`.
    """
    return _writing(attrgetter("persistent"), method, forget, many)


def _writing(
    target: Callable[[AsyncRepository[R]], tuple[R, Run]],
    method: Callable[Concatenate[R, P], T],
    forget: Forget,
    many: Many[R] | None = None,
) -> Port[R, P, T]:
    async def call(port: AsyncRepository[R], /, *values: P.args, **named: P.kwargs) -> T:
        repository, run = target(port)
        try:
            if many is not None:
                batchable: Any = Batchable(repository, method, many, values)
                done: T = await run(batchable)
                return done
            return await run(partial(method, repository, *values, **named))
        finally:
            # After the write and not before it: a read in between would cache the old row again.
            # Also after a failure: a commit may have succeeded although its answer failed.
            forget(port.cache, *values, **named)

    return call


def _of_account(cache: StoreCache, account_id: int, *_others: Any, **_named: Any) -> None:
    """Remove an account's character list from the cache."""
    cache.characters.forget(account_id)


def _find_listed(
    accounts: AccountRepository, name: str
) -> tuple[Account | None, Sequence[Character]]:
    """Return the account of a name, and its characters that are not deleted."""
    (found,) = _find_many_listed(accounts, [(name,)])
    return found


def _find_many_listed(
    accounts: AccountRepository, asked: Sequence[tuple[str]]
) -> Sequence[tuple[Account | None, Sequence[Character]]]:
    """Return what `_find_listed` does, for several logins in one question."""
    names = [name for (name,) in asked]
    return accounts.find_listed(names, CharacterRepository(accounts.database))


class AsyncAccounts(AsyncRepository[AccountRepository]):
    """Implements `emu.login.ports.AccountStore`."""

    _record = later(AccountRepository.record_login, forget_nothing, AccountRepository.record_logins)
    add_account = write(
        AccountRepository.add, lambda cache, name, *_, **__: cache.accounts.forget(name_key(name))
    )
    # The new hash comes by account id, but the cache is by name. Such changes are rare, so all rows
    # go.
    set_password = write(
        AccountRepository.set_password, lambda cache, *_, **__: cache.accounts.forget_all()
    )

    def __init__(self, connections: StoreConnections) -> None:
        super().__init__(connections, lambda store: store.login.accounts)
        self._names: dict[int, str] = {}
        """Account id -> key of the account in the cache."""

    async def find_account(self, name: str) -> Account | None:
        """Return the account of this name, without regard to case."""
        key = name_key(name)
        return await self.cache.accounts.get(key, partial(self._find, key, name))

    async def record_login(
        self, account_id: int, address: str, version: int, moment: Moment
    ) -> None:
        """Store time, address and client version of an account's login."""
        # The write is deferred, so its row is put into the cache at once: the next login must not
        # read the old times.
        accounts = self.cache.accounts
        try:
            await self._record(account_id, address, version, moment)
        except BaseException:
            accounts.forget_all()
            raise
        key = self._names.get(account_id, "")
        account = accounts.known(key)
        if account is None:  # a read may be in progress, with the old values
            accounts.forget_all()
            return
        recorded = replace(
            account, last_login=moment, last_address=address, last_client_version=version
        )
        accounts.put(key, recorded)

    async def _find(self, key: str, name: str) -> Account | None:
        repository, run = self.read
        lists = self.cache.characters
        mark = lists.mark()
        # Both in one call, because a call to another thread costs more than a statement, and the
        # client asks for the list next.
        call: Any = Batchable(repository, _find_listed, _find_many_listed, (name,))
        found: tuple[Account | None, Sequence[Character]] = await run(call)
        account, characters = found
        if account is not None:
            lists.offer(account.id, characters, mark)
            if len(self._names) >= MOST_NAMES:
                # Only a shortcut: without an entry, the whole cache of accounts is cleared instead.
                self._names.clear()
            self._names[account.id] = key
        return account


class AsyncAccountAdministration(AsyncRepository[AccountRepository]):
    """Implements `emu.admin.ports.AccountAdministration`."""

    every = read(AccountRepository.every)
    # Not cached: an operator must see the present row.
    find_account = read(AccountRepository.find)
    add_account = write(AccountRepository.add)
    set_password = write(AccountRepository.set_password)
    set_enabled = write(AccountRepository.set_enabled)
    ban = write(AccountRepository.ban)


class AsyncAccountGate(AsyncRepository[AccountRepository]):
    """Implements `emu.processes.ports.AccountGate`."""

    open_among = read(AccountRepository.open_among)

    def __init__(
        self, connections: StoreConnections, bans: AsyncBans, clock: Clock, *, knows_accounts: bool
    ) -> None:
        """`knows_accounts`: the world uses the accounts of this process's login service."""
        super().__init__(connections, lambda store: store.login.accounts)
        self._bans = bans
        self._clock = clock
        self._knows_accounts = knows_accounts

    async def kept_out(self, clients: Sequence[tuple[int, str]]) -> Sequence[int]:
        """Return the accounts that are banned, disabled or removed, or whose address is banned."""
        moment = self._clock.moment()
        asked = {account_id for account_id, _ in clients}
        by_address, open_ = await both(
            self._banned(clients, moment), self._open_of(sorted(asked), moment)
        )
        return sorted(by_address | (asked - open_))

    async def _banned(self, clients: Sequence[tuple[int, str]], moment: Moment) -> set[int]:
        """Return the accounts whose address is banned."""
        banned = await self._bans.banned_among({address for _, address in clients}, moment)
        return {account_id for account_id, address in clients if address in banned}

    async def _open_of(self, asked: Sequence[int], moment: Moment) -> set[int]:
        """Return the accounts that are neither banned nor disabled nor removed."""
        if not self._knows_accounts or not asked:
            return set(asked)
        return set(await self.open_among(asked, moment))


class AsyncAudit(AsyncRepository[AuditTrail]):
    """Implements `emu.admin.ports.AuditStore`."""

    add_act = persistent(AuditTrail.add_act, forget_nothing)
    find = read(AuditTrail.find)


class AsyncNotes(AsyncRepository[OperatorNotes]):
    """Implements `emu.admin.ports.NoteStore`."""

    add_note = write(OperatorNotes.add_note, forget_nothing)
    of_account = read(OperatorNotes.of_account)
    remove = write(OperatorNotes.remove, forget_nothing)


class AsyncRoster(AsyncRepository[Roster]):
    """Implements `emu.admin.ports.CharacterList`."""

    every = read(Roster.every)
    delete = write(Roster.delete)
    restore = write(Roster.restore)


class AsyncCharacters(AsyncRepository[CharacterRepository]):
    """Implements `emu.login.ports.CharacterStore`."""

    # Only `characters_of` calls it, so every list goes through the cache.
    _read = read(CharacterRepository.of_account)
    add_character = write(CharacterRepository.add)
    delete_character = write(CharacterRepository.delete, _of_account)
    # Persistent: the world that reported the change does not report it again.
    update_character = persistent(CharacterRepository.update, _of_account)
    set_equipment = persistent(
        CharacterRepository.set_equipment, lambda cache, *_, **__: cache.characters.forget_all()
    )

    async def characters_of(self, account_id: int) -> Sequence[Character]:
        """Return the account's characters that are not deleted, oldest first."""
        return await self.cache.characters.get(account_id, lambda: self._read(account_id))


class AsyncWorlds(AsyncRepository[WorldRepository]):
    """Implements `emu.login.ports.RegisteredWorlds`."""

    find_world_by_account = read(WorldRepository.find_by_account)
    add_world = write(WorldRepository.add)
    world_connected = persistent(WorldRepository.connected, forget_nothing)
    record_status = persistent(WorldRepository.record_status, forget_nothing)
    set_zones = persistent(WorldRepository.set_zones, forget_nothing)
    zones_of = read(WorldRepository.zones_of)


class AsyncReports(AsyncRepository[ReportRepository]):
    """Implements `emu.login.ports.LogStore`."""

    add_client_log = later(
        ReportRepository.add_client_log, forget_nothing, ReportRepository.add_client_logs
    )
    add_bug_report = persistent(ReportRepository.add_bug_report, forget_nothing)


class AsyncSettings(AsyncRepository[Settings]):
    """Implements `emu.processes.settings.SettingStore`."""

    of_source = read(Settings.of_source)
    put = write(Settings.put, forget_nothing)


class AsyncBans(AsyncRepository[Bans]):
    """Banned addresses for every login: cached, and parsed again after a change."""

    _read = read(Bans.every)

    def __init__(
        self, connections: StoreConnections, now: Callable[[], Monotonic] | None = None
    ) -> None:
        """With `now`, the rows are read again after `BANS_KEPT` seconds only.

        That is for a database in which nothing shows the commits of other programs.
        """
        super().__init__(connections, lambda store: store.login.bans)
        self._rows: Sequence[BannedAddress] = ()
        self._bans = BanList(())
        self._now = now
        self._until = -math.inf

    async def every(self) -> Sequence[BannedAddress]:
        """Return all bans, ended ones too."""
        return await self.cache.bans.get("", self._read)

    async def _recent(self) -> Sequence[BannedAddress]:
        """Return all bans as they were a moment ago: each login asks, and they may be thousands."""
        if self._now is None:
            return await self.every()
        if self._now() >= self._until:
            rows = await self.every()
            self._until = self._now() + BANS_KEPT
            return rows
        return self._rows

    async def is_address_banned(self, address: str, moment: Moment) -> bool:
        """Return whether a present ban covers an address."""
        return bool(await self.banned_among((address,), moment))

    async def banned_among(self, addresses: Iterable[str], moment: Moment) -> Collection[str]:
        """Return the addresses that a present ban covers."""
        rows = await self._recent()
        # The cache returns the same object until it reads again. Parsing takes much longer than the
        # comparison, so it happens only after a change.
        if rows is not self._rows:
            if rows != self._rows:
                self._bans = BanList((ban.prefix, ban.until) for ban in rows)
            self._rows = rows
        covers = self._bans.covers
        return {address for address in addresses if covers(address, moment)}
