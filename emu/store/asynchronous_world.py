"""The asynchronous interface of the world's repositories; see `emu.store.asynchronous`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from emu.commands.registry import account_authority, account_rank
from emu.correspondence import NewLetter
from emu.houses import Payment
from emu.ledger import Movement
from emu.model import EntryOrigin, Handoff, SavedState, WorldCharacter
from emu.processes.claiming import UsedKey
from emu.processes.shared import LIFETIME, MOST_KEYS
from emu.store.asynchronous import (
    AsyncRepository,
    StoreConnections,
    forget_nothing,
    later,
    persistent,
    read,
    write,
)
from emu.store.content_edits import ContentEdits
from emu.store.guilds import GuildRepository
from emu.store.handoffs import HandoffRepository
from emu.store.houses import HouseRepository
from emu.store.ledger import LedgerRepository
from emu.store.mail import Mailboxes
from emu.store.memories import SpawnMemories
from emu.store.nodes import NodeTable
from emu.store.petitions import PetitionRepository
from emu.store.placement_facts import PlacementFacts
from emu.store.row_cache import StoreCache
from emu.store.store import Store
from emu.store.things import Things
from emu.store.world_characters import WorldCharacters
from emu.store.worlds import ModelNumbers

MODELS_KEPT: Final = 60.0
"""Seconds for which the numbers of models are not read again."""
MOST_MODELS: Final = 10_000
"""Most paths whose numbers are kept; one entry adds about ten."""


class AsyncModels(AsyncRepository[ModelNumbers]):
    """Implements `emu.processes.ports.ModelSource`; what it has read is kept for a while."""

    _read = read(ModelNumbers.numbers)

    def __init__(
        self,
        connections: StoreConnections,
        repository: Callable[[Store], ModelNumbers],
        now: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """Keep the numbers for `MODELS_KEPT` seconds of the monotonic clock `now`.

        They change only when an operator imports them.
        """
        super().__init__(connections, repository)
        self._now = now
        self._until = -math.inf
        self._numbers: dict[str, int | None] = {}
        """Path -> number, None for a path without one."""

    async def model_numbers(self, paths: Collection[str]) -> dict[str, int]:
        """Return the numbers of the known paths; paths are in lower case."""
        now = self._now()
        if now >= self._until or len(self._numbers) >= MOST_MODELS:
            self._numbers, self._until = {}, now + MODELS_KEPT
        numbers = self._numbers
        missing = [path for path in paths if path not in numbers]
        if missing:
            found = await self._read(missing)
            numbers.update((path, found.get(path)) for path in missing)
        return {path: number for path in paths if (number := numbers[path]) is not None}


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


class AsyncPlacementFacts(AsyncRepository[PlacementFacts]):
    """Implements `emu.processes.ports.PlacementFactStore`."""

    of_zone = read(PlacementFacts.of_zone)
    save = later(PlacementFacts.save, forget_nothing)
    forget = write(PlacementFacts.forget, forget_nothing)


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
    """Remove the world's characters of an account from the cache: one of them has changed."""
    cache.world_characters.forget(account_id)


def _of_row(
    cache: StoreCache, row: NewLetter | WorldCharacter | Payment, *_others: Any, **_named: Any
) -> None:
    """Remove the characters of the account that a row names, as `_of_player`."""
    cache.world_characters.forget(row.account_id)


def _of_movement(cache: StoreCache, movement: Movement, *_others: Any, **_named: Any) -> None:
    """Remove the world's characters of a movement's accounts from the cache, as `_of_player`."""
    for account_id in movement.accounts:
        cache.world_characters.forget(account_id)


class AsyncLedger(AsyncRepository[LedgerRepository]):
    """Implements `emu.processes.ports.LedgerStore`."""

    move = write(LedgerRepository.move, _of_movement)
    move_surely = persistent(LedgerRepository.move, _of_movement)
    move_later = later(LedgerRepository.move, _of_movement)
    bar = persistent(LedgerRepository.bar, _of_movement)
    # From the writer: what was just stored must be seen.
    in_bank = write(LedgerRepository.in_bank, forget_nothing)
    prune = write(LedgerRepository.prune, forget_nothing)


class AsyncThings(AsyncRepository[Things]):
    """Implements `emu.processes.ports.ThingStore`."""

    # From the writer: what a process has just stored must be seen by the next one.
    of = write(Things.of, forget_nothing)
    reserve = write(Things.reserve, forget_nothing)


class AsyncMail(AsyncRepository[Mailboxes]):
    """Implements `emu.processes.ports.MailStore`."""

    waiting = read(Mailboxes.waiting)
    find = read(Mailboxes.find)
    # Not deferred: a letter that is reported as sent is stored.
    send = write(Mailboxes.send, _of_row)
    send_surely = persistent(Mailboxes.send, _of_row)
    take_things = persistent(Mailboxes.take_things, _of_player)
    open = write(Mailboxes.open, _of_player)
    deliver = write(Mailboxes.deliver, forget_nothing)
    mark_read = write(Mailboxes.mark_read, forget_nothing)
    take_coins = write(Mailboxes.take_coins, _of_player)
    delete = write(Mailboxes.delete, forget_nothing)
    clear = write(Mailboxes.clear, forget_nothing)
    give_back = write(Mailboxes.give_back, forget_nothing)


class AsyncHouses(AsyncRepository[HouseRepository]):
    """Implements `emu.processes.house_store.HouseStore`."""

    # From the writer: what a process has just stored must be seen by the next one.
    owned = write(HouseRepository.owned, forget_nothing)
    find = write(HouseRepository.find, forget_nothing)
    of_home = read(HouseRepository.of_home)
    books = write(HouseRepository.books, forget_nothing)
    things = write(HouseRepository.things, forget_nothing)
    stand = write(HouseRepository.stand, forget_nothing)
    # Deferred: they share the transaction of a save that takes the player's status points.
    buy = later(HouseRepository.buy, _of_row)
    deposit = later(HouseRepository.deposit, _of_row)
    pay = later(HouseRepository.pay, _of_row)
    settle = write(HouseRepository.settle, forget_nothing)
    set_public = write(HouseRepository.set_public, forget_nothing)
    set_access = write(HouseRepository.set_access, forget_nothing)
    remove_access = write(HouseRepository.remove_access, forget_nothing)


class AsyncPetitions(AsyncRepository[PetitionRepository]):
    """Implements `emu.processes.ports.PetitionStore`."""

    open = write(PetitionRepository.open, forget_nothing)
    find = read(PetitionRepository.find)
    every = read(PetitionRepository.every)
    of_account = read(PetitionRepository.of_account)
    unseen = read(PetitionRepository.unseen)
    answer = write(PetitionRepository.answer, forget_nothing)
    close = write(PetitionRepository.close, forget_nothing)
    cancel = write(PetitionRepository.cancel, forget_nothing)
    seen = later(PetitionRepository.seen, forget_nothing)


class AsyncWorldCharacters(AsyncRepository[WorldCharacters]):
    """Implements `emu.processes.ports.WorldCharacterStore`."""

    create = write(WorldCharacters.create, _of_row)
    find = read(WorldCharacters.find)
    find_named = read(WorldCharacters.find_named)
    statuses_of = read(WorldCharacters.statuses_of)
    statuses = read(WorldCharacters.statuses)
    claim = write(WorldCharacters.claim, _of_player)
    delete = write(WorldCharacters.delete, _of_player)
    # Deferred: the saves of a crowd share transactions. The save number refuses one that comes too
    # late.
    _save_later, _save_at_once = (
        take(
            WorldCharacters.save_character,
            lambda cache, *values: cache.world_characters.forget(values[-1].account_id),
            WorldCharacters.save_characters,
        )
        for take in (later, persistent)
    )
    mute_account = write(WorldCharacters.mute_account, _of_player)
    standings = read(WorldCharacters.standings)
    set_admin_status = write(
        WorldCharacters.set_admin_status,
        lambda cache, *_, **__: cache.world_characters.forget_all(),
    )
    _of_account = read(WorldCharacters.of_account)

    async def save_character(
        self, char_id: int, state: SavedState, *, is_awaited: bool = False
    ) -> None:
        """Store the state of a character; with `is_awaited`, without waiting for other saves."""
        await (self._save_at_once if is_awaited else self._save_later)(char_id, state)

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


def _redeem_claiming(keys: HandoffRepository, account_id: int, key: int, holder: str) -> UsedKey:
    """Use a key and claim its character; see `HandoffRepository.redeem_claiming`."""
    return keys.redeem_claiming(account_id, key, holder, WorldCharacters(keys.database))


def _with_characters(
    keys: HandoffRepository, account_id: int
) -> tuple[Sequence[WorldCharacter], int]:
    """Return an account's characters, and the count of others' keys."""
    return keys.with_characters(account_id, WorldCharacters(keys.database))


class AsyncHandoffKeys(AsyncRepository[HandoffRepository]):
    """World keys for the processes of one database.

    Implements `emu.processes.ports.HandoffKeys` and `emu.processes.claiming.ClaimingKeys`.
    """

    _issue = write(HandoffRepository.issue, forget_nothing)
    redeem = write(HandoffRepository.redeem, forget_nothing)
    redeem_claiming = write(_redeem_claiming, _of_player)
    held_by_others = read(HandoffRepository.held_by_others)
    with_characters = read(_with_characters)
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
