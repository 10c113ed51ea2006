"""Makes a character of a create request: names, appearance, what the store keeps.

Source: docs/protocol/characters.md#create-reply.

The coding itself is in `emu.appearance`; both codings are kept, and a row says which it has.

The login server hands the client's own bytes on, with the real account id in them
(docs/protocol/characters.md#create, docs/protocol/link.md#create). Codes are those of
docs/protocol/characters.md#create-reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from emu.appearance import SLIDER_FIELDS, color_parts, slider
from emu.commands.registry import STATUS_BANNED_FOR_EVER
from emu.errors import DuplicateName, MalformedMessage, StoreError, UnknownStruct
from emu.limits.rates import Throttle, hourly
from emu.link.messages import CharacterCreateReply
from emu.model import Color, CreateCode, WorldCharacter
from emu.processes.ports import WorldCharacterStore
from emu.structs import StructCatalog
from emu.times import Moment, Monotonic
from emu.world.content.definitions import Start
from emu.world.rules import CreationRules

LEAST_LENGTH, MOST_LENGTH = 4, 15


class NameRules:
    """The length, the letters A to Z in either case, and words that no name may hold."""

    __slots__ = ("_words",)

    def __init__(self, blocked: Iterable[str] = ()) -> None:
        self._words: Sequence[str] = sorted({word.lower() for word in blocked if word})

    def reason_against(self, name: str) -> CreateCode | None:
        """Return the create reply code that refuses a name; None when the name may be used."""
        if not LEAST_LENGTH <= len(name) <= MOST_LENGTH:
            return CreateCode.BAD_NAME_LENGTH
        if not (name.isascii() and name.isalpha()):
            return CreateCode.INVALID_NAME
        lower = name.lower()
        if any(word in lower for word in self._words):
            return CreateCode.NAME_FILTER
        return None


SIZES = frozenset({"body_size", "body_age", "soga_body_size", "soga_body_age"})
MODEL_SUFFIX = "_file"


@dataclass(frozen=True, slots=True)
class RequestedAppearance:
    """Model files and sizes by field name, and rows of colors and sliders by field name."""

    appearance: Mapping[str, int | str] = field(default_factory=dict)
    colors: Mapping[str, Color] = field(default_factory=dict)


def read_looks(request: Mapping[str, Any], *, signed: bool) -> RequestedAppearance:
    """Take the looks out of a decoded create request; `signed` is the old clients' color coding.

    Every triple of floats is a color or three sliders; triples of whole numbers are neither.
    """
    appearance: dict[str, int | str] = {}
    colors: dict[str, Color] = {}
    for name, value in request.items():
        if name in SLIDER_FIELDS:
            first, second, third = (slider(part) for part in value)
            colors[name] = Color(first, second, third, signed=True)
        elif name in SIZES:
            appearance[name] = slider(value)
        elif name.endswith(MODEL_SUFFIX):
            if value:
                appearance[name] = str(value)
        elif isinstance(value, list) and len(value) == 3 and isinstance(value[0], float):
            colors[name] = Color(*color_parts(value, signed=signed), signed=signed)
    return RequestedAppearance(appearance, colors)


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
