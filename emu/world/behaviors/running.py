"""The state of one running behavior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from emu.limits.rates import RateLimit
from emu.world.actors.spawn import Spawn
from emu.world.behaviors.hooks import Hook
from emu.world.rules import BehaviorRules
from emu.world.zones.zone import Zone

Limits = BehaviorRules
"""The limits of all behaviors."""


@dataclass(slots=True, eq=False)
class RunningBehavior:
    """One running behavior: an instance of its class, for a spawn or a zone."""

    name: str
    options: Mapping[str, Any]
    zone: Zone
    spawn: Spawn | None
    key: str = ""
    """The spawn's key among the spawns of its zone; "" for the zone itself."""
    owner: Any = None
    """The instance of the operator's class; None before it is made and after it is released."""
    hooks: frozenset[Hook] = frozenset()
    failed: bool = False
    reason: str = ""
    """Why it is switched off."""
    work: RateLimit | None = None
    """The seconds of work that are left; None before the first call."""
    is_slowed: bool = False
    """Whether operators have a report that calls are left out."""
    is_paced: bool = False
    """Whether operators have a report that messages are dropped."""
    near: float = 15.0
    tick: float = 1.0

    @property
    def whose(self) -> str:
        """The spawn or zone that it controls, for people."""
        return self.spawn.name if self.spawn is not None else f"zone {self.zone.zone_id}"
