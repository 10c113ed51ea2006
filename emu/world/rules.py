"""What can be set about the built-in world, with its defaults; where it comes from is unknown."""

from __future__ import annotations

from dataclasses import dataclass, field


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
class WorldRules:
    """Settings of a world; times in seconds, distances in world units."""

    name: str
    motd: str = ""
    max_level: int = 50
    link_dead: float = 120.0
    """How long a player stays whose client is gone."""
    camp: float = 20.0
    camp_game_master: float = 1.0
    game_master: int = 100
    """From this `admin_status` on a character is a game master."""
    save_interval: float = 60.0
    hear: float = 30.0
    """How far a say is heard."""
    message_rate: float = 100.0
    """Messages a second that a client may send over time; walking takes about ten."""
    message_burst: int = 1000
    """Messages that may come at once, after a pause of the link."""
    movement: MovementRules = field(default_factory=MovementRules)
