"""Values that login, world, store and link share: plain and frozen.

Times are `emu.times.Moment`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Annotated, Any, Final, Protocol

from emu.facts import (
    I32,
    U8,
    U16,
    U32,
    AnyText,
    FlagFact,
    Integer,
    Listed,
    OneOf,
    PlaceColumns,
    Printable,
    Rank,
    Time,
    Values,
    is_appearance_number,
    is_text,
    is_whole,
)
from emu.ledger import MOST_COINS
from emu.shards import SHARDS, Shard
from emu.times import UNKNOWN, Moment, lies_ahead

LONGEST_NAME: Final = 64
LONGEST_TITLE: Final = 63
LONGEST_TEXT: Final = 255
"""Characters of a name, a title, and any other text."""
LONGEST_TRAVELS: Final = 16_000
LONGEST_PAST: Final = 65_536
LONGEST_CLIENT_DATA: Final = 65_536
LONGEST_JOURNAL: Final = 1_048_576
LONGEST_OPTIONS: Final = 1000
"""Characters of the texts that a character's row has."""
LAST_BAR: Final = 99
SPELL_KEY: Final = 1
COMMAND_KEY: Final = 4
"""The types of hotkeys that cast a spell and that send a command."""
LAST_STATUS: Final = 1000
BANNED: Final = -2
"""Lowest `admin_status`: banned permanently."""
LAST_REVISION: Final = 1 << 52
ANY_NUMBER: Final = Integer("number", -I32 - 1, U32)


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

    text: Annotated[str, Printable("title", 63, least=1, in_bytes=True)]
    is_prefix: Annotated[bool, FlagFact()] = False


@dataclass(frozen=True, slots=True)
class Hotkey:
    """One slot of a hotbar, in the client's numbers."""

    bar: Annotated[int, Integer("bar", 0, LAST_BAR)]
    slot: Annotated[int, Integer("slot", 0, LAST_BAR)]
    type: Annotated[int, ANY_NUMBER]
    """1 spell, 2 item, 3 macro, 4 command."""
    icon: Annotated[int, ANY_NUMBER] = 0
    icon_type: Annotated[int, ANY_NUMBER] = 0
    ability: Annotated[int, ANY_NUMBER] = 0
    """Number of the spell or item."""
    tier: Annotated[int, ANY_NUMBER] = 0
    text: Annotated[str, AnyText(LONGEST_TEXT)] = ""
    """The command, or the name of the macro."""


@dataclass(frozen=True, slots=True)
class KnownSkill:
    """A skill that a character has: its number, its value, and the most it can become."""

    id: Annotated[int, Integer("skill", 0, U32)]
    value: Annotated[int, Integer("value", 0, U16)]
    most: Annotated[int, Integer("most", 0, U16)]


@dataclass(frozen=True, slots=True)
class Membership:
    """A channel that a character has joined, with the channel's password."""

    channel: Annotated[str, Printable("channel", LONGEST_NAME, least=1)]
    password: Annotated[str, Printable("password", LONGEST_TEXT)] = ""


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


Place = tuple[float, float, float, float, int]
"""x, y, z in world units, heading in degrees, and the client's grid id."""


@dataclass(frozen=True, slots=True)
class CharacterStanding:
    """The stored values of a character that operators may change while it is played."""

    id: int
    name: str
    admin_status: int
    muted_until: Moment


def is_color(color: Color) -> bool:
    """Return whether the components of a color are bytes, with or without a sign."""
    return all(is_whole(one, -128, U8) for one in (color.red, color.green, color.blue))


def fits_appearance(value: object) -> bool:
    """Return whether a stored appearance may have a value: a number, or the path of a model."""
    return is_text(value, LONGEST_TEXT) or is_appearance_number(value)


_RELATIONS: Final = Listed(
    "friends", 400, "world_relations", "kind, place, name",
    (OneOf((0, 2)), Printable("name", LONGEST_NAME, least=1)),
)  # fmt: skip
_HOTKEYS: Final = Listed(
    "hotkeys", 500, "world_hotkeys", "bar, slot, type, icon, icon_type, ability, tier, text"
)
_SKILLS: Final = Listed("skills", 1000, "world_skills", "skill, value, most")
_TITLES: Final = Listed("titles", 250, "world_titles", "place, title, is_prefix")
_CLIENT_DATA: Final = Printable("client data", LONGEST_CLIENT_DATA)
_LANGUAGES: Final = Listed(
    "languages", 255, "world_languages", "language", (Integer("language", 1, U8),)
)


FULL: Final = -1
"""The health or power of a character that lacks nothing."""


class SavedKind(enum.Enum):
    """The facts of a character that are saved together when one of them changes.

    Each save has the place and the time played.
    """

    RELATIONS = "relations"
    TITLES = "titles"
    HOTKEYS = "hotkeys"
    CHANNELS = "channels"
    PLAYED = "played"
    OPTIONS = "options"
    TRAVELS = "travels"
    PAST = "past"
    CLIENT_DATA = "client data"
    PROGRESS = "progress"
    VITALS = "health and power"
    SHARDS = "spirit shards"
    QUESTS = "quests"


@dataclass(frozen=True, slots=True)
class WorldCharacter:
    """A character of the built-in world.

    A field declares how it is stored (`emu.facts`), and what is saved with it while the character
    is played.
    """

    id: int
    """The store assigns it; 0 before that."""
    account_id: Annotated[int, Integer("account number", 0, U32)]
    name: Annotated[str, Printable("name", LONGEST_NAME, "Character{id}", least=1)]
    race: Annotated[int, Integer("race", 0, U8)]
    class_: Annotated[int, Integer("class", 0, U8), SavedKind.PROGRESS]
    gender: Annotated[int, Integer("gender", 0, U8)]
    deity: Annotated[int, Integer("deity", 0, U8), SavedKind.PROGRESS]
    level: Annotated[int, Integer("level", 1, U8, 1), SavedKind.PROGRESS]
    starting_zone: Annotated[int, Integer("starting zone", 0, U32)]
    zone_id: Annotated[int, Integer("zone", 0, U32)]
    client_version: Annotated[int, Integer("client version", 0, U32)]
    created: Annotated[Moment, Time("time of creation")]
    last_played: Annotated[Moment, Time("time when it was played last"), SavedKind.PLAYED] = UNKNOWN
    admin_status: Annotated[int, Rank("rank", BANNED, LAST_STATUS)] = 0
    """-2 banned for ever, -1 banned, 0 player, 100 and up game master."""
    deleted: Annotated[bool, FlagFact()] = False
    appearance: Annotated[Mapping[str, int | str], Values("appearance", fits_appearance)] = field(
        default_factory=dict
    )
    """Model file names and numbers of the create request, by field name."""
    colors: Annotated[Mapping[str, Color], Values("colors", is_color)] = field(default_factory=dict)
    place: Annotated[Place | None, PlaceColumns()] = None
    """Its last place; None for the safe place of its zone."""
    muted_until: Annotated[Moment, Time("time until which it is muted")] = UNKNOWN
    """End of a mute."""
    relations: Annotated[tuple[tuple[int, str], ...], _RELATIONS, SavedKind.RELATIONS] = ()
    """Pairs of kind of list (0 friends, 2 ignored) and name."""
    titles: Annotated[tuple[Title, ...], _TITLES, SavedKind.TITLES] = ()
    """The titles that it has."""
    prefix: Annotated[str, Printable("prefix", LONGEST_TITLE), SavedKind.TITLES] = ""
    suffix: Annotated[str, Printable("suffix", LONGEST_TITLE), SavedKind.TITLES] = ""
    """The titles that it shows; empty for none."""
    hotkeys: Annotated[tuple[Hotkey, ...], _HOTKEYS, SavedKind.HOTKEYS] = ()
    channels: Annotated[
        tuple[Membership, ...],
        Listed("channels", 100, "world_memberships", "place, channel, password"),
        SavedKind.CHANNELS,
    ] = ()
    revision: Annotated[int, Integer("number of its last save", 0, LAST_REVISION)] = 0
    """Number of the save of this state; a later save has a greater number."""
    holder: Annotated[str, Printable("holder", LONGEST_TEXT)] = ""
    """The process that let it in last, in a world of several processes; empty in any other."""
    term: Annotated[int, Integer("term", 0, LAST_REVISION)] = 0
    """How often a process of such a world has let it in. Saves of earlier terms are refused."""
    tradeskill_class: Annotated[int, Integer("tradeskill class", 0, U8), SavedKind.PROGRESS] = 0
    tradeskill_level: Annotated[int, Integer("tradeskill level", 0, U8, 1), SavedKind.PROGRESS] = 1
    last_name: Annotated[str, Printable("last name", LONGEST_NAME), SavedKind.OPTIONS] = ""
    coins: Annotated[int, Integer("coins", 0, MOST_COINS)] = 0
    """All coins as copper: 100 copper are a silver, 100 silver a gold, 100 gold a platinum."""
    ledger_revision: Annotated[int, Integer("number of its movements", 0, LAST_REVISION)] = 0
    """How many movements of the ledger have changed its coins; newer coins have a greater one."""
    status_points: Annotated[int, Integer("status points", 0, U32), SavedKind.PROGRESS] = 0
    experience: Annotated[int, Integer("experience", 0, U32), SavedKind.PROGRESS] = 0
    """Experience points in this level."""
    experience_needed: Annotated[int, Integer("experience needed", 0, U32), SavedKind.PROGRESS] = 0
    """Points of this level that make the next; 0 if unknown."""
    experience_debt: Annotated[int, Integer("experience debt", 0, 100_000), SavedKind.PROGRESS] = 0
    """What deaths have cost and is not paid yet, in thousandths of a percent of a level."""
    vitality: Annotated[int, Integer("vitality", 0, 100_000), SavedKind.PROGRESS] = 0
    """How much more of a level is doubled, in thousandths of a percent of a level."""
    rested: Annotated[Moment, Time("time up to which it has rested"), SavedKind.PROGRESS] = UNKNOWN
    """Up to when vitality has grown and debt was forgiven."""
    health: Annotated[int, Integer("health", FULL, I32, FULL), SavedKind.VITALS] = FULL
    """Its health, 0 for a dead character, or `FULL`."""
    power: Annotated[int, Integer("power", FULL, I32, FULL), SavedKind.VITALS] = FULL
    tradeskill_experience: Annotated[int, Integer("craft points", 0, U32), SavedKind.PROGRESS] = 0
    """Points in its tradeskill level."""
    tradeskill_needed: Annotated[int, Integer("craft points, all", 0, U32), SavedKind.PROGRESS] = 0
    """Points of this tradeskill level that make the next; 0 if unknown."""
    shards: Annotated[tuple[Shard, ...], SHARDS, SavedKind.SHARDS] = ()
    """Its spirit shards, the first death first."""
    skills: Annotated[tuple[KnownSkill, ...], _SKILLS, SavedKind.PAST] = ()
    """Its skills; without any it has those of a new character."""
    languages: Annotated[tuple[int, ...], _LANGUAGES, SavedKind.PAST] = ()
    """Numbers of its languages; without any it has those of a new character."""
    options: Annotated[str, Printable("options", LONGEST_OPTIONS), SavedKind.OPTIONS] = ""
    """Words of the options that its player has switched (`emu.world.actors.options`)."""
    played: Annotated[int, Integer("time that it was played", 0, U32)] = 0
    """Seconds that it has been in the world."""
    travels: Annotated[str, Printable("travels", LONGEST_TRAVELS), SavedKind.TRAVELS] = ""
    """Its bind place, its discoveries and its instances (`emu.world.travel.records`)."""
    past: Annotated[str, Printable("past", LONGEST_PAST), SavedKind.PAST] = ""
    """What it has been through (`emu.world.actors.past`)."""
    client_data: Annotated[str, _CLIENT_DATA, SavedKind.CLIENT_DATA] = ""
    """What its client keeps (`emu.world.actors.client_data`)."""
    quests: Annotated[str, Printable("quests", LONGEST_JOURNAL), SavedKind.QUESTS] = ""
    """Its journal: open and completed quests, rewards that wait (`emu.quests.journal`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """One save of a world's character: its place, and the facts that have changed.

    `account_id` and `created` identify the character, because a new database assigns ids again.
    """

    char_id: int
    account_id: int
    created: Moment
    name: str
    revision: int
    zone_id: int
    place: Place
    played: int | None = None
    """None in a save of an earlier version."""
    term: int = 0
    """The character's term when this process let it in."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The changed facts by field of `WorldCharacter`: all those of one `SavedKind`, or none."""


BUILT_IN_ACCOUNT = "built-in"
"""Link account of the world in the login server's own process."""


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
