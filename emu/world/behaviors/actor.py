"""What a behavior can do: the small, steady face of the world for those who write behaviors.

An `Actor` is a spawn, a `ZoneActor` a zone, a `Visitor` a player as behaviors see it. Nothing here
takes or gives anything of the server's inside, so that behaviors outlive changes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from emu.world.players.player import Player
from emu.world.spawns import Position, Spawn

Place = tuple[float, float, float]
"""x, y, z in world units; Y is up."""

WALKING: Final = 2.5
"""Units a second of somebody who strolls."""


class Stage(Protocol):
    """What actors need of the host."""

    def players_near(self, owner: object, center: Position, distance: float) -> list[Player]:
        """Return players of the owner's zone within a distance."""

    def say(self, owner: object, text: str, *, emote: bool) -> None:
        """Let a spawn speak."""

    def walk(self, owner: object, points: Sequence[Place], speed: float) -> None:
        """Send a spawn on its way."""

    def stop(self, owner: object) -> None:
        """Let a spawn stand."""

    def turn(self, owner: object, toward: Position) -> None:
        """Turn a spawn."""

    def dialog(self, owner: object, player: Player, text: str, choices: Sequence[str]) -> None:
        """Open a dialog."""

    def timer(self, owner: object, name: str, seconds: float) -> None:
        """Set a timer."""

    def tell(self, player: Player, text: str) -> None:
        """Show a player a line."""

    def put(self, player: Player, place: Place, heading: float | None) -> None:
        """Put a player somewhere in its zone."""

    def send(self, player: Player, zone: str, place: Place | None) -> None:
        """Send a player to another zone."""

    def title(self, player: Player, title: str) -> None:
        """Give a player a title."""


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
        at = self._player.position
        return at.x, at.y, at.z

    def tell(self, text: str) -> None:
        """Show it a line of text that nobody else sees."""
        self._stage.tell(self._player, text)

    def move_to(self, x: float, y: float, z: float, heading: float | None = None) -> None:
        """Put it somewhere else in this zone."""
        self._stage.put(self._player, (x, y, z), heading)

    def send_to(self, zone: str, place: Place | None = None) -> None:
        """Send it to another zone, by name, file or number; to its safe place by default."""
        self._stage.send(self._player, zone, place)

    def give_title(self, title: str) -> None:
        """Give it a title that everybody sees behind its name."""
        self._stage.title(self._player, title)


class ZoneActor:
    """A zone, as its behavior sees it."""

    __slots__ = ("_stage", "name")

    def __init__(self, name: str, stage: Stage) -> None:
        self.name = name
        self._stage = stage

    def visitors(self) -> list[Visitor]:
        """Return everybody who is in the zone."""
        everywhere = Position(0.0, 0.0, 0.0)
        found = self._stage.players_near(self, everywhere, float("inf"))
        return [Visitor(player, self._stage) for player in found]

    def after(self, seconds: float, name: str = "") -> None:
        """Have `on_timer(name)` called after some seconds; once, and anew when it is set again."""
        self._stage.timer(self, name, seconds)


class Actor:
    """A spawn, as its behavior sees it."""

    __slots__ = ("_spawn", "_stage")

    def __init__(self, spawn: Spawn, stage: Stage) -> None:
        self._spawn = spawn
        self._stage = stage

    @property
    def name(self) -> str:
        """What it is called."""
        return self._spawn.name

    @property
    def place(self) -> Place:
        """Where it is."""
        at = self._spawn.position
        return at.x, at.y, at.z

    @property
    def home(self) -> Place:
        """Where it was put first."""
        at = self._spawn.origin
        return at.x, at.y, at.z

    def visitors(self, distance: float) -> list[Visitor]:
        """Return the players within a distance."""
        found = self._stage.players_near(self, self._spawn.position, distance)
        return [Visitor(player, self._stage) for player in found]

    def say(self, text: str) -> None:
        """Speak, to those who are near."""
        self._stage.say(self, text, emote=False)

    def emote(self, text: str) -> None:
        """Do something in words, before those who are near."""
        self._stage.say(self, text, emote=True)

    def walk(self, *points: Place, speed: float = WALKING) -> None:
        """Go from point to point; `on_arrive` is called at the last one."""
        self._stage.walk(self, points, speed)

    def stop(self) -> None:
        """Stand where it is."""
        self._stage.stop(self)

    def look_at(self, visitor: Visitor) -> None:
        """Turn to a player."""
        self._stage.turn(self, Position(*visitor.place))

    def ask(self, visitor: Visitor, text: str, *choices: str) -> None:
        """Open a dialog for a player; `on_choice` gets the answer it chooses."""
        self._stage.dialog(self, visitor._player, text, choices)  # noqa: SLF001  # its own kind

    def after(self, seconds: float, name: str = "") -> None:
        """Have `on_timer(name)` called after some seconds; once, and anew when it is set again."""
        self._stage.timer(self, name, seconds)
