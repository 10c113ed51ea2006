"""What scripts have handles for: the spawns and the players of a zone, and the zone itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from emu.content.population import Standing
from emu.scripts.signatures import Handle, HandleKind
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.behaviors import plain
from emu.world.zones.zone import Zone

LONGEST_TEXT: Final = 1024
"""Characters of a text that a player is shown."""
MOST_VARIABLES: Final = 64
"""Temporary variables of one spawn."""


class Nearness(NamedTuple):
    """The functions that a spawn calls when a player comes near, and when the player leaves."""

    distance: float
    enter: str
    leave: str
    inside: dict[int, Player]
    """The players that are near, by character id."""


@dataclass(slots=True, eq=False)
class Body:
    """A spawn of a running zone, or a player."""

    spawn: Spawn
    home: Home
    player: Player | None = None
    standing: Standing | None = None
    """Its placement in the content file; None for players."""
    script: str = ""
    """The file that its row names; empty without one."""
    variables: dict[str, Any] = field(default_factory=dict)
    nearness: Nearness | None = None
    timers: list[Timer] = field(default_factory=list)
    is_gone: bool = False
    handle: Handle = field(init=False)

    def __post_init__(self) -> None:
        kind = HandleKind.SPAWN
        if self.player is not None:
            kind = HandleKind.PLAYER
        elif self.spawn.kind is SpawnKind.NPC:
            kind = HandleKind.NPC
        self.handle = Handle(kind, self)

    def end(self) -> None:
        """Let go of everything: the spawn is gone, and its handle counts as missing."""
        self.is_gone = True
        self.handle.end()
        self.timers.clear()
        self.variables.clear()
        self.nearness = None


@dataclass(slots=True, eq=False)
class Timer:
    """A function that a script wants called later."""

    body: Body
    function: str
    other: Body | None
    is_stopped: bool = False


@dataclass(slots=True, eq=False)
class Home:
    """A running zone as scripts have it: its spawns by number, and what waits for a player."""

    zone: Zone
    bodies: dict[int, Body] = field(default_factory=dict)
    """By the spawn's number of this run; players are not among them."""
    by_location: dict[int, list[Body]] = field(default_factory=dict)
    players: dict[int, Body] = field(default_factory=dict)
    """By character id."""
    near: dict[Body, None] = field(default_factory=dict)
    """The spawns that watch for players, in the order they began to."""
    waiting: list[Timer] = field(default_factory=list)
    """Timers that were due while nobody was in the zone."""
    is_watched: bool = False
    handle: Handle = field(init=False)

    def __post_init__(self) -> None:
        self.handle = Handle(HandleKind.ZONE, self)

    def add(self, body: Body) -> None:
        """Add a spawn of the content file."""
        self.bodies[body.spawn.id] = body
        if body.standing is not None:
            location = body.standing.placement.location_id
            self.by_location.setdefault(location, []).append(body)

    def remove(self, body: Body) -> None:
        """Remove a spawn, and end its handle."""
        self.bodies.pop(body.spawn.id, None)
        self.near.pop(body, None)
        if body.standing is not None:
            location = body.standing.placement.location_id
            left = [one for one in self.by_location.get(location, ()) if one is not body]
            if left:
                self.by_location[location] = left
            else:
                self.by_location.pop(location, None)
        body.end()

    def of_spawn(self, number: int) -> Iterator[Body]:
        """Yield what stands here of one number of the content file."""
        return (
            body for body in self.bodies.values()
            if body.standing is not None and body.standing.template.id == number
        )  # fmt: skip

    def end(self) -> None:
        """End all handles: the zone has ended."""
        for body in list(self.bodies.values()):
            self.remove(body)
        self.handle.end()


def distance_between(one: Spawn, other: Spawn) -> float:
    """Return the distance of two spawns with height, as scripts count it."""
    a, b = one.position, other.position
    return math.dist(a[:3], b[:3])


def shown(text: str) -> str:
    """Return a script's text as players are shown it: UTF-8, or the bytes of cp1252."""
    data = text[: 4 * LONGEST_TEXT].encode("latin-1", "replace")
    try:
        decoded = data.decode("utf-8")
    except UnicodeDecodeError:
        decoded = data.decode("cp1252", "replace")
    return plain.text(decoded, "a text", LONGEST_TEXT, lines=True)


def given(text: str) -> str:
    """Return a text of the server's as scripts have it: a character for each byte of UTF-8."""
    return text.encode("utf-8", "replace").decode("latin-1")
