"""The spawns of running zones, their behaviors from zone files, and the reload of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from emu.content.standing import Standing
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn
from emu.world.population.deaths import Deaths
from emu.world.population.served import ContentZones
from emu.world.zones.definitions import Atlas, ZoneDefinition
from emu.world.zones.zone import Zone


class BehaviorHost(Protocol):
    """Runs behaviors; `emu.world.behaviors.Behaviors` does."""

    def start_behavior(
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

    def forget_own(self, zone: Zone) -> None:
        """End a zone's own behavior; those of its spawns go on."""


class ZonePopulation:
    """The spawns of running zones, and the behaviors that zone files give them."""

    def __init__(self, atlas: Atlas, content: ContentZones) -> None:
        """`content` fills zones from the zone files and the content file."""
        self._atlas = atlas
        self.content = content
        self._hosts: list[BehaviorHost] = []
        self._adopted: dict[Zone, list[Spawn]] = {}
        """Spawns that were saved in a file while their zone ran."""
        content.watchers.append(self)

    def subscribe(self, host: BehaviorHost) -> None:
        """Let a host start the behaviors that zone files name, in zones that start from now on."""
        self._hosts.append(host)

    def begin(self, zone: Zone, definition: ZoneDefinition, _now: Monotonic) -> None:
        """Fill a zone that starts: from the zone files at once, from the content file later."""
        # The zone's behavior first, so that it is there when a spawn's behavior begins.
        self._give_zone_behavior(zone, definition)
        self.content.settle(zone)

    def _give_zone_behavior(self, zone: Zone, definition: ZoneDefinition) -> None:
        if definition.behavior:
            for host in self._hosts:
                host.start_behavior(
                    definition.behavior, definition.behavior_options, zone, None, key=""
                )

    def unsaved(self) -> list[Deaths]:
        """Return what has changes that are not stored yet."""
        deaths = self.content.deaths
        return [] if deaths is None else [deaths]

    # What `emu.world.population.served.Watcher` has.

    def appeared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Give a spawn the behavior that its table in a zone file names."""
        fixture = self.content.fixture_at(zone, standing)
        if fixture is not None and fixture.behavior:
            for host in self._hosts:
                host.start_behavior(
                    fixture.behavior, fixture.behavior_options, zone, spawn, key=fixture.key
                )  # fmt: skip

    def vanished(self, _zone: Zone, spawn: Spawn) -> None:
        """End the behavior of a spawn."""
        for host in self._hosts:
            host.forget_spawn(spawn)

    def ended(self, zone: Zone) -> None:
        """End the behaviors of a zone that ends."""
        self._adopted.pop(zone, None)
        for host in self._hosts:
            host.forget_zone(zone)

    def is_from_file(self, zone: Zone, spawn: Spawn) -> bool:
        """Return whether a spawn of a running zone is in a zone file."""
        return spawn in self._adopted.get(zone, ()) or self.content.is_fixture(zone, spawn)

    def adopt(self, zone: Zone, spawn: Spawn) -> None:
        """Treat a spawn as one of the zone's files from now on: the next reload replaces it."""
        self._adopted.setdefault(zone, []).append(spawn)

    def forget(self, zone: Zone) -> None:
        """Remove a zone that ends, and its behaviors."""
        self.content.forget(zone)

    async def reload(self, fresh: Atlas, now: Monotonic) -> list[str]:
        """Take over another atlas, and change in running zones what differs.

        Players stay, and so do spawns that were added while the zone ran, and spawns whose table is
        the same as before, with their behaviors. Returns a line for each zone in which spawns of
        the content file change. Raises `EmuError` if a zone cannot be read.
        """
        running = self.content.running
        # Zones in which players stand keep their definition even if the new atlas has none.
        self._atlas.replace(fresh, keep={zone.zone_id for zone in running})
        for zone in running:
            definition = self._atlas.get(zone.zone_id)
            if definition is not None:
                self._exchange(zone, definition)
            for spawn in self._adopted.pop(zone, ()):
                self.vanished(zone, spawn)
                zone.remove(spawn, now)
        return await self.content.refresh()

    def _exchange(self, zone: Zone, definition: ZoneDefinition) -> None:
        """Give a running zone another definition, and the behavior that this names."""
        old, zone.definition = zone.definition, definition
        behavior = definition.behavior, definition.behavior_options
        if behavior != (old.behavior, old.behavior_options):
            for host in self._hosts:
                host.forget_own(zone)
            self._give_zone_behavior(zone, definition)
