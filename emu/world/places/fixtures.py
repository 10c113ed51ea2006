"""One thing that stands in a zone from the start, as files describe it; it becomes a spawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from emu.world.spawns import Destination, Footer, Position, Spawn, SpawnKind, Verb

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
