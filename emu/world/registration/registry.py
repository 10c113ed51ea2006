"""The world's side of the link to a login server: registration, status, zones, and replies.

`emu.net.link.client` sends and receives the messages. An error of a store becomes a reply code.
Requests for characters' equipment get no reply, because this world has no items.
Source: docs/protocol/link.md, docs/protocol/link.md#play, docs/protocol/link.md#batches,
docs/protocol/world/entering.md#admission.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import islice
from typing import Final

from emu.appearance import Models
from emu.errors import StoreError, Unanswered
from emu.gather import both
from emu.limits.addresses import parse_host
from emu.link.batches import ZONES_PER_BATCH, ZoneItem, ZoneUpdates, ZoneUpdatesRequest
from emu.link.messages import (
    DELETE,
    SERVER_VERSION,
    STATUS_FULL,
    STATUS_LOCKED,
    STATUS_UP,
    BasicCharUpdate,
    BugReport,
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
from emu.model import Present, WorldCharacter
from emu.processes.claiming import ClaimingKeys
from emu.processes.ports import Bus, Note, Presence, WorldCharacterStore, ZoneServers
from emu.reply_codes import PlayCode
from emu.times import Clock
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.registration.creation import CharacterCreation
from emu.world.reports import BUG_REPORTED, EntryRefused, WorldEvent
from emu.world.zones.definitions import Atlas

_PRIVATE = tuple(
    ipaddress.ip_network(network)
    for network in (
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "169.254.0.0/16",
        "::1/128", "fc00::/7", "fe80::/10",
    )
)  # fmt: skip


def is_private(address: str) -> bool:
    """Return whether an address is in a private, loopback or link-local network.

    A text that is not an IP address is in none.
    """
    try:
        found = parse_host(address)
    except ValueError:
        return False
    return any(found in network for network in _PRIVATE if network.version == found.version)


def address_for(client_address: str, public: str, internal: str | None) -> str:
    """Return the world's address for a client at `client_address`.

    The internal address, if there is one, is for two kinds of clients: those with a private
    address, and those with the world's own public address, which are behind the same router.
    """
    # Many home routers do not send packets for their own public address back into their network.
    if internal and (client_address == public or is_private(client_address)):
        return internal
    return public


class ZoneReport:
    """The zones that were not sent yet on this link.

    Each zone is sent once: a login server closes the link if a zone is repeated.
    """

    __slots__ = ("_sent", "_zones")

    def __init__(self, zones: Callable[[], Sequence[ZoneItem]]) -> None:
        self._zones = zones
        self._sent: set[int] = set()

    def restart(self) -> None:
        """Start again for a new link."""
        self._sent.clear()

    def next_batch(self, most: int) -> ZoneUpdates | None:
        """Return the next zones, at most `most`; None if all were sent."""
        # Asked again for each batch: an operator may have added zones since the last one.
        fresh = (zone for zone in self._zones() if zone.zone_id not in self._sent)
        batch = tuple(islice(fresh, min(most, ZONES_PER_BATCH)))
        self._sent.update(zone.zone_id for zone in batch)
        return ZoneUpdates(batch) if batch else None


class CharacterLocations:
    """Sends the login server each change of a character's zone, from all processes of the world.

    `send` sends a message, or keeps it for the next link.
    """

    __slots__ = ("_atlas", "_send", "_sent")

    def __init__(
        self, presence: Presence, atlas: Atlas, send: Callable[[ZoneUpdate], None]
    ) -> None:
        self._atlas = atlas
        self._send = send
        self._sent: dict[int, int] = {}
        """The last sent zone id of each character in the world."""
        presence.observe(self._changed)

    def _changed(self, char_id: int, present: Present | None) -> None:
        if present is None:
            self._sent.pop(char_id, None)
            return
        zone = self._atlas.get(present.zone_id)
        # Entering the same zone again changes nothing in the login server's list.
        if zone is None or self._sent.get(char_id) == present.zone_id:
            return
        self._sent[char_id] = present.zone_id
        self._send(ZoneUpdate(present.account_id, char_id, present.zone_id, zone.file))


def relay_bug_reports(bus: Bus, send: Callable[[BugReport], None]) -> None:
    """Send the login server the bug reports that players of all processes write."""

    def relay(note: Note) -> None:
        texts = {name: str(note[name]) for name in BUG_TEXTS}
        numbers = {name: int(note[name] or 0) for name in BUG_NUMBERS}
        send(BugReport(**texts, **numbers))  # type: ignore[arg-type]  # of the fields' types

    bus.subscribe(BUG_REPORTED, relay)


BUG_TEXTS: Final = (
    "category", "subcategory", "causes_crash", "reproducible", "summary", "description", "version",
    "player", "spawn_name",
)  # fmt: skip
BUG_NUMBERS: Final = ("account_id", "spawn_id", "zone_id")

TOO_OFTEN = PlayCode.TIMEOUT
"""The reply to an account that enters too often; the client says that it may try later."""


@dataclass(frozen=True, slots=True)
class RegistryConfig:
    """The world's registration: its name, account and addresses."""

    name: str
    account: str
    password: str = field(repr=False)
    """The link password itself; only its hash leaves the process."""
    address: str
    """The address for clients; like the internal one at most 79 characters."""
    port: int
    """The UDP port for clients."""
    internal_address: str | None = None
    """The address for clients with private addresses."""
    max_level: int = 0
    """The highest level of its characters; 0 states none."""
    server_version: str = SERVER_VERSION


@dataclass(slots=True, eq=False)
class WorldRegistry:
    """The world's answers to its login server.

    Raises `StructValueError` if the name, the account or an address does not fit its message.
    """

    config: RegistryConfig
    _: KW_ONLY
    characters: WorldCharacterStore
    creation: CharacterCreation
    admission: WorldAdmissionRules
    zone_servers: ZoneServers
    zones: Callable[[], Sequence[ZoneItem]]
    """Returns the zones for the login server."""
    models: Models
    clock: Clock
    report: Callable[[WorldEvent], None] = lambda _event: None
    """Reports an event to operators."""
    claiming_keys: ClaimingKeys | None = None
    """The keys of `admission` if they are stored beside the characters."""
    _zone_report: ZoneReport = field(init=False)

    def __post_init__(self) -> None:
        config = self.config
        self._zone_report = ZoneReport(self.zones)
        # The messages are encoded once here, so that a name or address that is too long fails when
        # the server starts and not at the first login.
        self.registration().encode()
        for address in (config.address, config.internal_address or ""):
            self._response(
                UsertoWorldReq(0, 0, 0), PlayCode.PROBLEM, 0, address, config.port
            ).encode()

    def registration(self) -> LSInfo:
        """Return the message that registers the world."""
        return LSInfo(
            name=self.config.name,
            address=self.config.address,
            account=self.config.account,
            password=hash_link_password(self.config.password),
            server_version=self.config.server_version,
        )

    def status(self) -> LSStatus:
        """Return the world's status message."""
        status = STATUS_UP
        if self.admission.locked:
            status = STATUS_LOCKED
        elif self.admission.is_full:
            status = STATUS_FULL
        presence = self.admission.presence
        return LSStatus(status, presence.players, presence.zones, self.config.max_level)

    def link_began(self) -> None:
        """Handle a new link: its login server needs every zone again."""
        self._zone_report.restart()

    async def answer(self, message: LinkMessage) -> Sequence[LinkMessage]:
        """Handle a message of the login server; return the replies."""
        if isinstance(message, UsertoWorldReq):
            answer, row = await self._answer_play(message)
            return [answer, *await self._body(row)]
        if isinstance(message, CharacterCreateRequest):
            version, body = message.client_version, message.request
            reply = await self.creation.create(version, body, locked=self.admission.locked)
            return [reply, *await self._body_of(reply.char_id, reply.response)]
        if isinstance(message, ZoneUpdatesRequest):
            zones = self._zone_report.next_batch(message.max_per_batch)
            return [zones] if zones else []
        if isinstance(message, BasicCharUpdate) and message.field == DELETE and message.data == 1:
            await self._delete(message.account_id, message.char_id)
        return []

    async def _answer_play(
        self, request: UsertoWorldReq
    ) -> tuple[UsertoWorldResp, WorldCharacter | None]:
        """Return the answer, and the character if it may enter."""
        account_id, char_id = request.account_id, request.char_id
        host, port = self.config.address, self.config.port
        # The limit comes before the store, so that repeated requests cost no query.
        reason = self.admission.reason_against(account_id, request.client_address, self.clock.now())
        if reason is not None:
            self.report(EntryRefused(account_id, request.client_address, reason))
            return self._response(request, TOO_OFTEN, 0, host, port), None
        row, there = None, None
        key = 0
        try:
            rows, expected = await self._asked(account_id)
            row = next((one for one in rows if one.id == char_id), None)
            response = self.admission.decide(rows, char_id, expected)
            if response == PlayCode.SUCCESS:
                (response, key), there = await both(
                    self.admission.issue(rows, account_id, char_id), self._node_of(row)
                )
            if response == PlayCode.SUCCESS:
                # Only keys that are issued count: a player who is refused by a full world may try
                # again at once.
                self.admission.count_entry(account_id, request.client_address, self.clock.now())
        except StoreError:
            # The login server waits for an answer, so an error of the store becomes one, too.
            response, key = PlayCode.LOADING_ERROR, 0
        except Unanswered:
            # A key that was issued meanwhile reaches nobody, and ends by itself.
            response, key = PlayCode.ZONE_DOWN, 0
        config = self.config
        address = address_for(request.client_address, config.address, config.internal_address)
        # The key is valid in every process, so the client may be sent directly to the one that
        # serves the zone.
        host, port = there or (address, config.port)
        granted = row if response == PlayCode.SUCCESS else None
        return self._response(request, response, key, host, port), granted

    async def _asked(self, account_id: int) -> tuple[Sequence[WorldCharacter], int]:
        """Return an account's characters, and how many unused keys belong to other accounts."""
        if self.claiming_keys is not None:
            # One question: of two, one would wait for the other's connection to the database.
            return await self.claiming_keys.with_characters(account_id)
        return await both(
            self.characters.of_account(account_id),
            self.admission.handoffs.held_by_others(account_id),
        )

    async def _node_of(self, row: WorldCharacter | None) -> tuple[str, int] | None:
        """Return host and port of the other node that runs the character's zone; None for here.

        A player whose zone cannot be asked for, or has no node for the moment, enters here, and is
        sent on later. Raises `Unanswered` if this process runs no zones: the player would play in a
        copy of the zone that nobody has placed, where what dies stands elsewhere.
        """
        if row is None:
            return None
        try:
            there = await self.zone_servers.elsewhere(row.zone_id)
        except StoreError:
            return None
        except Unanswered:
            if not self.zone_servers.may_run:
                raise
            return None
        return None if there is None else (there.host, there.port)

    async def _body_of(self, char_id: int, response: int) -> Sequence[LinkMessage]:
        """Return what `_body` does for a character that was just created."""
        if response != PlayCode.SUCCESS:
            return []
        try:
            return await self._body(await self.characters.find(char_id))
        except StoreError:
            return []

    async def _body(self, row: WorldCharacter | None) -> Sequence[LinkMessage]:
        """Return a message with the race and model of a character that may enter.

        A login server may have no model numbers, or an outdated one in its character list.
        """
        try:
            path = str(row.appearance.get("race_file", "")) if row else ""
            number = (await self.models.numbers([path])).get(path)
        except StoreError:
            return []
        # Without a number the login server keeps what it has, which is better than a wrong body.
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
        """Delete a character; the link has no reply to this. Raises `StoreError`."""
        # The store checks that the account owns the character: the link's numbers come from a
        # client's request.
        if await self.characters.delete(account_id, char_id):
            await self.admission.dismiss(char_id)
