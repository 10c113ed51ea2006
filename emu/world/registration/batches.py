"""What a login server asks for in batches: the world's zones and what its characters wear.

Each zone goes out once a link, since repeating one ends the link; equipment goes out when it has
changed. Source: docs/protocol/link.md#batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from emu.link.batches import (
    EQUIPMENT_PER_BATCH,
    ZONES_PER_BATCH,
    EquipmentItem,
    LoginEquipment,
    ZoneItem,
    ZoneUpdates,
)

SHOWN_SLOTS = frozenset({*range(9), 19})
"""Slots that EQ2Emulator's worlds report: what one sees, and the cloak."""
MOST_WAITING = 100_000


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


class EquipmentReport:
    """What characters wear that no login server has been told yet; the latest of a slot counts."""

    __slots__ = ("_changed", "_serial")

    def __init__(self) -> None:
        self._changed: dict[tuple[int, int], EquipmentItem] = {}
        self._serial = 0

    def __len__(self) -> int:
        return len(self._changed)

    def worn(self, char_id: int, slot: int, model: int, color: tuple[int, int, int]) -> None:
        """Note what a slot shows now; model 0 is nothing. Slots that do not show are left out.

        The highlight color is the color, as EQ2Emulator's worlds send it.
        """
        if slot not in SHOWN_SLOTS:
            return
        self._changed.pop((char_id, slot), None)
        if len(self._changed) >= MOST_WAITING:
            del self._changed[next(iter(self._changed))]
        self._serial += 1
        item = EquipmentItem(self._serial & 0xFFFFFFFF, char_id, model, color, color, slot)
        self._changed[char_id, slot] = item

    def next_batch(self, most: int) -> LoginEquipment | None:
        """Return the oldest changes, at most `most`, and forget them; None when there are none."""
        keys = list(islice(self._changed, min(most, EQUIPMENT_PER_BATCH)))
        batch = tuple(self._changed.pop(key) for key in keys)
        return LoginEquipment(batch) if batch else None
