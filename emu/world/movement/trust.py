"""Which of a client's steps are believed: finite, inside the world, at a pace that players have.

Going somewhere costs distance, and time earns it, up to a reserve that makes up for a slow link.
A client is never believed a jump; whoever may jump is put there by the server. Knows no zone.
"""

from __future__ import annotations

import math

from emu.times import Monotonic
from emu.world.movement.prediction import Step
from emu.world.rules import MovementRules
from emu.world.spawns import Position


class Pace:
    """One player's pace. `refused` counts the steps that were not believed."""

    __slots__ = ("_ground", "_height", "_last", "refused", "rules")

    def __init__(self, rules: MovementRules, now: Monotonic) -> None:
        self.rules = rules
        self.refused = 0
        self._last = now
        self._ground = rules.fastest * rules.reserve
        self._height = rules.fastest_fall * rules.reserve

    def complaint(self, step: Step, here: Position, now: Monotonic) -> str | None:
        """Return why a step from `here` is not believed, None when it is; it is paid for then."""
        rules = self.rules
        passed = max(0.0, now - self._last)
        self._last = now
        self._ground = min(self._ground + passed * rules.fastest, rules.fastest * rules.reserve)
        self._height = min(
            self._height + passed * rules.fastest_fall, rules.fastest_fall * rules.reserve
        )
        reason = self._nonsense(step) or self._haste(step, here)
        if reason is not None:
            self.refused += 1
        return reason

    def moved_by_server(self, now: Monotonic) -> None:
        """Begin anew: the server put the player somewhere."""
        self._last = now
        self._ground = self.rules.fastest * self.rules.reserve
        self._height = self.rules.fastest_fall * self.rules.reserve

    def _nonsense(self, step: Step) -> str | None:
        at = step.position
        numbers = (at.x, at.y, at.z, at.heading, step.pitch)
        speeds = (step.speed, step.side_speed, step.vert_speed)
        if not all(map(math.isfinite, numbers + speeds)):
            return "position is no number"
        if max(abs(at.x), abs(at.y), abs(at.z)) > self.rules.farthest:
            return "position outside the world"
        if max(map(abs, speeds)) > self.rules.fastest_field:
            return "speed beyond all measure"
        return None

    def _haste(self, step: Step, here: Position) -> str | None:
        ground = here.distance_to(step.position)
        height = abs(step.position.y - here.y)
        if ground > self._ground or height > self._height:
            return "moved too fast"
        self._ground -= ground
        self._height -= height
        return None
