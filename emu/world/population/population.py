"""Adds the spawns of zone files to running zones, and replaces them after a reload."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from emu.times import Monotonic
from emu.world.actors.spawn import Spawn
from emu.world.population.deaths import Deaths
from emu.world.population.served import ContentZones
from emu.world.zones.definitions import Atlas, Fixture, ZoneDefinition
from emu.world.zones.zone import Zone


class BehaviorHost(Protocol):
    """Runs behaviors; `emu.world.behaviors.Behaviors` does."""

    def add(
        self,
        name: str,
        options: Mapping[str, Any],
        zone: Zone,
        spawn: Spawn | None,
        *,
        key: str = "",
    ) -> object:
        """Start a behavior, by name and options, for a spawn, or with None for the zone.

        `key` names the spawn among the spawns of its zone, also after a restart.
        """

    def forget_zone(self, zone: Zone) -> None:
        """End the behaviors of a zone and of its spawns."""

    def forget_spawn(self, spawn: Spawn) -> None:
        """End the behavior of a spawn."""

    def forget_placed(self, zone: Zone, spawns: Collection[Spawn]) -> None:
        """End a zone's own behavior, and those of some of its spawns."""


@dataclass(slots=True, eq=False)
class ZonePopulation:
    """The spawns of zone files in each running zone."""

    atlas: Atlas
    next_id: Callable[[], int]
    """Returns the next spawn id."""
    content: ContentZones | None = None
    """Fills zones from the content file, if there is one."""
    _hosts: list[BehaviorHost] = field(default_factory=list)
    _standing: dict[Zone, dict[Spawn, Fixture | None]] = field(default_factory=dict)
    """Spawns of files with their fixtures; None for one that was saved while the zone ran."""

    def subscribe(self, host: BehaviorHost) -> None:
        """Let a host start the behaviors that zone files name, in zones that start from now on."""
        self._hosts.append(host)

    def _give_behavior(
        self, name: str, options: Mapping[str, Any], zone: Zone, spawn: Spawn | None, key: str = ""
    ) -> None:
        for host in self._hosts:
            host.add(name, options, zone, spawn, key=key)

    def begin(self, zone: Zone, definition: ZoneDefinition, now: Monotonic) -> None:
        """Fill a zone that starts: from the zone files at once, from the content file later."""
        self.settle(zone, definition, now)
        if self.content is not None:
            self.content.settle(zone)

    def unsaved(self) -> list[Deaths]:
        """Return what has changes that are not stored yet."""
        deaths = self.content.deaths if self.content is not None else None
        return [] if deaths is None else [deaths]

    def settle(self, zone: Zone, definition: ZoneDefinition, now: Monotonic) -> None:
        """Add all spawns of the files to a zone that starts, with their behaviors."""
        # A new table: spawns of an earlier run of the zone are gone.
        self._standing[zone] = {}
        if definition.behavior:
            # The zone's behavior first, so that it is there when a spawn's behavior begins.
            self._give_behavior(definition.behavior, definition.behavior_options, zone, None)
        for fixture in self.atlas.fixtures(definition.id):
            self._add(zone, fixture, now)

    def _add(self, zone: Zone, fixture: Fixture, now: Monotonic) -> None:
        spawn = fixture.spawn(self.next_id())
        zone.add(spawn, now)
        self._standing[zone][spawn] = fixture
        if fixture.behavior:
            name, options = fixture.behavior, fixture.behavior_options
            self._give_behavior(name, options, zone, spawn, fixture.key)

    def is_from_file(self, zone: Zone, spawn: Spawn) -> bool:
        """Return whether a spawn of a running zone is in a zone file."""
        return spawn in self._standing.get(zone, ())

    def adopt(self, zone: Zone, spawn: Spawn) -> None:
        """Treat a spawn as one of the zone's files from now on: the next reload replaces it."""
        self._standing.setdefault(zone, {})[spawn] = None

    def forget(self, zone: Zone) -> None:
        """Remove a zone that ends, and its behaviors."""
        self._standing.pop(zone, None)
        if self.content is not None:
            self.content.forget(zone)
        for host in self._hosts:
            host.forget_zone(zone)

    def reload(self, fresh: Atlas, now: Monotonic) -> None:
        """Take over another atlas, and change in running zones what differs.

        Players stay, and so do spawns that were added while the zone ran, and spawns whose table is
        the same as before, with their behaviors.
        """
        # Zones in which players stand keep their definition even if the new atlas has none.
        running = list(self._standing)
        self.atlas.replace(fresh, keep={zone.zone_id for zone in running})
        for zone in running:
            definition = self.atlas.get(zone.zone_id)
            if definition is not None:
                self._exchange(zone, definition, now)

    def _exchange(self, zone: Zone, definition: ZoneDefinition, now: Monotonic) -> None:
        """Give a running zone another definition and the spawns of its files."""
        known = self._standing[zone]
        fresh = {one.key: one for one in self.atlas.fixtures(zone.zone_id)}
        # An adopted spawn has no fixture: its file has one by now.
        stay: dict[Spawn, Fixture | None] = {spawn: one for spawn, one in known.items()
                if one is not None and fresh.get(one.key) == one}  # fmt: skip
        gone = [spawn for spawn in known if spawn not in stay]
        old, zone.definition = zone.definition, definition
        behavior = definition.behavior, definition.behavior_options
        is_other = behavior != (old.behavior, old.behavior_options)
        # Before the spawns: a behavior must not act for a spawn that is gone.
        for host in self._hosts:
            if is_other:
                host.forget_placed(zone, gone)
            else:
                for spawn in gone:
                    host.forget_spawn(spawn)
        for spawn in gone:
            zone.remove(spawn, now)
        if is_other and definition.behavior:
            self._give_behavior(*behavior, zone, None)
        self._standing[zone] = stay
        kept = {one.key for one in stay.values() if one is not None}
        for key, fixture in fresh.items():
            if key not in kept:
                self._add(zone, fixture, now)
