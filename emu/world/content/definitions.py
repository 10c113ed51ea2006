"""What zone files describe: a zone, a fixture that becomes a spawn, where new characters begin.

Of the rows that fit a character the one counts that names the most, and the first of those. City
choices are the numbers a client sends: 1 Qeynos, 2 Freeport, 4 Kelethin, 8 Neriak, 16 Gorowyn, 32
New Halas; the 2006 client counts 0 and 1 for its two islands.
Source: docs/protocol/characters.md#create.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from emu.model import WorldCharacter
from emu.world.actors.spawn import Destination, Footer, Spawn, SpawnKind, Verb
from emu.world_stream.movement import Position

NO_UNDERWORLD = -1_000_000.0


@dataclass(frozen=True, slots=True)
class ZoneDefinition:
    """One zone: its number, names, and the place where somebody appears."""

    id: int
    name: str
    file: str
    """What clients load it by."""
    description: str
    """What people call it."""
    safe: Position
    """Where somebody appears who has no other place in it."""
    underworld: float = NO_UNDERWORLD
    """Height below which somebody has fallen out of the zone."""
    population: int = 0
    """Players of one instance; the next one begins another. 0 is no limit."""
    motd: str = ""
    """What everybody is told who enters."""
    behavior: str = ""
    """Name of the behavior that the zone itself has; empty for none."""
    behavior_options: Mapping[str, Any] = field(default_factory=dict)


FILES_OWN: Final = ("place", "title", "states", "behavior", "behavior_options")
"""Attributes of a fixture that a spawn has under another name, or not at all."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """A creature, object, sign or widget that a zone's file names.

    The attributes are those of `Spawn`, but for `FILES_OWN`: `states` are its visual, action, mood
    and emote state by name.
    """

    kind: SpawnKind
    name: str
    place: Position
    last_name: str = ""
    title: str = ""
    level: int = 1
    size: int = 32
    collision_radius: int = 32
    looks: Mapping[str, Any] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    verbs: tuple[Verb, ...] = ()
    footer: Footer | None = None
    attackable: bool = False
    targetable: bool = True
    show_name: bool = True
    states: Mapping[str, int] = field(default_factory=dict)
    destination: Destination | None = None
    behavior: str = ""
    behavior_options: Mapping[str, Any] = field(default_factory=dict)

    def spawn(self, spawn_id: int) -> Spawn:
        """Return a new spawn of it."""
        names = {item.name for item in fields(self)}.difference(FILES_OWN)
        shared = {name: getattr(self, name) for name in names} | dict(self.states)
        return Spawn(spawn_id, position=self.place, guild=self.title, **shared)


@dataclass(frozen=True, slots=True)
class Start:
    """One row; an empty condition fits everybody."""

    zone_id: int
    place: Position | None = None
    """None for the safe place of the zone."""
    classes: frozenset[int] = frozenset()
    races: frozenset[int] = frozenset()
    cities: frozenset[int] = frozenset()
    deities: frozenset[int] = frozenset()
    versions: tuple[int, int] | None = None
    """First and last client version."""

    def fits(self, character: WorldCharacter) -> bool:
        """Say whether a character may begin here."""
        wanted = (
            (self.classes, character.class_),
            (self.races, character.race),
            (self.cities, character.starting_zone),
            (self.deities, character.deity),
        )
        if any(allowed and value not in allowed for allowed, value in wanted):
            return False
        first, last = self.versions or (0, character.client_version)
        return first <= character.client_version <= last

    @property
    def conditions(self) -> int:
        """How many conditions it names."""
        named = (self.classes, self.races, self.cities, self.deities, self.versions)
        return sum(bool(condition) for condition in named)


def best_start(rows: Sequence[Start], character: WorldCharacter) -> Start | None:
    """Return the row that counts for a character, None when none fits."""
    fitting = [row for row in rows if row.fits(character)]
    return max(fitting, key=lambda row: row.conditions, default=None)
