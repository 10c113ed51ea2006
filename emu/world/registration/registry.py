"""The world as its login server sees it: introduction, status, and answers to what is asked.

Knows no socket: `emu.net.link.client` carries the messages. The stores are awaited; whatever goes
wrong with one becomes a reply code. Source: docs/protocol/link.md,
docs/protocol/world/entering.md#admission, docs/protocol/link.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field

from emu.errors import StoreError, Unanswered
from emu.link.batches import ZoneItem, ZoneUpdatesRequest
from emu.link.characters import DELETE, BasicCharUpdate, CharacterCreateRequest, RaceUpdate
from emu.link.messages import LinkMessage
from emu.link.password import hash_link_password
from emu.link.play import UsertoWorldReq, UsertoWorldResp
from emu.link.registration import (
    SERVER_VERSION,
    STATUS_FULL,
    STATUS_LOCKED,
    STATUS_UP,
    LSInfo,
    LSStatus,
)
from emu.looks.models import Models
from emu.model import PlayCode, WorldCharacter
from emu.processes.ports import ZoneServers
from emu.processes.stores import WorldCharacterStore
from emu.times import Clock, Monotonic
from emu.world.door.admission import Admission
from emu.world.registration.addresses import address_for
from emu.world.registration.batches import ZoneReport
from emu.world.registration.creation import CharacterCreation


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
    admission: Admission
    zone_servers: ZoneServers
    zones: Callable[[], Sequence[ZoneItem]]
    """Returns the zones to describe to login servers."""
    models: Models
    clock: Clock
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
            answer = await self._answer_play(message)
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

    async def _answer_play(self, request: UsertoWorldReq) -> UsertoWorldResp:
        account_id, char_id = request.account_id, request.char_id
        rows: Sequence[WorldCharacter] = ()
        try:
            rows = await self.characters.of_account(account_id)
            response, key = await self.admission.grant(rows, account_id, char_id)
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
