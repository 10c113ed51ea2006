"""`Victims`: the spawns that the open steps of a player want dead.

Source: docs/guides/quests.md#steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from emu.quests.plans import Step, StepKind
from emu.world.actors.spawn import Spawn, SpawnKind


@dataclass(frozen=True, slots=True)
class Victims:
    """Open steps of killing; two with the same steps are equal."""

    steps: frozenset[Step]
    number_of: Callable[[Spawn], int]
    """Returns the kind of a spawn in the content file; 0 without."""
    race_of: Callable[[Spawn], int]

    def __call__(self, spawn: Spawn) -> bool:
        """Return whether the death of a spawn counts for one of the steps."""
        return spawn.kind is SpawnKind.NPC and any(self.fits(step, spawn) for step in self.steps)

    def fits(self, step: Step, spawn: Spawn) -> bool:
        """Return whether the death of a spawn counts for a step."""
        if step.kind is StepKind.KILL_RACE:
            return self.race_of(spawn) in step.ids
        return self.number_of(spawn) in step.ids or spawn.name.casefold() in step.names
