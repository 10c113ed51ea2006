"""One thing that stands in a zone from the start, as files describe it; it becomes a spawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from emu.world.spawns import Destination, Footer, Position, Spawn, SpawnKind, Verb


@dataclass(frozen=True, slots=True)
class Fixture:
    """A creature, object, sign or widget that a zone's file names.

    The attributes are those of `Spawn`, but for `states` (its visual, action, mood and emote state
    by name) and the behavior's options.
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
        made = Spawn(
            spawn_id,
            self.kind,
            self.name,
            self.place,
            level=self.level,
            size=self.size,
            collision_radius=self.collision_radius,
            looks=self.looks,
            words=self.words,
            verbs=self.verbs,
            footer=self.footer,
            guild=self.title,
            attackable=self.attackable,
            targetable=self.targetable,
            show_name=self.show_name,
            behavior=self.behavior,
            destination=self.destination,
        )
        made.last_name = self.last_name
        for name, value in self.states.items():
            setattr(made, name, value)
        return made
