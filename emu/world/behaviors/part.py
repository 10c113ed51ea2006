"""One behavior at work, and what each of them may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from emu.world.behaviors.steps import Way
from emu.world.players.player import Player
from emu.world.spawns import Spawn
from emu.world.zone import Zone

TICK: Final = "tick"
STEP: Final = "step"
TIMER: Final = "timer "
"""Names of deadlines: the tick, the next step of a way, and a behavior's own timers."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a behavior may take."""

    budget: float = 0.25
    """Seconds of one call."""
    shortest_timer: float = 0.1
    timers: int = 16
    """Timers of one behavior."""
    step: float = 0.25
    """Seconds between two steps of somebody who walks."""
    text: int = 1024
    longest_way: int = 64
    """Points of one way."""


@dataclass(slots=True, eq=False)
class Part:
    """One behavior at work: its class made, for a spawn or for a zone."""

    name: str
    options: Mapping[str, Any]
    zone: Zone
    spawn: Spawn | None
    owner: Any = None
    failed: bool = False
    near: float = 15.0
    tick: float = 1.0
    seen: dict[int, Player] = field(default_factory=dict)
    """Players near it, or in its zone, that it was told of."""
    timers: set[str] = field(default_factory=set)
    way: Way | None = None

    @property
    def whose(self) -> str:
        """Whom it moves, as people are told."""
        return self.spawn.name if self.spawn is not None else f"zone {self.zone.zone_id}"
