"""Zone names and descriptions for the character list, read from the store now and then.

Worlds describe their zones (docs/protocol/link.md#batches); clients from 1212 on are shown that
name, older ones the name of the zone's file, and all of them the description
(docs/protocol/characters.md#entry-format).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from emu.model import Character, ZoneDescription
from emu.times import Monotonic

Texts = tuple[str, str]


class ZoneSource(Protocol):
    """Where zones come from; `emu.login.ports.RegisteredWorlds` is one."""

    async def zones_of(self, world_id: int) -> Sequence[ZoneDescription]:
        """Return the zones a world has described."""


class ZoneTexts:
    """The zones of every world that was asked for, each kept for `memory` seconds."""

    def __init__(self, source: ZoneSource, memory: float) -> None:
        self._source = source
        self._memory = memory
        self._worlds: dict[int, tuple[float, dict[int, ZoneDescription]]] = {}

    async def texts(self, row: Character, *, by_name: bool, now: Monotonic) -> Texts:
        """Return a character's zone and its description; empty where nothing is known."""
        zone = await self._find(row.world_id, row.zone_id, now)
        if zone is None:
            return row.zone_name, row.zone_description
        name = (zone.name if by_name else row.zone_name) or row.zone_name or zone.name
        return name, zone.description or row.zone_description

    async def _find(self, world_id: int, zone_id: int, now: Monotonic) -> ZoneDescription | None:
        if not zone_id:
            return None
        kept = self._worlds.get(world_id)
        if kept is None or kept[0] <= now:
            zones = {zone.zone_id: zone for zone in await self._source.zones_of(world_id)}
            kept = self._worlds[world_id] = (now + self._memory, zones)
        return kept[1].get(zone_id)
