"""Creates a character from a create request: checks the name, reads the appearance, stores the row.

The login server passes on the client's own bytes, with the real account id in them. Colors stay in
the encoding of the client; each row has a flag for it. Source: docs/protocol/characters.md#create,
docs/protocol/characters.md#create-reply, docs/protocol/link.md#create.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Final

from emu.appearance import SLIDER_FIELDS, color_components, is_class, is_race, slider
from emu.commands.registry import STATUS_BANNED_FOR_EVER
from emu.errors import DuplicateName, MalformedMessage, StoreAway, StoreError, UnknownStruct
from emu.limits.rates import Throttle, hourly
from emu.link.messages import CharacterCreateReply
from emu.model import Color, WorldCharacter, fits_appearance
from emu.processes.ports import WorldCharacterStore
from emu.reply_codes import CreateCode
from emu.structs import StructCatalog
from emu.times import Clock, Moment
from emu.world.rules import CreationRules
from emu.world.zones.definitions import Start

LEAST_LENGTH, MOST_LENGTH = 4, 15


class NameRules:
    """The rules for names: 4 to 15 letters A to Z in any case, without a blocked word."""

    __slots__ = ("_most", "_words")

    def __init__(self, blocked: Iterable[str] = (), most: int = MOST_LENGTH) -> None:
        """`most` letters are allowed."""
        self._most = most
        # An empty line in the list would block every name, because every name contains it.
        self._words: Sequence[str] = sorted({word.lower() for word in blocked if word})

    def reason_against(self, name: str) -> CreateCode | None:
        """Return the code that refuses a name, None if the name is allowed."""
        if not LEAST_LENGTH <= len(name) <= self._most:
            return CreateCode.BAD_NAME_LENGTH
        # `isalpha` alone accepts letters of every script, which clients cannot show.
        if not (name.isascii() and name.isalpha()):
            return CreateCode.INVALID_NAME
        lower = name.lower()
        # Anywhere in the name, because a blocked word is usually hidden between other letters.
        if any(word in lower for word in self._words):
            return CreateCode.NAME_FILTER
        return None


SIZES = frozenset({"body_size", "body_age", "soga_body_size", "soga_body_age"})
MODEL_SUFFIX = "_file"


@dataclass(frozen=True, slots=True)
class RequestedAppearance:
    """The appearance in a create request: model paths and sizes, colors and sliders, by field."""

    appearance: Mapping[str, int | str] = field(default_factory=dict)
    colors: Mapping[str, Color] = field(default_factory=dict)


def read_appearance(request: Mapping[str, Any], *, signed: bool) -> RequestedAppearance:
    """Return the appearance in a decoded create request; `signed` is the old color encoding.

    Every triple of floats is a color or three sliders. A triple of whole numbers is neither.
    """
    appearance: dict[str, int | str] = {}
    colors: dict[str, Color] = {}
    for name, value in request.items():
        if name in SLIDER_FIELDS:
            first, second, third = (slider(component) for component in value)
            colors[name] = Color(first, second, third, signed=True)
        elif name in SIZES:
            appearance[name] = slider(value)
        elif name.endswith(MODEL_SUFFIX):
            # A client can send any bytes; what is stored must be usable when it is read.
            if value and fits_appearance(value):
                appearance[name] = value
        elif isinstance(value, list) and len(value) == 3 and isinstance(value[0], float):
            # Recognized by their form and not by name: each version has other colors, and all are
            # stored.
            colors[name] = Color(*color_components(value, signed=signed), signed=signed)
    return RequestedAppearance(appearance, colors)


REPEATED: Final = 300.0
"""Seconds in which a request whose outcome is unknown may be repeated."""
MOST_UNKNOWN: Final = 1000
"""Requests whose outcome is unknown; the oldest is forgotten for the next one."""
ASKED: Final = attrgetter(
    "race", "class_", "gender", "deity", "starting_zone", "client_version", "appearance", "colors"
)


def is_made_by(row: WorldCharacter, first: WorldCharacter, again: WorldCharacter) -> bool:
    """Return whether `row` is the outcome of a request that is repeated as `again`."""
    return (
        row.name == first.name
        and row.created == first.created
        and again.created - first.created <= REPEATED
        and ASKED(first) == ASKED(again)
    )


MOST_GENDER: Final = 2
"""Male, female and neither; the models of all clients have no further one."""


def _unknown_choice(wanted: WorldCharacter) -> CreateCode | None:
    """Return the code for a race, class or gender that no client offers, None if all are known.

    EQ2Emulator never sends these codes and stores any number. What players, lists and scripts read
    of such a character is judgement: there is no name for it.
    """
    if not is_race(wanted.race):
        return CreateCode.INVALID_RACE
    if not is_class(wanted.class_):
        return CreateCode.INVALID_CLASS
    return CreateCode.INVALID_GENDER if wanted.gender > MOST_GENDER else None


STRUCT = "CreateCharacter"
BARE_STRUCT = "CreateCharacterBare"
"""The shorter request that the real 2006 client sends (docs/protocol/login.md#client-546)."""


@dataclass(slots=True, eq=False)
class CharacterCreation:
    """Creates characters."""

    rules: CreationRules
    names: NameRules
    store: WorldCharacterStore
    catalog: StructCatalog
    start_of: Callable[[WorldCharacter], Start]
    """Returns the starting place of a new character."""
    clock: Clock
    _made: Throttle = field(init=False)
    _unknown: dict[tuple[int, str], WorldCharacter] = field(default_factory=dict)
    """What was asked for when the database did not answer, by account and name."""

    def __post_init__(self) -> None:
        self._made = Throttle(hourly(self.rules.creations_per_hour))

    async def create(self, version: int, payload: bytes, *, locked: bool) -> CharacterCreateReply:
        """Create a character; return the reply for the login server, for any payload.

        The reply's account id is 0 if the request cannot be decoded.
        """
        try:
            request = self._decode(version, payload)
        except (UnknownStruct, MalformedMessage):
            return CharacterCreateReply(0, 0, CreateCode.UNKNOWN_ERROR)
        # Read before the name is checked, because the reply needs the account id in any case.
        wanted = self._read(request, version, self.clock.moment())
        account_id = wanted.account_id
        code = CreateCode.NO_SERVERS if locked else self.names.reason_against(wanted.name)
        code = code or _unknown_choice(wanted)
        if code is not None:
            return CharacterCreateReply(account_id, 0, code)
        try:
            code, char_id = await self._store_new(wanted)
        except StoreError:
            code, char_id = CreateCode.UNKNOWN_ERROR, 0
        return CharacterCreateReply(account_id, char_id, code)

    async def _store_new(self, wanted: WorldCharacter) -> tuple[CreateCode, int]:
        """Store a new character; return the reply code and the id. Raises `StoreError`."""
        others = await self.store.of_account(wanted.account_id)
        if any(row.admin_status == STATUS_BANNED_FOR_EVER for row in others):
            return CreateCode.UNKNOWN_ERROR_2, 0
        key = wanted.account_id, wanted.name.casefold()
        first = self._unknown.pop(key, None)
        made = first and next((row for row in others if is_made_by(row, first, wanted)), None)
        if made:
            return CreateCode.SUCCESS, made.id
        # The login server checks this as well, but only this world knows how many characters it
        # has.
        if len(others) >= self.rules.max_characters:
            return CreateCode.MAX_CHARACTERS, 0
        # Without this limit one account could take every good name, by creating and deleting.
        if not self._made.take(wanted.account_id, self.clock.now()):
            return CreateCode.OVERLOADED, 0
        try:
            made = await self.store.create(wanted)
        except DuplicateName:
            # A player may need several attempts to find a free name; only created ones count.
            self._made.give_back(wanted.account_id, self.clock.now())
            # The store decides, not a query before: two requests may come at the same time.
            return CreateCode.NAME_TAKEN, 0
        except StoreAway:
            # The store may have created it, and only the answer was lost.
            self._unknown[key] = wanted
            if len(self._unknown) > MOST_UNKNOWN:
                del self._unknown[next(iter(self._unknown))]
            raise
        except StoreError:
            self._made.give_back(wanted.account_id, self.clock.now())
            raise
        return CreateCode.SUCCESS, made.id

    def _decode(self, version: int, payload: bytes) -> Mapping[str, Any]:
        """Decode a request by the bare layout if it matches exactly, else by the usual one."""
        # Both layouts occur with the same version number. Only the length identifies the layout.
        first, last = self.rules.bare_requests
        if first <= version <= last:
            try:
                return self.catalog.layout(BARE_STRUCT, version, create_color=True).decode(payload)
            except MalformedMessage:
                pass
        return self.catalog.layout(STRUCT, max(1, version), create_color=True).decode_short(payload)

    def _read(self, request: Mapping[str, Any], version: int, moment: Moment) -> WorldCharacter:
        found = read_appearance(request, signed=version <= self.rules.signed_colors_up_to)
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
            appearance=found.appearance,
            colors=found.colors,
        )
        # Last, because the starting place depends on race, class and the chosen city.
        start = self.start_of(wanted)
        return replace(wanted, zone_id=start.zone_id, place=start.place)
