"""The world directory: the connected worlds, their reports, and requests to them.

It connects the links (`LinkedWorld`, driven by the shell) with the client side of the login
service, which uses it as `emu.login.ports.ConnectedWorlds`. It uses no socket and no clock. A
world's reports about itself and its answers take effect at once. Writes to the stores go through
one queue for each world, which keeps their order. Source: docs/protocol/link.md.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from emu.errors import EmuError, UnknownStruct
from emu.link.connection import BAD_PASSWORD, GHOST_KICK, HACKING, MessageReceived, WorldIntroduced
from emu.link.messages import (
    DELETE,
    MAX_CLIENT_ADDRESS,
    STATUS_FULL,
    STATUS_GONE,
    STATUS_LOCKED,
    STATUS_UP,
    TYPE_DEVELOPMENT,
    BasicCharUpdate,
    CharacterCreateReply,
    CharacterCreateRequest,
    LinkMessage,
    LSInfo,
    LSStatus,
    UsertoWorldReq,
    UsertoWorldResp,
)
from emu.login.events import LoginEvent, StoreFailed, WorldLeft, WorldRefused, WorldRegistered
from emu.login.ports import CharacterStore, LogStore, RegisteredWorlds, WorldObserver
from emu.login.settings import DirectoryConfig
from emu.login.world_admission import (
    PLAYER_LIMIT_TEXT,
    ZONE_LIMIT_TEXT,
    WorldAdmission,
    WorldRefusal,
    account_id_offset,
    account_of,
    check_introduction,
)
from emu.login.world_updates import UpdateQueues, UpdateStores, task_for
from emu.mailbox import Spawn
from emu.model import CreateResponse, PlayResponse
from emu.structs import StructCatalog
from emu.times import Clock, Moment, Monotonic
from emu.worlds import RegisteredWorld, WorldEntry

Key = TypeVar("Key", bound=Hashable)


class PendingAnswers(Generic[Key]):
    """Unanswered requests and when they expire; the same key may be requested several times."""

    __slots__ = ("_asked", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._asked: OrderedDict[Key, tuple[int, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._asked)

    def add_request(self, key: Key, expires: float, now: Monotonic) -> bool:
        """Add a request; return False when too many keys are unanswered."""
        self._expire(now)
        # A client may repeat a request, and the world answers each; so requests are counted, not
        # just marked. The key moves to the end because its expiry is the latest now.
        times, _ = self._asked.pop(key, (0, 0.0))
        # A world that answers nothing must not collect requests without bound.
        if not times and len(self._asked) >= self._limit:
            return False
        self._asked[key] = (times + 1, expires)
        return True

    def take_request(self, key: Key, now: Monotonic) -> bool:
        """Remove the request that an answer belongs to; return False when there is none."""
        self._expire(now)
        times, expires = self._asked.get(key, (0, 0.0))
        if times > 1:
            self._asked[key] = (times - 1, expires)
        elif times:
            del self._asked[key]
        return times > 0

    def waiting(self, now: Monotonic) -> bool:
        """Return whether any request is unanswered."""
        self._expire(now)
        return bool(self._asked)

    def _expire(self, now: Monotonic) -> None:
        # The first one is the oldest, because each renewal moves its key to the end.
        while self._asked:
            key, (_, expires) = next(iter(self._asked.items()))
            if expires > now:
                return
            del self._asked[key]


class LinkedWorld(Protocol):
    """One link to a world, as the directory uses it."""

    @property
    def address(self) -> str:
        """The world's IP address."""

    @property
    def closed(self) -> bool:
        """Whether the link is over."""

    def send(self, message: LinkMessage, now: Monotonic) -> None:
        """Send a message; do nothing on a closed link."""

    def accept(self, now: Monotonic) -> None:
        """Confirm the registration."""

    def refuse(self, text: str, reason: str, now: Monotonic) -> None:
        """Send a fatal error and end the link."""

    def close(self, reason: str, now: Monotonic) -> None:
        """End the link without a message."""


class ConnectedWorld:
    """A world that is registered and connected."""

    __slots__ = ("creates", "entry", "link", "plays", "recorded_at", "status", "world")

    def __init__(
        self, link: LinkedWorld, world: RegisteredWorld, entry: WorldEntry, limit: int
    ) -> None:
        self.link = link
        self.world = world
        self.entry = entry
        self.status = 0
        # Before any report, so that the first one is recorded at once.
        self.recorded_at = float("-inf")
        self.plays: PendingAnswers[tuple[int, int]] = PendingAnswers(limit)
        self.creates: PendingAnswers[int] = PendingAnswers(limit)


WorldState = tuple[bool, bool]
"""Up and locked: all that a status message can hold."""

GONE: WorldState = (False, False)


def state_of(world: WorldEntry) -> WorldState:
    """Return the state of a listed world."""
    return world.up, world.up and world.locked


class WorldStates:
    """The states of all worlds; a world that is not connected is `GONE`."""

    def __init__(self, worlds: Iterable[WorldEntry]) -> None:
        self._states = {world.id: state_of(world) for world in worlds if world.up}

    def __getitem__(self, world_id: int) -> WorldState:
        return self._states.get(world_id, GONE)

    def change(self, world_id: int, state: WorldState) -> bool:
        """Store a world's state; return False when it is unchanged."""
        if self[world_id] == state:
            return False
        if state == GONE:
            del self._states[world_id]
        else:
            self._states[world_id] = state
        return True


MAX_CREATE_SIZE = 64 * 1024
"""Largest create request that is passed on, in bytes; real ones have under 2 KiB."""


class WorldDirectory:
    """The connected worlds; implements `emu.login.ports.ConnectedWorlds`.

    The owner of a link reports to `link_event` and `link_closed`.

    `catalog` has the layouts of create requests, `spawn` starts a coroutine, and `report` receives
    operator events.
    """

    def __init__(
        self,
        config: DirectoryConfig,
        *,
        worlds: RegisteredWorlds,
        characters: CharacterStore,
        logs: LogStore,
        is_address_banned: Callable[[str, Moment], Awaitable[bool]],
        catalog: StructCatalog,
        spawn: Spawn,
        clock: Clock,
        report: Callable[[LoginEvent], None],
    ) -> None:
        self.config = config
        """May be replaced at any time; a change of `new_worlds` has no effect."""
        self._admission = WorldAdmission(worlds, is_address_banned, clock, config.new_worlds)
        self._store = worlds
        self._catalog = catalog
        self._stores = UpdateStores(characters, worlds, logs)
        self._spawn = spawn
        self._clock = clock
        self._report = report
        self._observer: WorldObserver | None = None
        self._by_id: dict[int, ConnectedWorld] = {}
        self._by_link: dict[LinkedWorld, ConnectedWorld] = {}
        self._updates = UpdateQueues(spawn, config.waiting_updates, self._update_failed)
        self.counters: Counter[str] = Counter()
        """Refusals, kicks and ignored messages, by reason."""

    # The client side of the login service (emu.login.ports.ConnectedWorlds).

    def observe(self, observer: WorldObserver) -> None:
        """Set the subscriber to changes of worlds."""
        self._observer = observer

    def listed(self) -> Sequence[WorldEntry]:
        """Return the connected worlds, by ascending id."""
        return [self._by_id[world_id].entry for world_id in sorted(self._by_id)]

    def connected(self, world_id: int) -> WorldEntry | None:
        """Return a world that is connected now."""
        found = self._by_id.get(world_id)
        return found.entry if found else None

    def request_play(
        self, world_id: int, account_id: int, char_id: int, client_address: str, now: Monotonic
    ) -> bool:
        """Request a character's entry from a world; return False when the world cannot be asked.

        An address that does not fit the message (most IPv6) is omitted.
        """
        found = self._by_id.get(world_id)
        key = (account_id, char_id)
        # The request is noted before it is sent, because the answer may come within `send`.
        if found is None or not found.plays.add_request(key, now + self.config.answer_memory, now):
            return False
        # The field has a fixed width; a cut address would be a wrong one.
        address = client_address if len(client_address) <= MAX_CLIENT_ADDRESS else ""
        request = UsertoWorldReq(account_id, char_id, world_id, client_address=address)
        found.link.send(request, now)
        return True

    def request_create(
        self, world_id: int, account_id: int, client_version: int, payload: bytes, now: Monotonic
    ) -> bool:
        """Pass a create request on with the real account id in it.

        Return False as `request_play` does.
        """
        found = self._by_id.get(world_id)
        if found is None or len(payload) > MAX_CREATE_SIZE:
            return False
        try:
            # The client does not know its account id; the login server writes the real one over the
            # four bytes that every layout has for it.
            place = account_id_offset(self._catalog, client_version)
        except UnknownStruct:
            # Refused here, because a request without the right account id would create a character
            # for nobody.
            return False
        if not found.creates.add_request(account_id, now + self.config.answer_memory, now):
            return False
        body = bytearray(payload)
        # A shorter request cannot be decoded by the world, which then answers with an error.
        if len(body) >= place + 4:
            struct.pack_into("<I", body, place, account_id)
        found.link.send(CharacterCreateRequest(client_version, bytes(body)), now)
        return True

    def notify_delete(self, world_id: int, account_id: int, char_id: int, now: Monotonic) -> None:
        """Notify a world that a character was deleted."""
        found = self._by_id.get(world_id)
        if found is not None:
            found.link.send(BasicCharUpdate(account_id, char_id, DELETE, 1), now)

    # Reports of the links.

    def link_event(self, link: LinkedWorld, event: object, now: Monotonic) -> None:
        """Handle an event of a link, except `LinkClosed`: see `link_closed`."""
        if isinstance(event, WorldIntroduced):
            refusal = check_introduction(event.info, self.config)
            if refusal is not None:
                self._refuse(link, event.info, refusal, now)
            else:
                self._spawn(self._register(link, event.info))
        elif isinstance(event, MessageReceived):
            found = self._by_link.get(link)
            # A link that was refused may still deliver messages which were read before.
            if found is not None and not link.closed:
                self._receive(found, event.message, now)

    def link_closed(self, link: LinkedWorld, reason: str, now: Monotonic) -> None:
        """Remove a link that is down, and its world unless a new link has replaced this one."""
        found = self._by_link.pop(link, None)
        if found is None:
            return
        world = found.world
        self._report(WorldLeft(link.address, world.name, world.id, reason))
        # The end of the old link can be noticed long after the new one has registered.
        if self._by_id.get(world.id) is not found:
            return  # a new link of the same world has replaced this one
        del self._by_id[world.id]
        moment = self._clock.moment()
        self._updates.put(
            # In the world's queue, so that it cannot overtake a status that still waits.
            world.id,
            lambda: self._store.record_status(world.id, STATUS_GONE, 0, 0, moment),
        )
        if self._observer is not None:
            self._observer.world_gone(world.id, now)

    # Commands of an operator.

    def kick(self, world_id: int, text: str, now: Monotonic) -> bool:
        """End a world's link and send `text` to its operator.

        Return False when it is not connected.
        """
        found = self._by_id.get(world_id)
        if found is None:
            return False
        self._kick(found, text, "kicked by an operator", now)
        return True

    def end_replaced(self, world_id: int, now: Monotonic) -> None:
        """End the link of a world that has linked to another login server since."""
        found = self._by_id.get(world_id)
        if found is not None:
            self.counters["linked to another login server"] += 1
            found.link.refuse(GHOST_KICK, "linked to another login server", now)

    async def revalidate(self) -> None:
        """End the links of worlds that were disabled, removed or banned since they registered."""
        # A copy: ending a link removes its world from the table.
        for found in list(self._by_id.values()):
            link, before = found.link, found.world
            try:
                reason = await self._admission.reason_to_go(link.address, before)
            except EmuError as error:
                self.counters["store failed"] += 1
                self._report(StoreFailed(link.address, before.id, str(error)))
                # The other worlds would meet the same failure of the store. The next call checks
                # all again.
                return
            if reason is not None:
                link.refuse(BAD_PASSWORD, reason, self._clock.now())

    # Registration.

    async def _register(self, link: LinkedWorld, info: LSInfo) -> None:
        try:
            world = await self._admission.identify(
                link.address, info, unregistered=self.config.unregistered_worlds
            )
        except EmuError as error:
            self._report(WorldRefused(link.address, account_of(info), str(error)))
            self.counters["store failed"] += 1
            link.close("store failed", self._clock.now())
            return
        now = self._clock.now()
        # The world may have given up while the store was read.
        if link.closed:
            return
        if isinstance(world, WorldRefusal):
            self._refuse(link, info, world, now)
        else:
            self._accept_world(link, info, world, now)

    def _refuse(
        self, link: LinkedWorld, info: LSInfo, refusal: WorldRefusal, now: Monotonic
    ) -> None:
        self.counters[refusal.reason] += 1
        self._report(WorldRefused(link.address, account_of(info), refusal.reason))
        link.refuse(refusal.text, refusal.reason, now)

    def _accept_world(
        self, link: LinkedWorld, info: LSInfo, world: RegisteredWorld, now: Monotonic
    ) -> None:
        development = info.server_type == TYPE_DEVELOPMENT
        entry = WorldEntry(
            id=world.id, name=world.name, up=True, locked=False, players=0, development=development
        )
        # A world that reconnects after a network failure is newer than its old link, which may not
        # have timed out yet.
        self._replace_link(world.id, now)
        found = ConnectedWorld(link, world, entry, self.config.unanswered)
        # In both tables before anything is published: an observer may send a request at once.
        self._by_id[world.id] = found
        self._by_link[link] = found
        version, moment = info.server_version, self._clock.moment()
        self._report(WorldRegistered(link.address, world.name, world.id, version))
        self._updates.put(
            world.id,
            lambda: self._store.world_connected(world.id, link.address, version, moment),
        )
        self._publish_change(entry, now)
        # Last, because it delivers the messages that were held, which need the world to be listed.
        link.accept(now)

    def _replace_link(self, world_id: int, now: Monotonic) -> None:
        """End the world's previous link; the answers to its requests can no longer come."""
        # Removed before its link ends, so that `link_closed` does not report the world as gone
        # again.
        ghost = self._by_id.pop(world_id, None)
        if ghost is None:
            return
        self.counters["replaced by a new link"] += 1
        ghost.link.refuse(GHOST_KICK, "replaced by a new link", now)
        if self._observer is not None:
            self._observer.world_gone(world_id, now)

    # Messages of a registered world.

    def _receive(self, found: ConnectedWorld, message: LinkMessage, now: Monotonic) -> None:
        if isinstance(message, LSStatus):
            self._receive_status(found, message, now)
        elif isinstance(message, UsertoWorldResp):
            self._receive_play(found, message, now)
        elif isinstance(message, CharacterCreateReply):
            self._receive_create(found, message, now)
        else:
            self._receive_update(found, message, now)

    def _receive_status(self, found: ConnectedWorld, status: LSStatus, now: Monotonic) -> None:
        if status.players > self.config.max_players:
            self._kick(found, PLAYER_LIMIT_TEXT, "too many players", now)
        elif status.zones > self.config.max_zones:
            self._kick(found, ZONE_LIMIT_TEXT, "too many zones", now)
        else:
            if status.players < 0 or status.zones < 0:
                # A wrong count harms nobody, but the end of the link would hide the world.
                self.counters["negative count in LSStatus"] += 1
                status = replace(status, players=max(status.players, 0), zones=max(status.zones, 0))
            entry = replace(
                found.entry,
                # A locked or full world is up, too: it is listed, and the world itself decides
                # about each player.
                up=status.status in (STATUS_UP, STATUS_LOCKED, STATUS_FULL),
                locked=status.status == STATUS_LOCKED,
                players=status.players,
                max_level=status.max_level,
            )
            # Only changes are published. Reports come every 15 s, and clients need not hear of
            # each.
            if entry != found.entry:
                found.entry = entry
                self._publish_change(entry, now)
            self._record_status(found, status, now)

    def _record_status(self, found: ConnectedWorld, status: LSStatus, now: Monotonic) -> None:
        # A world reports every 15 s; writing each report would keep the disk busy for no new
        # information.
        due = found.recorded_at + self.config.status_record_interval
        if status.status == found.status and now < due:
            return
        found.status = status.status
        found.recorded_at = now
        moment = self._clock.moment()
        world_id, players, zones = found.world.id, status.players, status.zones
        self._updates.put(
            world_id,
            lambda: self._store.record_status(world_id, status.status, players, zones, moment),
        )

    def _receive_play(
        self, found: ConnectedWorld, message: UsertoWorldResp, now: Monotonic
    ) -> None:
        key = (message.account_id, message.char_id)
        # A world may only answer for itself: otherwise it could send players of another world to
        # its address.
        if message.world_id != found.world.id:
            self.counters["play answer for another world"] += 1
        elif not found.plays.take_request(key, now):
            self.counters["play answer nobody asked for"] += 1
        elif self._observer is not None:
            answer = PlayResponse(
                world_id=found.world.id,
                account_id=message.account_id,
                char_id=message.char_id,
                access_key=message.access_key,
                response=message.response,
                address=message.address,
                port=message.port & 0xFFFF,
            )
            self._observer.play_answered(answer, now)

    def _receive_create(
        self, found: ConnectedWorld, message: CharacterCreateReply, now: Monotonic
    ) -> None:
        account_id = message.account_id
        # Account 0: the world could not read the request, so it cannot name the account.
        asked = (
            found.creates.take_request(account_id, now)
            if account_id
            else found.creates.waiting(now)
        )
        if not asked:
            self.counters["create answer nobody asked for"] += 1
        elif self._observer is not None:
            answer = CreateResponse(found.world.id, account_id, message.char_id, message.response)
            self._observer.create_answered(answer, now)

    def _receive_update(self, found: ConnectedWorld, message: LinkMessage, now: Monotonic) -> None:
        moment = self._clock.moment()
        task = task_for(message, found.world.id, self._stores, moment)
        if task is None:
            self.counters["message ignored"] += 1
        elif not self._updates.put(found.world.id, task):
            # The end of the link bounds the memory. To drop single updates would leave stored
            # characters wrong without a sign.
            self._kick(found, HACKING, "too many updates waiting", now)

    # Helpers.

    def _publish_change(self, entry: WorldEntry, now: Monotonic) -> None:
        if self._observer is not None:
            self._observer.world_changed(entry, now)

    def _kick(self, found: ConnectedWorld, text: str, reason: str, now: Monotonic) -> None:
        self.counters[reason] += 1
        found.link.refuse(text, reason, now)

    def _update_failed(self, world_id: int, error: EmuError) -> None:
        self.counters["update not stored"] += 1
        # The link may be gone by now, because updates outlive it in their queue.
        found = self._by_id.get(world_id)
        self._report(StoreFailed(found.link.address if found else "?", world_id, str(error)))
