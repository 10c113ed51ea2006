"""What a login server asks for in batches: the world's zones.

Each zone goes out once a link, since repeating one ends the link. What characters wear is asked for
as well; in a world without items there is nothing to tell. Source: docs/protocol/link.md#batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from emu.link.batches import ZONES_PER_BATCH, ZoneItem, ZoneUpdates


class ZoneReport:
    """The zones that this link's login server has not been told yet."""

    __slots__ = ("_told", "_zones")

    def __init__(self, zones: Callable[[], Sequence[ZoneItem]]) -> None:
        self._zones = zones
        self._told: set[int] = set()

    def restart(self) -> None:
        """Begin again: a new link knows nothing."""
        self._told.clear()

    def next_batch(self, most: int) -> ZoneUpdates | None:
        """Return the next zones, at most `most`; None when all are told."""
        fresh = (zone for zone in self._zones() if zone.zone_id not in self._told)
        batch = tuple(islice(fresh, min(most, ZONES_PER_BATCH)))
        self._told.update(zone.zone_id for zone in batch)
        return ZoneUpdates(batch) if batch else None
