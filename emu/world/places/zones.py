"""One zone as files describe it: numbers and names, where somebody appears, how many fit in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from emu.world.spawns import Position

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
