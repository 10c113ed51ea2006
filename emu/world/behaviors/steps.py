"""Walking: how far somebody has come on a way of several points. Knows no behavior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emu.world.spawns import Position, Spawn


@dataclass(slots=True, eq=False)
class Way:
    """Points to go to in order, at a speed in units a second."""

    goals: Sequence[Position]
    speed: float
    _next: int = 0

    def step(self, spawn: Spawn, seconds: float) -> bool:
        """Move a spawn on for some seconds; returns True, and lets it stand, at the last point."""
        left = self.speed * seconds
        at = spawn.position
        while self._next < len(self.goals):
            goal = self.goals[self._next]._replace(grid=at.grid)
            there = at.toward(goal, left)
            left -= at.distance_to(there)
            at = there
            if at[:3] != goal[:3]:
                break
            self._next += 1
        arrived = self._next >= len(self.goals)
        spawn.move(at, speed=0.0 if arrived else self.speed)
        return arrived
