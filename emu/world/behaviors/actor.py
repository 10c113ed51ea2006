"""What a behavior can do: the small, steady face of the world for those who write behaviors.

An `Actor` is a spawn, a `ZoneActor` a zone, a `Visitor` a player as behaviors see it. Nothing here
takes or gives anything of the server's inside, so that behaviors outlive changes of it.
"""

from __future__ import annotations

import math
from typing import Final

from emu.errors import EmuError
from emu.model import Title
from emu.world.behaviors.part import STEP, TIMER, Part
from emu.world.behaviors.stage import Stage
from emu.world.behaviors.steps import Way
from emu.world.players import leaving, moving, saving
from emu.world.players.player import IN_ZONE, Player
from emu.world.spawns import Destination, Position, Spawn

Place = tuple[float, float, float]
"""x, y, z in world units; Y is up."""

WALKING: Final = 2.5
"""Units a second of somebody who strolls."""


class Visitor:
    """A player, as behaviors see one."""

    __slots__ = ("_player", "_stage")

    def __init__(self, player: Player, stage: Stage) -> None:
        self._player = player
        self._stage = stage

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Visitor) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Visitor({self.name!r})"

    @property
    def id(self) -> int:
        """The character's number; the same whenever that character comes."""
        return self._player.id

    @property
    def name(self) -> str:
        """The character's name."""
        return self._player.name

    @property
    def level(self) -> int:
        """The character's level."""
        return self._player.character.level

    @property
    def race(self) -> int:
        """The number of its race."""
        return self._player.character.race

    @property
    def place(self) -> Place:
        """Where it is."""
        return self._player.position[:3]

    def tell(self, text: str) -> None:
        """Show it a line of text that nobody else sees."""
        self._stage.chat.line(self._player, text[: self._stage.limits.text])

    def move_to(self, x: float, y: float, z: float, heading: float | None = None) -> None:
        """Put it somewhere else in this zone."""
        player = self._player
        if player.state in IN_ZONE:
            at = player.position
            turned = at.heading if heading is None else float(heading)
            goal = _position((x, y, z))._replace(heading=turned, grid=at.grid)
            moving.teleport(player, goal, self._stage.now)

    def send_to(self, zone: str, place: Place | None = None) -> None:
        """Send it to another zone, by name, file or number; to its safe place by default."""
        world, player = self._stage.world, self._player
        definition = world.zones.table.named(zone)
        if definition is None:
            raise EmuError(f"there is no zone {zone}")
        if player.state in IN_ZONE:
            to = _position(place) if place else Position(*definition.safe)
            going = Destination(definition.id, to)
            world.start(leaving.change_zone(world, player, going, self._stage.now))

    def give_title(self, title: str) -> None:
        """Give it a title that everybody sees behind its name from now on."""
        player, given = self._player, Title(title)
        player.titles.give(given)
        player.titles.bear(given)
        player.titles.show(player.spawn)
        player.titles.send(player.client)
        saving.changed(self._stage.world, player, saving.Kept.TITLES, self._stage.now)


class ZoneActor:
    """A zone, as its behavior sees it."""

    __slots__ = ("_part", "_stage", "name")

    def __init__(self, part: Part, stage: Stage) -> None:
        self.name = str(part.zone.zone_id)
        self._part = part
        self._stage = stage

    def visitors(self) -> list[Visitor]:
        """Return everybody who is in the zone."""
        return [
            Visitor(player, self._stage)
            for player in self._stage.world.players.standing_in(self._part.zone)
        ]

    def after(self, seconds: float, name: str = "") -> None:
        """Have `on_timer(name)` called after some seconds; once, and anew when it is set again."""
        _set_timer(self._part, self._stage, name, seconds)


class Actor:
    """A spawn, as its behavior sees it."""

    __slots__ = ("_part", "_spawn", "_stage")

    def __init__(self, part: Part, spawn: Spawn, stage: Stage) -> None:
        self._part = part
        self._spawn = spawn
        self._stage = stage

    @property
    def name(self) -> str:
        """What it is called."""
        return self._spawn.name

    @property
    def place(self) -> Place:
        """Where it is."""
        return self._spawn.position[:3]

    @property
    def home(self) -> Place:
        """Where it was put first."""
        return self._spawn.origin[:3]

    def visitors(self, distance: float) -> list[Visitor]:
        """Return the players within a distance."""
        at = self._spawn.position
        return [
            Visitor(player, self._stage)
            for player in self._stage.world.players.standing_in(self._part.zone)
            if player.position.distance_to(at) <= distance
        ]

    def say(self, text: str) -> None:
        """Speak, to those who are near."""
        self._speak(text, "say")

    def emote(self, text: str) -> None:
        """Do something in words, before those who are near."""
        self._speak(text, "emote")

    def walk(self, *points: Place, speed: float = WALKING) -> None:
        """Go from point to point; `on_arrive` is called at the last one."""
        limits = self._stage.limits
        if points:
            goals = [_position(point) for point in points[: limits.longest_way]]
            fastest = self._stage.world.rules.movement.fastest
            self._part.way = Way(goals, max(0.1, min(float(speed), fastest)))
            self._stage.arm(self._part, STEP, limits.step)

    def stop(self) -> None:
        """Stand where it is."""
        self._part.way = None
        if self._stage.deadlines.clear(self._part, STEP):
            self._spawn.move(self._spawn.position)

    def look_at(self, visitor: Visitor) -> None:
        """Turn to a player."""
        at = self._spawn.position
        heading = at.heading_to(Position(*visitor.place))
        self._spawn.move(at._replace(heading=heading), speed=self._spawn.speed)

    def ask(self, visitor: Visitor, text: str, *choices: str) -> None:
        """Open a dialog for a player; `on_choice` gets the answer it chooses."""
        player = visitor._player  # noqa: SLF001  # its own kind
        self._stage.dialogs.open(self._part, player, text, choices)

    def after(self, seconds: float, name: str = "") -> None:
        """Have `on_timer(name)` called after some seconds; once, and anew when it is set again."""
        _set_timer(self._part, self._stage, name, seconds)

    def _speak(self, text: str, channel: str) -> None:
        stage = self._stage
        hearers = stage.world.players.standing_in(self._part.zone)
        stage.chat.spawn_says(self._spawn, hearers, text[: stage.limits.text], channel)


def _set_timer(part: Part, stage: Stage, name: str, seconds: float) -> None:
    what, limits = TIMER + name, stage.limits
    if what not in part.timers and len(part.timers) >= limits.timers:
        raise EmuError(f"{part.name} has {limits.timers} timers already")
    part.timers.add(what)
    stage.arm(part, what, max(limits.shortest_timer, float(seconds)))


def _position(place: Place) -> Position:
    """Return a place that a behavior named; raises `ValueError` for what is none."""
    x, y, z = (float(number) for number in place)
    if not all(map(math.isfinite, (x, y, z))):
        raise ValueError(f"not a place: {place!r}")
    return Position(x, y, z)
