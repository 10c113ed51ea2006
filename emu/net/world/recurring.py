"""The work of a world that comes again and again, apart from its zones."""

from __future__ import annotations

from collections.abc import Callable

from emu.net.cluster.service import ProcessContext
from emu.net.world.guard import CollectionGuard
from emu.processes.settings import REREAD
from emu.world.assembly import Assembly
from emu.world.groups.shared import SharedGroups
from emu.world.ledger.ledger import PRUNED

GROUP_TICK = 1.0
"""Seconds between two looks at who orders the groups of a cluster, and who of them is gone."""


class RecurringWork:
    """It begins when the world listens; `stop` ends it."""

    def __init__(self, ground: ProcessContext, parts: Assembly) -> None:
        self._ground = ground
        self._parts = parts
        self._stops: list[Callable[[], object]] = []

    def begin(self) -> None:
        """Begin all of it."""
        parts, spawn = self._parts, self._ground.tasks.spawn
        self._repeat(REREAD, lambda: spawn(parts.world.settings.refresh()))
        self._repeat(PRUNED, lambda: spawn(parts.ledger.prune()))
        if isinstance(parts.world.groups, SharedGroups):
            groups = parts.world.groups
            self._ground.bus.ticks.append(groups.publish_digest)
            self._repeat(GROUP_TICK, groups.tick)
        if parts.behaviors.library.has_others:
            # Only behaviors of the operator can have `__del__` methods that do not end.
            collections = CollectionGuard(parts.behaviors.limits.budget)
            collections.start()
            self._stops.append(collections.stop)

    def _repeat(self, interval: float, call: Callable[[], object]) -> None:
        self._stops.append(self._ground.scheduler.every(interval, call).cancel)

    def stop(self) -> None:
        """End it, but for the groups: players who leave change them until `stop_groups`."""
        for stop in self._stops:
            stop()

    def stop_groups(self) -> None:
        """Let another node order the groups, after all players have left."""
        if isinstance(self._parts.world.groups, SharedGroups):
            self._parts.world.groups.stop()
