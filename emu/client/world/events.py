"""What happened to a client in the world, as frozen values.

`WorldClient.next_event` returns these, besides `Closed` and `Unexpected` of `emu.client.events`.
Places are world units with Y up; `index` is the number by which this client knows a ghost.
"""

from __future__ import annotations

from dataclasses import dataclass

from emu.client.events import Closed, Unexpected
from emu.world_stream.ghosts import GhostEntry


@dataclass(frozen=True, slots=True)
class Refused:
    """The world does not let the character in; `code` is a login reply code."""

    code: int
    text: str


@dataclass(frozen=True, slots=True)
class ZoneTold:
    """The client was told which zone to load: file, what people call it, and where it will be."""

    file: str
    description: str
    character: str
    x: float
    y: float
    z: float


@dataclass(frozen=True, slots=True)
class Stood:
    """All steps of entering are done: the character stands in its zone."""


@dataclass(frozen=True, slots=True)
class Appeared:
    """A ghost was created."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class Updated:
    """Ghosts changed; `Surroundings.part_fields` tells what the bytes of an entry mean."""

    time: int
    """The server's clock in milliseconds."""
    entries: tuple[GhostEntry, ...]


@dataclass(frozen=True, slots=True)
class Vanished:
    """A ghost was destroyed."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class Heard:
    """Somebody said something; `channel` is the channel's name, ``to`` may be empty."""

    channel: str
    speaker: str
    to: str
    text: str
    channel_name: str
    index: int | None
    """The speaker's ghost, None for one that is not seen."""


@dataclass(frozen=True, slots=True)
class LineShown:
    """A line of plain text; `color` is the name of a color or its number."""

    color: str
    text: str


@dataclass(frozen=True, slots=True)
class ScreenShown:
    """A text in the middle of the screen."""

    text: str


@dataclass(frozen=True, slots=True)
class WhoListed:
    """The answer to ``/who``: name, level and zone of each."""

    players: tuple[tuple[str, int, str], ...]


@dataclass(frozen=True, slots=True)
class ChannelTold:
    """Somebody joined or left a channel, or this client did."""

    action: str
    channel_name: str
    player: str


@dataclass(frozen=True, slots=True)
class ChannelMembers:
    """Who is in a channel."""

    channel_name: str
    players: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CampBegun:
    """The server counts down until the session ends."""

    seconds: int


@dataclass(frozen=True, slots=True)
class CampStopped:
    """The countdown was taken back."""


@dataclass(frozen=True, slots=True)
class PutSomewhere:
    """The server put the character somewhere in its zone."""

    x: float
    y: float
    z: float


@dataclass(frozen=True, slots=True)
class ZoneLeft:
    """The server sent the client to another zone; it connects again at once."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class DialogOpened:
    """A spawn talks and offers choices, which are answered by number, from 1."""

    conversation: int
    title: str
    text: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DialogClosed:
    """The server closed a dialog."""

    conversation: int


WorldEvent = (
    Refused
    | ZoneTold
    | Stood
    | Appeared
    | Updated
    | Vanished
    | Heard
    | LineShown
    | ScreenShown
    | WhoListed
    | ChannelTold
    | ChannelMembers
    | CampBegun
    | CampStopped
    | PutSomewhere
    | ZoneLeft
    | DialogOpened
    | DialogClosed
    | Unexpected
    | Closed
)
