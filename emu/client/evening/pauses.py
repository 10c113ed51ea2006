"""The pauses of a client that plays: it waits in a town until it hunts again after a death.

Who revives among the packs of a sewer, and looks around there, is killed again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emu.client.evening.errands import Errand
from emu.client.evening.fighting import Fighting
from emu.client.evening.journeys import PlayerJourneys
from emu.client.evening.reading import is_hunt
from emu.client.evening.travels import KnownWay
from emu.client.world import WorldClientCore
from emu.client.world.windows import QuestTask
from emu.times import Monotonic

RECOVERS: Final = 120.0
"""How long after any death it stays away."""


class Pauses:
    """The pauses of one player between two hunts."""

    def __init__(
        self, core: WorldClientCore, journeys: PlayerJourneys, fighting: Fighting
    ) -> None:  # fmt: skip
        self._core = core
        self._journeys = journeys
        self._fighting = fighting

    def is_due(self, tasks: Sequence[QuestTask], now: Monotonic) -> bool:
        """Return whether all that it has to do is to hunt, and it has just died.

        It waits longer if its prey has killed it. It must be elsewhere, or know a way to a town.
        """
        if not tasks or not all(self._must_wait(task, now) for task in tasks):
            return False
        return self._is_elsewhere(tasks) or self._way_out(tasks) is not None

    def way(self, tasks: Sequence[QuestTask], now: Monotonic) -> Errand | None:
        """Return the way to a town; None if it is not where its prey is, and waits."""
        way = None if self._is_elsewhere(tasks) else self._way_out(tasks)
        return self._journeys.by(way, None, now) if way is not None else None

    def _must_wait(self, task: QuestTask, now: Monotonic) -> bool:
        """Return whether a task is a hunt for known prey that it does not try now."""
        names = self._journeys.travels.foes_named(task.text) if is_hunt(task.text) else []
        fears, level = self._fighting.fears, self._fighting.level
        has_died = self._fighting.has_died_within(RECOVERS, now)
        return bool(names) and (
            has_died or all(fears.fears(name, level, now, is_needed=True) for name in names)
        )

    def _is_elsewhere(self, tasks: Sequence[QuestTask]) -> bool:
        return self._journeys.travels.zone not in self._grounds(tasks)

    def _grounds(self, tasks: Sequence[QuestTask]) -> set[str]:
        travels = self._journeys.travels
        return {zone for task in tasks for zone in travels.homes_of_foes(task.text)}

    def _way_out(self, tasks: Sequence[QuestTask]) -> KnownWay | None:
        """Return the nearest known way to a town without its prey."""
        travels, here = self._journeys.travels, self._core.place
        towns = {*travels.towns(), *travels.likely_towns()} - self._grounds(tasks)
        ways = [
            way for zone, way in travels.ways_out().items()
            if zone in towns and not travels.is_vain(way.name)
        ]  # fmt: skip
        return min(ways, key=lambda way: here.distance_to(way.place), default=None)
