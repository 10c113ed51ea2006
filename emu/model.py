"""Values that login, world, store and link share: plain and frozen.

Times are `emu.times.Moment`. The codes are those of EQ2Emulator, for the older clients; other
servers may send other codes. Sources: docs/protocol/login.md#reply-codes,
docs/protocol/characters.md#create-reply, docs/protocol/characters.md#delete,
docs/protocol/characters.md#play-reply.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Protocol

from emu.times import UNKNOWN, Moment, lies_ahead


@dataclass(frozen=True, slots=True)
class Account:
    """One player's account."""

    id: int
    name: str
    """As it was typed at creation; compared without case."""
    password: str
    """Argon2id PHC string, or EQ2Emulator's 128 hex digits of SHA-512 until the next login."""
    enabled: bool = True
    banned_until: Moment | None = None
    """Unix time of the end of a ban; ``math.inf`` for ever, None without a ban."""
    ban_reason: str = ""
    created: Moment = UNKNOWN
    last_login: Moment | None = None
    last_address: str = ""
    last_client_version: int = 0

    def is_banned(self, moment: Moment) -> bool:
        """Return whether a ban applies at a moment."""
        return self.banned_until is not None and lies_ahead(self.banned_until, moment)

    def ban_end(self, moment: Moment) -> Moment | None:
        """Return the end of a ban that applies at a moment, None without one."""
        return self.banned_until if self.is_banned(moment) else None

    def state(self, moment: Moment) -> str:
        """Return ``disabled``, ``banned`` or ``enabled``, for operators."""
        if not self.enabled:
            return "disabled"
        return "banned" if self.is_banned(moment) else "enabled"


@dataclass(frozen=True, slots=True)
class PlayResponse:
    """A world's answer to a play request (UsertoWorldResp, docs/protocol/link.md#play)."""

    world_id: int
    account_id: int
    char_id: int
    access_key: int
    response: int
    """A play reply code of docs/protocol/characters.md#play-reply."""
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class CreateResponse:
    """A world's answer to a create request (CharacterCreate, docs/protocol/link.md#create)."""

    world_id: int
    account_id: int
    """0 if the world could not parse the request."""
    char_id: int
    response: int


@dataclass(frozen=True, slots=True)
class Title:
    """A title; with `is_prefix` it is shown before the name, otherwise after it."""

    text: str
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class Hotkey:
    """One slot of a hotbar, in the client's numbers."""

    bar: int
    slot: int
    type: int
    """1 spell, 2 item, 3 macro, 4 command."""
    icon: int = 0
    icon_type: int = 0
    ability: int = 0
    """Number of the spell or item."""
    tier: int = 0
    text: str = ""
    """The command, or the name of the macro."""


@dataclass(frozen=True, slots=True)
class KnownSkill:
    """A skill that a character has: its number, its value, and the most it can become."""

    id: int
    value: int
    most: int


@dataclass(frozen=True, slots=True)
class Membership:
    """A channel that a character has joined, with the channel's password."""

    channel: str
    password: str = ""


@dataclass(frozen=True, slots=True)
class Color:
    """A color: three components as stored, and whether they are signed.

    Source: docs/protocol/characters.md#looks.
    """

    red: int
    green: int
    blue: int
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Equipment:
    """One equipment slot in the character list."""

    slot: int
    model: int
    color: tuple[int, int, int] = (255, 255, 255)
    highlight: tuple[int, int, int] = (255, 255, 255)


@dataclass(frozen=True, slots=True)
class Character:
    """One row of the login server's character list.

    `appearance` maps fields of CharSelectProfile to numbers: model ids (``race_type``,
    ``hair_type`` ...) and ``body_size``. `colors` maps color and slider fields to colors.
    """

    id: int
    """Row id in the login store; 0 for a row that is not stored yet."""
    account_id: int
    world_id: int
    char_id: int
    """The character's id on its world."""
    name: str
    race: int = 0
    class_: int = 0
    gender: int = 0
    deity: int = 0
    level: int = 1
    tradeskill_class: int = 0
    tradeskill_level: int = 0
    zone_id: int = 0
    zone_name: str = ""
    zone_description: str = ""
    created: Moment = UNKNOWN
    last_played: Moment = UNKNOWN
    client_version: int = 0
    """Version of the client that created it; it determines the encoding of the colors."""
    deleted: bool = False
    appearance: Mapping[str, int] = field(default_factory=dict)
    colors: Mapping[str, Color] = field(default_factory=dict)
    equipment: Sequence[Equipment] = ()


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """A character for operators: in the list, in the built-in world, or in both."""

    id: int | None
    """Its row in the list; None if the list lacks it."""
    own_id: int | None
    """Its row in the built-in world; None if another world has it, or if the row is lost."""
    char_id: int
    """Its id on its world."""
    name: str
    account_id: int
    account: str
    """Name of its account; empty for an account of another login server."""
    world: str
    """Name of its world; empty if only the built-in world has the character."""
    is_built_in: bool
    """Its world is the built-in one."""
    level: int
    race: int
    class_: int
    gender: int
    zone_id: int
    client_version: int
    created: Moment
    last_played: Moment
    deleted: bool
    deleted_at: Moment | None
    rank: int | None = None
    """Its rank; None if another world has it. A negative one is a ban."""
    banned_until: Moment | None = None
    """End of its account's ban, as in `Account`."""
    holder: str = ""
    """The node that let it in last, in a cluster; empty without one."""


class Durability(enum.StrEnum):
    """When a commit is written to disk; a killed process loses nothing in either case."""

    FAST = "fast"
    """Some time after it is acknowledged: a power cut loses the commits since the last write."""
    SAFE = "safe"
    """Before it is acknowledged: a power cut loses nothing."""


@dataclass(frozen=True, slots=True)
class ClientLog:
    """One client log message, inflated and bounded."""

    kind: str
    """``Crash Log``, ``Verify Log``, ``Alert Log`` or ``Base Log``."""
    text: str
    account_id: int
    account_name: str
    address: str
    client_version: int
    received: Moment


SEES_HIDDEN: Final = 10
"""Lowest rank that sees hidden characters: a guide's."""
ANYBODY: Final = 0
"""The rank of players, and of requests without a signed-in user."""


class EntryOrigin(IntEnum):
    """Where the character of a world key comes from."""

    LOGIN = 0
    ZONE = 1
    """Another zone of the world."""
    ZONE_HIDDEN = 2
    """Another zone of the world, and the character is hidden."""


class Concealable(Protocol):
    """Something that can be hidden: a spawn, or a character in the world."""

    @property
    def hidden(self) -> bool:
        """It is hidden."""


def may_see(rank: int, subject: Concealable) -> bool:
    """Return whether a user of a rank may know that `subject` is in the world.

    Every list, count and search by name uses this function.
    """
    return rank >= SEES_HIDDEN or not subject.hidden


@dataclass(frozen=True, slots=True)
class Handoff:
    """The character that a world key admits."""

    account_id: int
    char_id: int
    name: str
    rank: int = 0
    """The character's rank when the key was issued."""
    entry: int = 0
    """An `EntryOrigin`: where the character comes from."""

    @property
    def is_zoning(self) -> bool:
        """The character is in the world and changes its zone."""
        return self.entry != EntryOrigin.LOGIN

    @property
    def hidden(self) -> bool:
        """The character changes its zone and is hidden."""
        return self.entry == EntryOrigin.ZONE_HIDDEN


@dataclass(frozen=True, slots=True)
class Present:
    """A character in the world."""

    account_id: int
    char_id: int
    zone_id: int
    link_dead: bool = False
    name: str = ""
    level: int = 1
    class_: int = 0
    race: int = 0
    away: bool = False
    """The player is away from the keyboard."""
    anonymous: bool = False
    """Lists of players do not show its level, class and zone to other players."""
    hidden: bool = False
    """Only ranks from `SEES_HIDDEN` may know that it is in the world."""
    process: str = ""
    """Name of its process; the presence table sets it."""
    since: Moment = UNKNOWN
    """Time of its entry or last change of zone; the presence table sets it."""


class LoginCode(IntEnum):
    """First byte of a login reply, of the login server or at zone entry."""

    ACCEPTED = 0
    BAD_NAME_OR_PASSWORD = 1
    ALREADY_PLAYING = 2
    WRONG_VERSION = 6
    NO_PLAY_TIME = 7
    LACKS_FEATURES = 8
    UNKNOWN_REASON = 9
    """No client knows this code, so none shows a wrong reason."""
    FLAGS = 10
    """No refusal: the second login reply, sent after every world list."""
    WRONG_BUILD = 11
    OLD_PASSWORD = 12


class CreateCode(IntEnum):
    """Result of a create request."""

    UNKNOWN_ERROR = 0
    SUCCESS = 1
    NO_SERVERS = 2
    PENDING = 3
    MAX_CHARACTERS = 4
    INVALID_RACE = 5
    INVALID_CITY = 6
    INVALID_CLASS = 7
    INVALID_GENDER = 8
    INVALID_FIRST_LEVEL = 9
    BAD_NAME_LENGTH = 10
    INVALID_NAME = 11
    NAME_FILTER = 12
    NAME_TAKEN = 13
    OVERLOADED = 14
    UNKNOWN_ERROR_2 = 15
    """Sent to a banned account."""
    INVALID_FEATURES = 16
    INVALID_FEATURES_2 = 17
    INVALID_APPEARANCE = 18


class DeleteCode(IntEnum):
    """Result of a delete request."""

    REFUSED = 0
    SUCCESS = 1
    NOT_FOUND = 3


class PlayCode(IntEnum):
    """Result of a play request."""

    PROBLEM = 0
    SUCCESS = 1
    ZONE_DOWN = 4
    CHARACTER_NOT_LOADED = 5
    CHARACTER_NOT_FOUND = 6
    ACCOUNT_IN_USE = 7
    TIMEOUT = 8
    SHUTTING_DOWN = 9
    LOADING_ERROR = 10
    EXCHANGE_SERVER = 11
    OTHER_REGION = 12
    INVALID_CLASS = 13
    TOO_MANY_CHARACTERS = 14
    EXPANSION_MISSING = 15
    BANNED = 18
    PROHIBITED = 19
    WORLD_FULL = 253
    """-3 as an unsigned byte."""


Place = tuple[float, float, float, float, int]
"""x, y, z in world units, heading in degrees, and the client's grid id."""


@dataclass(frozen=True, slots=True)
class CharacterStanding:
    """The stored values of a character that operators may change while it is played."""

    id: int
    name: str
    admin_status: int
    muted_until: Moment


@dataclass(frozen=True, slots=True)
class WorldCharacter:
    """A character of the built-in world."""

    id: int
    """The store assigns it; 0 before that."""
    account_id: int
    name: str
    race: int
    class_: int
    gender: int
    deity: int
    level: int
    starting_zone: int
    zone_id: int
    client_version: int
    created: Moment
    last_played: Moment = UNKNOWN
    admin_status: int = 0
    """-2 banned for ever, -1 banned, 0 player, 100 and up game master."""
    deleted: bool = False
    appearance: Mapping[str, int | str] = field(default_factory=dict)
    """Model file names and numbers of the create request, by field name."""
    colors: Mapping[str, Color] = field(default_factory=dict)
    place: Place | None = None
    """Its last place; None for the safe place of its zone."""
    muted_until: Moment = UNKNOWN
    """End of a mute."""
    relations: tuple[tuple[int, str], ...] = ()
    """Pairs of kind of list (0 friends, 2 ignored) and name."""
    titles: tuple[Title, ...] = ()
    """The titles that it has."""
    prefix: str = ""
    suffix: str = ""
    """The titles that it shows; empty for none."""
    hotkeys: tuple[Hotkey, ...] = ()
    channels: tuple[Membership, ...] = ()
    revision: int = 0
    """Number of the save of this state; a later save has a greater number."""
    holder: str = ""
    """The process that let it in last, in a world of several processes; empty in any other."""
    term: int = 0
    """How often a process of such a world has let it in. Saves of earlier terms are refused."""
    tradeskill_class: int = 0
    tradeskill_level: int = 1
    last_name: str = ""
    coins: int = 0
    """All coins as copper: 100 copper are a silver, 100 silver a gold, 100 gold a platinum."""
    status_points: int = 0
    experience: int = 0
    """Experience points in this level."""
    experience_needed: int = 0
    """Points of this level that make the next; 0 if unknown."""
    skills: tuple[KnownSkill, ...] = ()
    """Its skills; without any it has those of a new character."""
    languages: tuple[int, ...] = ()
    """Numbers of its languages; without any it has those of a new character."""
    options: str = ""
    """Words of the options that its player has switched (`emu.world.actors.options`)."""
    played: int = 0
    """Seconds that it has been in the world."""
    travels: str = ""
    """Its bind place, its discoveries and its instances (`emu.world.travel.records`)."""
    past: str = ""
    """What it has been through (`emu.world.actors.past`)."""
    client_data: str = ""
    """What its client keeps (`emu.world.actors.client_data`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BorneTitles:
    """The titles that a character has, and those that it shows."""

    given: tuple[Title, ...] = ()
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a character is by now: its classes and levels, and the points to the next level."""

    class_: int
    level: int
    tradeskill_class: int
    tradeskill_level: int
    experience: int
    experience_needed: int
    deity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """One save of a world's character: its place, and everything that has changed.

    None means "not changed". `account_id` and `created` identify the character, because a new
    database assigns ids again.
    """

    char_id: int
    account_id: int
    created: Moment
    name: str
    revision: int
    zone_id: int
    place: Place
    relations: tuple[tuple[int, str], ...] | None = None
    titles: BorneTitles | None = None
    hotkeys: tuple[Hotkey, ...] | None = None
    channels: tuple[Membership, ...] | None = None
    last_played: Moment | None = None
    options: str | None = None
    last_name: str | None = None
    played: int | None = None
    travels: str | None = None
    past: str | None = None
    client_data: str | None = None
    skills: tuple[KnownSkill, ...] | None = None
    languages: tuple[int, ...] | None = None
    progress: Progress | None = None
    term: int = 0
    """The character's term when this process let it in."""

    @property
    def belongings(self) -> bool:
        """Whether it changes more than place and time."""
        kinds = (
            self.relations, self.titles, self.hotkeys, self.channels, self.options, self.travels,
            self.past, self.client_data, self.progress,
        )  # fmt: skip
        return any(kind is not None for kind in kinds)


BUILT_IN_ACCOUNT = "built-in"
"""Link account of the world in the login server's own process."""


@dataclass(frozen=True, slots=True)
class RegisteredWorld:
    """A registered world server (EQ2Emulator's table login_worldservers)."""

    id: int
    name: str
    """The name that players see; the name that the world sends is ignored."""
    account: str
    password: str
    """Argon2id PHC string or SHA-512 hex digits of the link password; empty never matches."""
    description: str = ""
    enabled: bool = True
    last_address: str = ""
    login_version: str = ""


@dataclass(frozen=True, slots=True)
class WorldEntry:
    """An entry of the world list."""

    id: int
    name: str
    up: bool
    locked: bool
    players: int
    development: bool = False
    max_level: int = 0


@dataclass(frozen=True, slots=True)
class ZoneDescription:
    """A zone that a world describes to the login server (ZoneUpdates).

    Source: docs/protocol/link.md#batches.
    """

    zone_id: int
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class SpawnMemory:
    """What a spawn remembers, of itself or of one character."""

    zone_id: int
    spawn: str
    """The spawn's key in its zone; "" for the zone itself."""
    char_id: int
    """The character, 0 for none."""
    entries: str
    """A JSON object; "" for an empty memory."""
    changed: Moment

    @property
    def key(self) -> tuple[int, str, int]:
        """The primary key."""
        return self.zone_id, self.spawn, self.char_id
