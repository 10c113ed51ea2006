"""The events of a client in the world, as frozen values.

`WorldClient.next_event` returns these, besides `Closed` and `Unexpected` of `emu.client.events`.
Places are world units with Y up; `index` is the number of a ghost at this client.
"""

from __future__ import annotations

from dataclasses import dataclass

from emu.client.events import Closed, Unexpected
from emu.client.world.windows import WindowEvent
from emu.world_stream.ghosts import GhostEntry


@dataclass(frozen=True, slots=True)
class Refused:
    """The world refuses the character; `code` is a login reply code."""

    code: int
    text: str


@dataclass(frozen=True, slots=True)
class ZoneToLoad:
    """The zone to load: its file, its name for people, and the character's place in it."""

    file: str
    description: str
    character: str
    x: float
    y: float
    z: float


@dataclass(frozen=True, slots=True)
class Stood:
    """The zone entry is complete: the character stands in its zone."""


@dataclass(frozen=True, slots=True)
class Appeared:
    """A spawn came into view: its ghost was created. `index` is its number in `Surroundings`."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class Updated:
    """Ghosts have changed; `Surroundings.part_fields` decodes the bytes of an entry."""

    time: int
    """The server's clock in milliseconds."""
    entries: tuple[GhostEntry, ...]


@dataclass(frozen=True, slots=True)
class Vanished:
    """A spawn went out of view: its ghost was destroyed; `name` is its last name."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class Heard:
    """A chat message; a client hears its own messages too.

    `channel` is ``say``, ``shout``, ``ooc``, ``tell``, ``group`` or another name of
    `data/world/chat.toml`. `to` is the addressee of a ``tell`` or "". `channel_name` is the name of
    a channel that players join.
    """

    channel: str
    speaker: str
    to: str
    text: str
    channel_name: str
    index: int | None
    """The speaker's ghost; None for one that this client does not have."""


@dataclass(frozen=True, slots=True)
class Emoted:
    """A player or NPC shows an emote; `text` may be empty, `animation` 0 for none."""

    index: int
    text: str
    animation: int


@dataclass(frozen=True, slots=True)
class BlowSeen:
    """Somebody strikes somebody; the damage of a blow that does not land is 0."""

    attacker: int
    defender: int
    damage: int


@dataclass(frozen=True, slots=True)
class CastRefused:
    """A spell or a blow of this client does not begin, or it is broken off."""

    code: int
    """The number of the client's own text for the reason, which differs between versions."""


@dataclass(frozen=True, slots=True)
class CastBegun:
    """This client begins to cast a spell, or to use an art; 0 seconds is at once."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class DeathSeen:
    """Somebody has died; `killer` is 0xFFFFFFFF if the client does not see it."""

    killer: int
    dead: int


@dataclass(frozen=True, slots=True)
class ControlChanged:
    """The server takes control of the own player away, or gives it back.

    `flags` are the first byte of its flags: 8 holds the player where it stands.
    Source: docs/protocol/world/fights.md#death.
    """

    flags: int
    is_on: bool


@dataclass(frozen=True, slots=True)
class RevivalOffered:
    """The own player is dead; `places` are the number and the name of each way back."""

    places: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class LineShown:
    """A line of plain text; `color` is the name of a color or its number."""

    color: str
    text: str


@dataclass(frozen=True, slots=True)
class ScreenShown:
    """A text in the middle of the screen, for example of `announce`."""

    text: str


@dataclass(frozen=True, slots=True)
class WhoListed:
    """The answer to ``/who``: name, level and zone (its name for people) of each player."""

    players: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True, slots=True)
class ChannelChanged:
    """A player, or this client, joined or left a channel."""

    action: str
    channel_name: str
    player: str


@dataclass(frozen=True, slots=True)
class ChannelMembers:
    """The players in a channel."""

    channel_name: str
    players: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MailHeader:
    """A letter in the mailbox; `coins` is copper."""

    id: int
    sender: str
    subject: str
    is_read: bool
    coins: int


@dataclass(frozen=True, slots=True)
class MailboxShown:
    """The letters in the mailbox; `postage` is what a letter costs, in copper."""

    letters: tuple[MailHeader, ...]
    postage: int


@dataclass(frozen=True, slots=True)
class LetterShown:
    """A letter is opened; `coins` is copper."""

    id: int
    sender: str
    subject: str
    text: str
    coins: int


@dataclass(frozen=True, slots=True)
class MailCoins:
    """The copper in the mail window has changed."""

    coins: int


@dataclass(frozen=True, slots=True)
class MailSent:
    """The answer to a letter; `result` 0 means that it is sent."""

    result: int
    to: str


@dataclass(frozen=True, slots=True)
class CampBegun:
    """The server has started the countdown of a camp; the client leaves after `seconds`."""

    seconds: int


@dataclass(frozen=True, slots=True)
class CampStopped:
    """The countdown was cancelled."""


@dataclass(frozen=True, slots=True)
class PutSomewhere:
    """The server moved the character within its zone, to x, y, z in world units.

    The heading is the one of clients, in degrees.
    """

    x: float
    y: float
    z: float
    heading: float


@dataclass(frozen=True, slots=True)
class ZoneLeft:
    """The server sent the client to another zone; it connects to that address at once."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class WayRow:
    """One destination of a transporter."""

    id: int
    name: str
    zone: str
    cost: int
    """Copper."""


@dataclass(frozen=True, slots=True)
class WaysShown:
    """The window of a transporter's destinations has opened."""

    index: int
    """The ghost of the transporter."""
    ways: tuple[WayRow, ...]


@dataclass(frozen=True, slots=True)
class OptionRow:
    """One row of a window of options."""

    name: str
    text: str
    command: str
    """What the client sends for the choice."""


@dataclass(frozen=True, slots=True)
class OptionsShown:
    """A window of options has opened; `cancel` is the command of no choice."""

    title: str
    rows: tuple[OptionRow, ...]
    cancel: str


@dataclass(frozen=True, slots=True)
class DialogOpened:
    """A spawn talks and offers choices, numbered from 1."""

    conversation: int
    title: str
    text: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DialogClosed:
    """The server closed a dialog."""

    conversation: int


@dataclass(frozen=True, slots=True)
class GroupOffered:
    """A player invites this client's character to its group."""

    inviter: str


@dataclass(frozen=True, slots=True)
class GuildOffered:
    """A member of a guild invites this client's character."""

    inviter: str
    guild: str


@dataclass(frozen=True, slots=True)
class GuildShown:
    """The guild of this client's character: name, MOTD, and the names of its ranks.

    `guild_id` is 0 when the character is in no guild any more.
    """

    guild_id: int
    name: str
    motd: str
    ranks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GuildMemberRow:
    """A member in the guild window; `zone` is "" for one that is not in the world."""

    char_id: int
    name: str
    level: int
    rank: int
    zone: str
    note: str
    officer_note: str


@dataclass(frozen=True, slots=True)
class GuildMembersListed:
    """All members of the guild."""

    members: tuple[GuildMemberRow, ...]


@dataclass(frozen=True, slots=True)
class GuildMemberChanged:
    """A member has joined, has changed, has come or has gone."""

    member: GuildMemberRow


@dataclass(frozen=True, slots=True)
class GuildMemberLeft:
    """A character is no member of the guild any more."""

    char_id: int


@dataclass(frozen=True, slots=True)
class PossessionsChanged:
    """The sheet, the things or the spells have changed, see `WorldClientCore.possessions`."""

    what: str
    """The name of the message."""


WorldEvent = (
    Refused
    | ZoneToLoad
    | Stood
    | Appeared
    | Updated
    | Vanished
    | Heard
    | Emoted
    | BlowSeen
    | CastRefused
    | CastBegun
    | DeathSeen
    | ControlChanged
    | RevivalOffered
    | LineShown
    | ScreenShown
    | WhoListed
    | ChannelChanged
    | ChannelMembers
    | MailboxShown
    | LetterShown
    | MailCoins
    | MailSent
    | CampBegun
    | CampStopped
    | PutSomewhere
    | ZoneLeft
    | WaysShown
    | OptionsShown
    | DialogOpened
    | DialogClosed
    | GroupOffered
    | GuildOffered
    | GuildShown
    | GuildMembersListed
    | GuildMemberChanged
    | GuildMemberLeft
    | PossessionsChanged
    | WindowEvent
    | Unexpected
    | Closed
)
