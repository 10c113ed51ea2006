"""What can be set about the built-in world, with its defaults; where it comes from is unknown."""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.commands.ranks import GUIDE, MASTER
from emu.versions import CLIENT_2006, LAST_OLD_CLIENT


@dataclass(frozen=True, slots=True)
class MovementRules:
    """What is believed. Walking is about 10 units a second.

    Source: docs/protocol/world/movement.md#speed.
    """

    fastest: float = 30.0
    """Units a second on the ground."""
    fastest_fall: float = 120.0
    """Units a second up or down."""
    reserve: float = 2.0
    """Seconds of movement that may come at once, after a pause of the link."""
    farthest: float = 32_000.0
    """Largest coordinate."""
    fastest_field: float = 127.0
    """Largest speed a client may name."""


@dataclass(frozen=True, slots=True)
class ZoneRules:
    """Distances in world units, times in seconds (docs/protocol/world/spawns.md#visibility)."""

    create_distance: float = 250.0
    destroy_distance: float = 300.0
    look_again: float = 12.5
    """How far a spawn goes before it is looked at again who sees it."""
    tick: float = 0.1
    """Seconds between two rounds of updates."""
    spawn_limit: int = 20_000


@dataclass(frozen=True, slots=True)
class ChatRules:
    """Limits of chat."""

    longest: int = 512
    """Characters of one message; what is longer is cut."""
    burst: int = 10
    """Messages that may come at once."""
    rate: float = 1.0
    """Messages a second over time."""
    channels: tuple[str, ...] = ()
    """The world's own channels."""


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """Who gets past a locked door or into a full world; statuses are `admin_status`."""

    game_master: int = MASTER
    """From here on an account may come in twice."""
    locked_override: int = GUIDE
    full_override: int = MASTER
    max_players: int = -1
    """Players at once; negative is no limit."""


@dataclass(frozen=True, slots=True)
class CreationRules:
    """What new characters are like."""

    commoner_up_to: int = CLIENT_2006
    """Characters of clients up to this version begin as commoners (class 0) whatever they ask.

    EQ2Emulator does so because the 2006 client chooses its class in the game; 0 turns it off.
    """
    signed_colors_up_to: int = LAST_OLD_CLIENT
    """Clients up to this version have colors in signed bytes."""
    bare_requests: tuple[int, int] = (CLIENT_2006, LAST_OLD_CLIENT)
    """First and last client version whose request may come in the bare form."""
    first_level: int = 1
    max_characters: int = 100
    """Characters of one account."""
    creations_per_hour: int = 20
    """Characters that one account may make, deleted ones included."""


@dataclass(frozen=True, slots=True)
class WorldRules:
    """Settings of a world; times in seconds, distances in world units."""

    name: str
    motd: str = ""
    max_level: int = 50
    link_dead: float = 120.0
    """How long a player stays whose client is gone."""
    camp: float = 20.0
    camp_game_master: float = 1.0
    game_master: int = MASTER
    """From this `admin_status` on a character is a game master."""
    save_interval: float = 60.0
    hear: float = 30.0
    """How far a say is heard."""
    message_rate: float = 100.0
    """Messages a second that a client may send over time; walking takes about ten."""
    message_burst: int = 1000
    """Messages that may come at once, after a pause of the link."""
    movement: MovementRules = field(default_factory=MovementRules)
