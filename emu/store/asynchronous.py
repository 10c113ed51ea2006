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
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, Concatenate, Final, Generic, ParamSpec, Protocol, TypeVar

from emu.commands.registry import account_authority, account_rank
from emu.gather import both
from emu.limits.addresses import BanList
from emu.model import Account, Character, EntryOrigin, Handoff, WorldCharacter
from emu.processes.shared import LIFETIME, MOST_KEYS
from emu.store.accounts import AccountRepository, BannedAddress, Bans, Settings
from emu.store.batches import Batchable
from emu.store.characters import CharacterRepository
from emu.store.content_edits import ContentEdits
from emu.store.dead_spawns import DeadSpawns
from emu.store.guilds import GuildRepository
from emu.store.handoffs import HandoffRepository
from emu.store.mail import Mailboxes
from emu.store.memories import SpawnMemories
from emu.store.nodes import NodeTable
from emu.store.petitions import Petitions
from emu.store.repository import Repository, name_key
from emu.store.row_cache import StoreCache
from emu.store.store import Roster, Store
from emu.store.world_characters import WorldCharacters
from emu.store.worlds import ModelNumbers, ReportRepository, WorldRepository
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
        self.later = writes, connections.later
        self.persistent = writes, connections.persistent
        self.cache = connections.cache

    @property
    def read(self) -> tuple[R, Run]:
        """The repository of a reading store, and its `Run`."""
        return self._reads[0 if self._least_busy is None else self._least_busy()]


Port = Callable[Concatenate[AsyncRepository[R], P], Coroutine[Any, Any, T]]
"""A method of a port."""
Forget = Callable[..., None]
"""Removes the rows from the cache that a write makes invalid: `forget(cache, *arguments)`."""
Many = Callable[[R, Sequence[tuple[Any, ...]]], Sequence[Exception | None]]
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
    error of each or None. The calls then have no named arguments.
    """
    return _writing(attrgetter("later"), method, forget, many)


def persistent(
    method: Callable[Concatenate[R, P], T], forget: Forget = forget_all
) -> Port[R, P, T]:
    """Return the port's call for a write that is repeated while the database is locked."""
    return _writing(attrgetter("persistent"), method, forget)


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
    return accounts.find_listed(name, CharacterRepository(accounts.database))


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
        account, characters = await run(partial(_find_listed, repository, name))
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
        return {
            account_id
            for account_id, address in clients
            if await self._bans.is_address_banned(address, moment)
        }

    async def _open_of(self, asked: Sequence[int], moment: Moment) -> set[int]:
        """Return the accounts that are neither banned nor disabled nor removed."""
        if not self._knows_accounts or not asked:
            return set(asked)
        return set(await self.open_among(asked, moment))


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


class AsyncModels(AsyncRepository[ModelNumbers]):
    """Implements `emu.processes.ports.ModelSource`."""

    model_numbers = read(ModelNumbers.numbers)


class AsyncMemories(AsyncRepository[SpawnMemories]):
    """Implements `emu.processes.ports.MemoryStore`."""

    of_zone = read(SpawnMemories.of_zone)
    save_memories = later(SpawnMemories.save_memories, forget_nothing)
    spawns = read(SpawnMemories.spawns)
    mark_removed = write(SpawnMemories.mark_removed, forget_nothing)
    forget = write(SpawnMemories.forget, forget_nothing)


class AsyncContentEdits(AsyncRepository[ContentEdits]):
    """Implements `emu.processes.ports.ContentEditStore`."""

    every = read(ContentEdits.every)
    save_edits = write(ContentEdits.save_edits, forget_nothing)
    remove = write(ContentEdits.remove, forget_nothing)


class AsyncDeadSpawns(AsyncRepository[DeadSpawns]):
    """Implements `emu.processes.ports.DeadSpawnStore`."""

    of_zone = read(DeadSpawns.of_zone)
    save_dead = later(DeadSpawns.save_dead, forget_nothing)
    forget = write(DeadSpawns.forget, forget_nothing)


class AsyncSettings(AsyncRepository[Settings]):
    """Implements `emu.processes.settings.SettingStore`."""

    of_source = read(Settings.of_source)
    put = write(Settings.put, forget_nothing)


class AsyncNodes(AsyncRepository[NodeTable]):
    """Implements `emu.cluster.ports.NodeStore`."""

    take_term = write(NodeTable.take_term, forget_nothing)
    beat = write(NodeTable.beat, forget_nothing)
    set_content = write(NodeTable.set_content, forget_nothing)
    set_clock = write(NodeTable.set_clock, forget_nothing)
    set_leaving = write(NodeTable.set_leaving, forget_nothing)
    moment = read(NodeTable.moment)
    leave = write(NodeTable.leave, forget_nothing)
    nodes = read(NodeTable.nodes)
    set_state = write(NodeTable.set_state, forget_nothing)
    forget = write(NodeTable.forget, forget_nothing)
    placement = read(NodeTable.placement)
    places = read(NodeTable.places)
    claim = write(NodeTable.claim, forget_nothing)
    mark_full = write(NodeTable.mark_full, forget_nothing)
    release = write(NodeTable.release, forget_nothing)
    hold_lease = write(NodeTable.hold_lease, forget_nothing)
    release_lease = write(NodeTable.release_lease, forget_nothing)
    leases = read(NodeTable.leases)


class AsyncGuilds(AsyncRepository[GuildRepository]):
    """Implements `emu.processes.ports.GuildStore`."""

    find = read(GuildRepository.find)
    of_character = read(GuildRepository.of_character)
    named = read(GuildRepository.named)
    every = read(GuildRepository.every)
    revisions = read(GuildRepository.revisions)
    create = write(GuildRepository.create, forget_nothing)
    save_change = write(GuildRepository.save_change, forget_nothing)
    delete = write(GuildRepository.delete, forget_nothing)


def _of_player(cache: StoreCache, account_id: int, *_others: Any, **_named: Any) -> None:
    """Remove the world's characters of an account from the cache: their coins have changed."""
    cache.world_characters.forget(account_id)


def _of_players(
    cache: StoreCache, account_ids: Collection[int], *_others: Any, **_named: Any
) -> None:
    """Remove the world's characters of accounts from the cache, as `_of_player`."""
    for account_id in account_ids:
        cache.world_characters.forget(account_id)


class AsyncMail(AsyncRepository[Mailboxes]):
    """Implements `emu.processes.ports.MailStore`."""

    waiting = read(Mailboxes.waiting)
    find = read(Mailboxes.find)
    # Not deferred: a letter that is reported as sent is stored.
    send = write(
        Mailboxes.send,
        lambda cache, letter, *_, **__: cache.world_characters.forget(letter.account_id),
    )
    open = write(Mailboxes.open, _of_player)
    deliver = write(Mailboxes.deliver, forget_nothing)
    mark_read = write(Mailboxes.mark_read, forget_nothing)
    take = write(Mailboxes.take, _of_player)
    delete = write(Mailboxes.delete, forget_nothing)
    clear = write(Mailboxes.clear, forget_nothing)
    give_back = write(Mailboxes.give_back, forget_nothing)


class AsyncPetitions(AsyncRepository[Petitions]):
    """Implements `emu.processes.ports.PetitionStore`."""

    open = write(Petitions.open, forget_nothing)
    find = read(Petitions.find)
    every = read(Petitions.every)
    of_account = read(Petitions.of_account)
    unseen = read(Petitions.unseen)
    answer = write(Petitions.answer, forget_nothing)
    close = write(Petitions.close, forget_nothing)
    cancel = write(Petitions.cancel, forget_nothing)
    seen = later(Petitions.seen, forget_nothing)


class AsyncWorldCharacters(AsyncRepository[WorldCharacters]):
    """Implements `emu.processes.ports.WorldCharacterStore`."""

    create = write(
        WorldCharacters.create,
        lambda cache, character: cache.world_characters.forget(character.account_id),
    )
    find = read(WorldCharacters.find)
    find_named = read(WorldCharacters.find_named)
    statuses_of = read(WorldCharacters.statuses_of)
    statuses = read(WorldCharacters.statuses)
    claim = write(
        WorldCharacters.claim,
        lambda cache, account_id, *_, **__: cache.world_characters.forget(account_id),
    )
    delete = write(
        WorldCharacters.delete,
        lambda cache, account_id, *_, **__: cache.world_characters.forget(account_id),
    )
    # Deferred: the saves of a crowd share transactions. The save number refuses one that comes too
    # late.
    save_character = later(
        WorldCharacters.save_character,
        lambda cache, *values: cache.world_characters.forget(values[-1].account_id),
        WorldCharacters.save_characters,
    )
    mute_account = write(
        WorldCharacters.mute_account,
        lambda cache, account_id, *_, **__: cache.world_characters.forget(account_id),
    )
    pay = write(WorldCharacters.pay, _of_player)
    split = write(WorldCharacters.split, _of_players)
    standings = read(WorldCharacters.standings)
    set_admin_status = write(
        WorldCharacters.set_admin_status,
        lambda cache, *_, **__: cache.world_characters.forget_all(),
    )
    _of_account = read(WorldCharacters.of_account)

    async def of_account(self, account_id: int) -> Sequence[WorldCharacter]:
        """Return an account's characters that are not deleted."""
        return await self.cache.world_characters.get(
            account_id, lambda: self._of_account(account_id)
        )

    async def rank_of(self, account_id: int) -> int:
        """Return the rank of an account; see `emu.commands.registry.account_rank`."""
        return account_rank(await self.statuses_of(account_id))

    async def authority_of(self, account_id: int) -> int:
        """Return the authority of an account; see `emu.commands.registry.account_authority`."""
        return account_authority(await self.statuses_of(account_id))


class AsyncHandoffKeys(AsyncRepository[HandoffRepository]):
    """Implements `emu.processes.ports.HandoffKeys` for the processes of one database."""

    _issue = write(HandoffRepository.issue, forget_nothing)
    redeem = write(HandoffRepository.redeem, forget_nothing)
    held_by_others = read(HandoffRepository.held_by_others)
    withdraw = write(HandoffRepository.withdraw, forget_nothing)
    withdraw_account = write(HandoffRepository.withdraw_account, forget_nothing)
    withdraw_entries = write(HandoffRepository.withdraw_entries, forget_nothing)

    def __init__(
        self,
        connections: StoreConnections,
        draw: Callable[[], int],
        *,
        lifetime: float = LIFETIME,
        most: int = MOST_KEYS,
    ) -> None:
        """`draw` returns a random u32 that players cannot predict; any thread may call it.

        A key works for `lifetime` seconds; at most `most` are unused.
        """
        super().__init__(connections, lambda store: store.world.handoffs)
        self._draw = draw
        self._lifetime = lifetime
        self._most = most

    async def issue(
        self,
        account_id: int,
        char_id: int,
        name: str,
        rank: int = 0,
        entry: int = EntryOrigin.LOGIN,
        *,
        is_only: bool = False,
    ) -> int:
        """Return a new key, never 0. Raises `LimitExceeded` when too many are unused."""
        handoff = Handoff(account_id, char_id, name, rank, entry)
        return await self._issue(handoff, self._draw, self._lifetime, self._most, is_only=is_only)


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
        rows = await self._recent()
        # The cache returns the same object until it reads again. Parsing takes much longer than the
        # comparison, so it happens only after a change.
        if rows is not self._rows:
            if rows != self._rows:
                self._bans = BanList((ban.prefix, ban.until) for ban in rows)
            self._rows = rows
        return self._bans.covers(address, moment)
