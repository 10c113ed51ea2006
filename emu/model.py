"""The values that login, world, store and link share: plain, frozen, without behavior.

Times are `emu.times.Moment`, names `str`; what a row id of 0 means is said with each.

The numbers are those of EQ2Emulator, which fit the older clients; what comes from elsewhere may
have others. Sources: docs/protocol/login.md#reply-codes, docs/protocol/characters.md#create-reply,
docs/protocol/characters.md#delete, docs/protocol/characters.md#play-reply.
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
    """One player's account as the store knows it."""

    id: int
    name: str
    """As it was typed when the account was made; looked up without regard to case."""
    password: str
    """Argon2id PHC string, or EQ2Emulator's 128 hex digits of SHA-512 until the next login."""
    enabled: bool = True
    banned_until: Moment | None = None
    """Unix time at which a ban ends; ``math.inf`` for ever, None when not banned."""
    ban_reason: str = ""
    created: Moment = UNKNOWN
    last_login: Moment | None = None
    last_address: str = ""
    last_client_version: int = 0

    def is_banned(self, moment: Moment) -> bool:
        """Say whether a ban is in force at a moment."""
        return self.banned_until is not None and lies_ahead(self.banned_until, moment)

    def state(self, moment: Moment) -> str:
        """Return ``disabled``, ``banned`` or ``enabled``, as operators are shown it."""
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
    """0 when the world could not even parse the request."""
    char_id: int
    response: int


@dataclass(frozen=True, slots=True)
class Title:
    """A title; `is_prefix`: it is borne before the name and not behind it."""

    text: str
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class Hotkey:
    """What one slot of a hotbar holds, in the client's own numbers."""

    bar: int
    slot: int
    type: int
    """1 spell, 2 item, 3 macro, 4 command."""
    icon: int = 0
    icon_type: int = 0
    ability: int = 0
    """Number of the spell or the item."""
    tier: int = 0
    text: str = ""
    """The command, or the name of the macro."""


@dataclass(frozen=True, slots=True)
class Membership:
    """A channel of players that a character is in, and the password it was entered by."""

    channel: str
    password: str = ""


@dataclass(frozen=True, slots=True)
class Color:
    """A color row: three components as stored, and whether they are signed.

    Source: docs/protocol/characters.md#looks.
    """

    red: int
    green: int
    blue: int
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Equipment:
    """What one equipment slot shows in the character list."""

    slot: int
    model: int
    color: tuple[int, int, int] = (255, 255, 255)
    highlight: tuple[int, int, int] = (255, 255, 255)


@dataclass(frozen=True, slots=True)
class Character:
    """One row of the login server's character list.

    `appearance` maps the field names of CharSelectProfile that hold model ids (``race_type``,
    ``hair_type`` ...) and ``body_size`` to numbers; `colors` maps color and slider field names
    to their rows.
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
    """Version of the client that created it; decides how its colors are coded."""
    deleted: bool = False
    appearance: Mapping[str, int] = field(default_factory=dict)
    colors: Mapping[str, Color] = field(default_factory=dict)
    equipment: Sequence[Equipment] = ()


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """A character as an operator knows it: in the list, in the built-in world, or in both."""

    id: int | None
    """Its row in the list; None when the list does not have it."""
    own_id: int | None
    """Its row in the built-in world; None when another world has it, or the world lost it."""
    char_id: int
    """Its id on its world."""
    name: str
    account_id: int
    account: str
    """Name of its account; empty when the account is another login server's."""
    world: str
    """Name of its world; empty for one that only the built-in world knows."""
    is_built_in: bool
    """Whether the built-in world is its world."""
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


class Durability(enum.StrEnum):
    """When a commit is written to disk; a killed process loses nothing in either case."""

    FAST = "fast"
    """Some time after it was answered: a power cut takes back what came since the last time."""
    SAFE = "safe"
    """Before it is answered: a power cut takes back nothing."""


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
"""The rank from which on somebody is told of hidden characters: a guide's."""
ANYBODY: Final = 0
"""The rank of players, and of whoever asks without having signed in."""


class EntryOrigin(IntEnum):
    """Where a character comes from that shows a hand-off key."""

    LOGIN = 0
    ZONE = 1
    """It is in the world and changes its zone."""
    ZONE_HIDDEN = 2
    """The same for a hidden character."""


class Concealable(Protocol):
    """What can be hidden: a spawn, or a character in the world."""

    @property
    def hidden(self) -> bool:
        """Whether it is."""


def may_see(rank: int, subject: Concealable) -> bool:
    """Decide whether somebody of a rank may know that `subject` is in the world.

    To whoever may not it does not exist: every list, count and search by name asks this function.
    """
    return rank >= SEES_HIDDEN or not subject.hidden


@dataclass(frozen=True, slots=True)
class Handoff:
    """Whom a hand-off key lets in."""

    account_id: int
    char_id: int
    name: str
    rank: int = 0
    """The character's rank when the key was given."""
    entry: int = 0
    """An `EntryOrigin`: where the character comes from."""

    @property
    def is_zoning(self) -> bool:
        """Whether the character is in the world and only changes its zone."""
        return self.entry != EntryOrigin.LOGIN

    @property
    def hidden(self) -> bool:
        """Whether the character is hidden while it changes its zone."""
        return self.entry == EntryOrigin.ZONE_HIDDEN


@dataclass(frozen=True, slots=True)
class Present:
    """One character that is in the world."""

    account_id: int
    char_id: int
    zone_id: int
    link_dead: bool = False
    name: str = ""
    level: int = 1
    class_: int = 0
    race: int = 0
    away: bool = False
    """Whether it is away from the keyboard."""
    hidden: bool = False
    """Whether only those who keep order may know that it is here."""
    process: str = ""
    """The process that it is in; filled in where it is noted."""
    since: Moment = UNKNOWN
    """When it came in or changed its zone; filled in where it is noted."""


class LoginCode(IntEnum):
    """First byte of a login reply, of the login server or of the world's door."""

    ACCEPTED = 0
    BAD_NAME_OR_PASSWORD = 1
    ALREADY_PLAYING = 2
    WRONG_VERSION = 6
    NO_PLAY_TIME = 7
    LACKS_FEATURES = 8
    UNKNOWN_REASON = 9
    """No client knows it, and so tells no wrong reason."""
    FLAGS = 10
    """Not a refusal: the second login reply, sent after every world list."""
    WRONG_BUILD = 11
    OLD_PASSWORD = 12


class CreateCode(IntEnum):
    """What became of a new character."""

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
    """What a banned account hears."""
    INVALID_FEATURES = 16
    INVALID_FEATURES_2 = 17
    INVALID_APPEARANCE = 18


class DeleteCode(IntEnum):
    """Whether a character was deleted."""

    REFUSED = 0
    SUCCESS = 1
    NOT_FOUND = 3


class PlayCode(IntEnum):
    """Whether a character may come into a world."""

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
    """-3 in the byte that the reply has for it."""


Place = tuple[float, float, float, float, int]
"""x, y, z in world units, heading in degrees, and the grid that clients name with a place."""


@dataclass(frozen=True, slots=True)
class CharacterStanding:
    """What of a stored character can change while it is played."""

    id: int
    name: str
    admin_status: int
    muted_until: Moment


@dataclass(frozen=True, slots=True)
class WorldCharacter:
    """One character as its world stores it."""

    id: int
    """0 for a row that is not stored yet; given by the store."""
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
    """Where it was last; None for the safe place of its zone."""
    muted_until: Moment = UNKNOWN
    """Until when it may not speak."""
    relations: tuple[tuple[int, str], ...] = ()
    """Names on its lists with the kind of list: 0 friends, 2 ignored."""
    titles: tuple[Title, ...] = ()
    """Titles it was given."""
    prefix: str = ""
    suffix: str = ""
    """The titles it bears, empty for none."""
    hotkeys: tuple[Hotkey, ...] = ()
    channels: tuple[Membership, ...] = ()
    revision: int = 0
    """Number of the save that this state is of; a later save has a greater one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BorneTitles:
    """The titles a character was given, and those of them that it bears."""

    given: tuple[Title, ...] = ()
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """What one save stores of a world's character: its place, and what else has changed.

    None stands for what has not changed. `account_id` and `created` say whose state it is: ids are
    given again in a database that begins anew.
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


BUILT_IN_ACCOUNT = "built-in"
"""Link account of the world in the login server's own process."""


@dataclass(frozen=True, slots=True)
class RegisteredWorld:
    """A registered world server (EQ2Emulator's table login_worldservers)."""

    id: int
    name: str
    """The name that players see; what the world calls itself does not count."""
    account: str
    password: str
    """Argon2id PHC string or SHA-512 hex digits of the link password; empty never matches."""
    description: str = ""
    enabled: bool = True
    last_address: str = ""
    login_version: str = ""


@dataclass(frozen=True, slots=True)
class WorldEntry:
    """A world as the world list shows it."""

    id: int
    name: str
    up: bool
    locked: bool
    players: int
    development: bool = False
    max_level: int = 0


@dataclass(frozen=True, slots=True)
class ZoneDescription:
    """A zone as a world describes it to the login server (ZoneUpdates).

    Source: docs/protocol/link.md#batches.
    """

    zone_id: int
    name: str
    description: str
