"""Making a character from a create request: reading it, judging it, storing it.

The login server hands the client's own bytes on, with the real account id in them
(docs/protocol/characters.md#create, docs/protocol/link.md#create). Codes are those of
docs/protocol/characters.md#create-reply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from emu.commands.ranks import STATUS_BANNED_FOR_EVER
from emu.errors import DuplicateName, MalformedMessage, StoreError, UnknownStruct
from emu.limits.throttle import Throttle, hourly
from emu.link.characters import CharacterCreateReply
from emu.model import CreateCode, WorldCharacter
from emu.processes.stores import WorldCharacterStore
from emu.structs import StructCatalog
from emu.times import Moment, Monotonic
from emu.world.places.starts import Start
from emu.world.registration.looks import read_looks
from emu.world.registration.names import NameRules
from emu.world.rules import CreationRules

STRUCT = "CreateCharacter"
BARE_STRUCT = "CreateCharacterBare"
"""The request as the real 2006 client is said to send it (docs/protocol/login.md#client-546)."""


@dataclass(slots=True, eq=False)
class CharacterCreation:
    """Makes characters."""

    rules: CreationRules
    names: NameRules
    store: WorldCharacterStore
    catalog: StructCatalog
    start_of: Callable[[WorldCharacter], Start]
    """Says where one begins."""
    _made: Throttle = field(init=False)

    def __post_init__(self) -> None:
        self._made = Throttle(hourly(self.rules.creations_per_hour))

    async def create(
        self, version: int, payload: bytes, now: Monotonic, moment: Moment, *, locked: bool
    ) -> CharacterCreateReply:
        """Make a character and return the answer for the login server, whatever the payload is.

        The account id of the answer is 0 when no layout covers the client's version.
        """
        try:
            request = self._decode(version, payload)
        except (UnknownStruct, MalformedMessage):
            return CharacterCreateReply(0, 0, CreateCode.UNKNOWN_ERROR)
        wanted = self._read(request, version, moment)
        account_id = wanted.account_id
        code = CreateCode.NO_SERVERS if locked else self.names.reason_against(wanted.name)
        if code is not None:
            return CharacterCreateReply(account_id, 0, code)
        try:
            code, char_id = await self._store_new(wanted, now)
        except StoreError:
            code, char_id = CreateCode.UNKNOWN_ERROR, 0
        return CharacterCreateReply(account_id, char_id, code)

    async def _store_new(self, wanted: WorldCharacter, now: Monotonic) -> tuple[CreateCode, int]:
        """Return code and id. Raises `StoreError`."""
        others = await self.store.of_account(wanted.account_id)
        if any(row.admin_status == STATUS_BANNED_FOR_EVER for row in others):
            return CreateCode.UNKNOWN_ERROR_2, 0
        if len(others) >= self.rules.max_characters:
            return CreateCode.MAX_CHARACTERS, 0
        if not self._made.take(wanted.account_id, now):
            return CreateCode.OVERLOADED, 0
        try:
            made = await self.store.create(wanted)
        except DuplicateName:
            self._made.give_back(wanted.account_id, now)
            return CreateCode.NAME_TAKEN, 0
        return CreateCode.SUCCESS, made.id

    def _decode(self, version: int, payload: bytes) -> Mapping[str, Any]:
        """Read a request with the layout that fits it to the last byte, else with the usual one."""
        first, last = self.rules.bare_requests
        if first <= version <= last:
            try:
                return self.catalog.layout(BARE_STRUCT, version, create_color=True).decode(payload)
            except MalformedMessage:
                pass
        return self.catalog.layout(STRUCT, max(1, version), create_color=True).decode_short(payload)

    def _read(self, request: Mapping[str, Any], version: int, moment: Moment) -> WorldCharacter:
        looks = read_looks(request, signed=version <= self.rules.signed_colors_up_to)
        commoner = version <= self.rules.commoner_up_to
        wanted = WorldCharacter(
            id=0,
            account_id=request["account_id"],
            name=request["name"],
            race=request["race"],
            class_=0 if commoner else request["class"],
            gender=request["gender"],
            deity=request["deity"],
            level=self.rules.first_level,
            starting_zone=request["starting_zone"],
            zone_id=0,
            client_version=version,
            created=moment,
            appearance=looks.appearance,
            colors=looks.colors,
        )
        start = self.start_of(wanted)
        return replace(wanted, zone_id=start.zone_id, place=start.place)
