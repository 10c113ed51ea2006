"""Adds the spawns of zone files to running zones, and replaces them after a reload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from emu.times import Monotonic
from emu.world.actors.spawn import Spawn
from emu.world.content.atlas import Atlas
from emu.world.content.definitions import ZoneDefinition
from emu.world.zones.zone import Zone

GiveBehavior = Callable[[str, Mapping[str, Any], Zone, Spawn | None], object]
"""Starts a behavior, by name and options, for a spawn, or with None for the zone."""
TakeBehaviors = Callable[[Zone], None]


@dataclass(slots=True, eq=False)
class ZonePopulation:
    """The spawns of zone files in each running zone.

    `give_behavior` and `take_behaviors` may be set later, before the first zone runs.
    """

    atlas: Atlas
    next_id: Callable[[], int]
    """Returns the next spawn id."""
    give_behavior: GiveBehavior = lambda *_what: None
    take_behaviors: TakeBehaviors = lambda _zone: None
    _standing: dict[Zone, list[Spawn]] = field(default_factory=dict)

    def settle(self, zone: Zone, definition: ZoneDefinition, now: Monotonic) -> None:
        """Add all spawns of the files to a zone that starts, with their behaviors."""
        standing = self._standing[zone] = []
        if definition.behavior:
            self.give_behavior(definition.behavior, definition.behavior_options, zone, None)
        for fixture in self.atlas.fixtures(definition.id):
            spawn = fixture.spawn(self.next_id())
            zone.add(spawn, now)
            standing.append(spawn)
            if fixture.behavior:
                self.give_behavior(fixture.behavior, fixture.behavior_options, zone, spawn)

    def forget(self, zone: Zone) -> None:
        """Remove a zone that ends, and its behaviors."""
        self._standing.pop(zone, None)
        self.take_behaviors(zone)

    def reload(self, fresh: Atlas, now: Monotonic) -> None:
        """Take over another atlas, and replace the spawns of files in running zones.

        Players stay, and so do spawns that were added while the zone ran.
        """
        running = list(self._standing)
        self.atlas.replace(fresh, keep={zone.zone_id for zone in running})
        for zone in running:
            self.take_behaviors(zone)
            for spawn in self._standing[zone]:
                zone.remove(spawn, now)
            definition = self.atlas.get(zone.zone_id)
            if definition is not None:
                self.settle(zone, definition, now)
