"""The world as its login server sees it: introduction, status, zones, and answers.

Source: docs/protocol/link.md#play, docs/protocol/world/entering.md#admission.

Each zone goes out once a link, since repeating one ends the link. What characters wear is asked for
as well; in a world without items there is nothing to tell. Source: docs/protocol/link.md#batches.

Source: docs/protocol/link.md, ZoneUpdate.

Knows no socket: `emu.net.link.client` carries the messages. The stores are awaited; whatever goes
wrong with one becomes a reply code. Source: docs/protocol/link.md,
docs/protocol/world/entering.md#admission, docs/protocol/link.md.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import islice

from emu.appearance import Models
from emu.errors import StoreError, Unanswered
from emu.limits.addresses import parse_host
from emu.link.batches import ZONES_PER_BATCH, ZoneItem, ZoneUpdates, ZoneUpdatesRequest
from emu.link.messages import (
    DELETE,
    SERVER_VERSION,
    STATUS_FULL,
    STATUS_LOCKED,
    STATUS_UP,
    BasicCharUpdate,
    CharacterCreateRequest,
    LinkMessage,
    LSInfo,
    LSStatus,
    RaceUpdate,
    UsertoWorldReq,
    UsertoWorldResp,
    ZoneUpdate,
)
from emu.link.settings import hash_link_password
from emu.model import PlayCode, WorldCharacter
from emu.processes.ports import Bus, Note, WorldCharacterStore, ZoneServers
from emu.processes.presence import ENTERED, LEFT
from emu.times import Clock, Monotonic
from emu.world.content.atlas import Atlas
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.events import EntryRefused, WorldEvent
from emu.world.registration.creation import CharacterCreation

_PRIVATE = tuple(
    ipaddress.ip_network(network)
    for network in (
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "169.254.0.0/16",
        "::1/128", "fc00::/7", "fe80::/10",
    )
)  # fmt: skip


def is_private(address: str) -> bool:
    """Say whether an address lies in a private, loopback or link-local network.

    Text that is no IP address lies in none.
    """
    try:
        found = parse_host(address)
    except ValueError:
        return False
    return any(found in network for network in _PRIVATE if network.version == found.version)


def address_for(client_address: str, public: str, internal: str | None) -> str:
    """Return the address to tell a client at `client_address`.

    The internal one, when there is one, is for clients with a private address and for those that
    come from the public address itself, that is through the same router.
    """
    if internal and (client_address == public or is_private(client_address)):
        return internal
    return public


class ZoneReport:
    """The zones that this link's login server has not been told yet."""

    __slots__ = ("_told", "_zones")

    def __init__(self, zones: Callable[[], Sequence[ZoneItem]]) -> None:
        self._zones = zones
        self._told: set[int] = set()

    def restart(self) -> None:
        """Begin again: a new link knows nothing."""
        self._told.clear()

    def next_batch(self, most: int) -> ZoneUpdates | None:
        """Return the next zones, at most `most`; None when all are told."""
        fresh = (zone for zone in self._zones() if zone.zone_id not in self._told)
        batch = tuple(islice(fresh, min(most, ZONES_PER_BATCH)))
        self._told.update(zone.zone_id for zone in batch)
        return ZoneUpdates(batch) if batch else None


class CharacterLocations:
    """Tells the login server of each change of a character's zone, in whatever process it is.

    `tell` sends a message, or keeps it for the next link.
    """

    __slots__ = ("_atlas", "_tell", "_told")

    def __init__(self, bus: Bus, atlas: Atlas, tell: Callable[[ZoneUpdate], None]) -> None:
        self._atlas = atlas
        self._tell = tell
        self._told: dict[int, int] = {}
        """Zone by character, of those who are in the world."""
        bus.subscribe(ENTERED, self._entered)
        bus.subscribe(LEFT, self._left)

    def _entered(self, note: Note) -> None:
        char_id, zone_id = int(note["char_id"] or 0), int(note["zone_id"] or 0)
        zone = self._atlas.get(zone_id)
        if zone is None or self._told.get(char_id) == zone_id:
            return
        self._told[char_id] = zone_id
        self._tell(ZoneUpdate(int(note["account_id"] or 0), char_id, zone_id, zone.file))

    def _left(self, note: Note) -> None:
        self._told.pop(int(note["char_id"] or 0), None)


TOO_OFTEN = PlayCode.TIMEOUT
"""The answer to an account that enters too often: the client shows that it may try later."""


@dataclass(frozen=True, slots=True)
class RegistryConfig:
    """How the world shows itself to login servers and their players."""

    name: str
    account: str
    password: str = field(repr=False)
    """The link password itself; only its hash leaves the process."""
    address: str
    """Address told to clients; at most 79 characters, like the internal one."""
    port: int
    """UDP port told to clients."""
    internal_address: str | None = None
    """Address told to clients with private addresses."""
    max_level: int = 0
    """Highest level of its characters; 0 tells none."""
    server_version: str = SERVER_VERSION


@dataclass(slots=True, eq=False)
class WorldRegistry:
    """Answers a login server, over the link that `emu.net.link.client` keeps.

    Raises `StructValueError` when name, account or an address does not fit the messages that carry
    it.
    """

    config: RegistryConfig
    _: KW_ONLY
    characters: WorldCharacterStore
    creation: CharacterCreation
    admission: WorldAdmissionRules
    zone_servers: ZoneServers
    zones: Callable[[], Sequence[ZoneItem]]
    """Returns the zones to describe to login servers."""
    models: Models
    clock: Clock
    report: Callable[[WorldEvent], None] = lambda _event: None
    """Takes what operators should know."""
    _zone_report: ZoneReport = field(init=False)

    def __post_init__(self) -> None:
        config = self.config
        self._zone_report = ZoneReport(self.zones)
        self.registration().encode()
        for address in (config.address, config.internal_address or ""):
            self._response(
                UsertoWorldReq(0, 0, 0), PlayCode.PROBLEM, 0, address, config.port
            ).encode()

    def registration(self) -> LSInfo:
        """Return how the world introduces itself."""
        return LSInfo(
            name=self.config.name,
            address=self.config.address,
            account=self.config.account,
            password=hash_link_password(self.config.password),
            server_version=self.config.server_version,
        )

    def status(self) -> LSStatus:
        """Return how the world is now."""
        status = STATUS_UP
        if self.admission.locked:
            status = STATUS_LOCKED
        elif self.admission.is_full:
            status = STATUS_FULL
        presence = self.admission.presence
        return LSStatus(status, presence.players, presence.zones, self.config.max_level)

    def link_began(self) -> None:
        """A new link begins; its login server wants to hear of every zone again."""
        self._zone_report.restart()

    async def answer(self, message: LinkMessage, now: Monotonic) -> Sequence[LinkMessage]:
        """Do what the login server asks, and return what to answer."""
        if isinstance(message, UsertoWorldReq):
            answer = await self._answer_play(message, now)
            return [answer, *await self._body(answer.char_id, answer.response)]
        if isinstance(message, CharacterCreateRequest):
            version, body = message.client_version, message.request
            moment, locked = self.clock.moment(), self.admission.locked
            reply = await self.creation.create(version, body, now, moment, locked=locked)
            return [reply, *await self._body(reply.char_id, reply.response)]
        if isinstance(message, ZoneUpdatesRequest):
            zones = self._zone_report.next_batch(message.max_per_batch)
            return [zones] if zones else []
        if isinstance(message, BasicCharUpdate) and message.field == DELETE and message.data == 1:
            await self._delete(message.account_id, message.char_id)
        return []

    async def _answer_play(self, request: UsertoWorldReq, now: Monotonic) -> UsertoWorldResp:
        account_id, char_id = request.account_id, request.char_id
        host, port = self.config.address, self.config.port
        reason = self.admission.reason_against(account_id, request.client_address, now)
        if reason is not None:
            self.report(EntryRefused(account_id, request.client_address, reason))
            return self._response(request, TOO_OFTEN, 0, host, port)
        rows: Sequence[WorldCharacter] = ()
        try:
            rows = await self.characters.of_account(account_id)
            response, key = await self.admission.grant(rows, account_id, char_id)
            if response == PlayCode.SUCCESS:
                self.admission.count_entry(account_id, request.client_address, now)
        except StoreError:
            response, key = PlayCode.LOADING_ERROR, 0
        config = self.config
        address = address_for(request.client_address, config.address, config.internal_address)
        host, port = self._process_of(rows, char_id) or (address, config.port)
        return self._response(request, response, key, host, port)

    def _process_of(self, rows: Sequence[WorldCharacter], char_id: int) -> tuple[str, int] | None:
        """Return where the process is that serves a character's zone, unless it is this one.

        Whose process cannot be reached comes in here, and is told so there.
        """
        zones = (row.zone_id for row in rows if row.id == char_id)
        try:
            return next((self.zone_servers.elsewhere(zone_id) for zone_id in zones), None)
        except Unanswered:
            return None

    async def _body(self, char_id: int, response: int) -> Sequence[LinkMessage]:
        """Return what tells the login server a character's race and body, once it said yes.

        Login servers need not know models; and a list that has the wrong one is mended.
        """
        if response != PlayCode.SUCCESS:
            return []
        try:
            row = await self.characters.find(char_id)
            path = str(row.appearance.get("race_file", "")) if row else ""
            number = (await self.models.numbers([path])).get(path)
        except StoreError:
            return []
        if row is None or number is None:
            return []
        return [RaceUpdate(row.account_id, row.id, number, row.race & 0xFF)]

    def _response(
        self, request: UsertoWorldReq, response: int, key: int, address: str, port: int
    ) -> UsertoWorldResp:
        return UsertoWorldResp(
            account_id=request.account_id,
            char_id=request.char_id,
            world_id=request.world_id,
            access_key=key,
            response=response,
            address=address,
            port=port,
            to_id=request.from_id,
        )

    async def _delete(self, account_id: int, char_id: int) -> None:
        """Delete a character; the login server is not told how it went. Raises `StoreError`."""
        if await self.characters.delete(account_id, char_id):
            await self.admission.dismiss(char_id)
