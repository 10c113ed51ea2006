"""The stored travels of a character: its bind place, its discoveries and its instances.

All of it is one text of the character's row, so a save stores it as a whole.
Source: docs/guides/travel.md#kept.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from emu.facts import FARTHEST
from emu.times import Moment
from emu.world.actors.spawn import Destination
from emu.world_stream.movement import Position

MOST_AREAS: Final = 500
MOST_INSTANCES: Final = 100
"""Discoveries and instances that one character keeps; the oldest goes first."""
_U32: Final = 0xFFFFFFFF


class InstanceLock(NamedTuple):
    """A character's instance of a zone: it goes back there, and may not open another one yet."""

    number: int
    """The number of the instance; 0 after it was lost."""
    reenters: Moment
    """From when on the character may go back after leaving; a time that is over for at once."""
    opens: Moment
    """From when on the character may open a new one."""


@dataclass(slots=True)
class TravelRecord:
    """What one character keeps."""

    bound: Destination | None = None
    areas: list[int] = field(default_factory=list)
    """Numbers of the areas that it has discovered."""
    instances: dict[int, InstanceLock] = field(default_factory=dict)
    """By zone."""

    @property
    def text(self) -> str:
        """The record as it is stored; empty if there is nothing to keep."""
        stored: dict[str, Any] = {}
        if self.bound is not None and self.bound.position is not None:
            stored["bound"] = [self.bound.zone_id, *(round(one, 3) for one in self.bound.position)]
        if self.areas:
            stored["areas"] = self.areas[-MOST_AREAS:]
        if self.instances:
            kept = list(self.instances.items())[-MOST_INSTANCES:]
            stored["instances"] = {str(zone): list(lock) for zone, lock in kept}
        return json.dumps(stored, separators=(",", ":")) if stored else ""


def read_record(text: str) -> TravelRecord:
    """Read a stored record; what is not usable in it is left out."""
    try:
        stored = json.loads(text) if text else {}
    except ValueError:
        return TravelRecord()
    if not isinstance(stored, dict):
        return TravelRecord()
    areas = stored.get("areas")
    instances = stored.get("instances")
    return TravelRecord(
        _bound(stored.get("bound")),
        [one for one in areas if _is_number(one)] if isinstance(areas, list) else [],
        _instances(instances) if isinstance(instances, dict) else {},
    )


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _U32


def _bound(value: Any) -> Destination | None:
    if not isinstance(value, list) or len(value) != 6 or not _is_number(value[0]):
        return None
    zone_id, *place = value
    if not all(type(one) in (int, float) and abs(one) <= FARTHEST for one in place[:4]):
        return None
    x, y, z, heading = map(float, place[:4])
    grid = int(place[4]) if type(place[4]) in (int, float) and 0 <= place[4] <= _U32 else 0
    return Destination(zone_id, Position(x, y, z, heading % 360.0, grid))


def _instances(value: Mapping[str, Any]) -> dict[int, InstanceLock]:
    found: dict[int, InstanceLock] = {}
    for zone, lock in list(value.items())[:MOST_INSTANCES]:
        if not zone.isdecimal() or not isinstance(lock, list) or len(lock) != 3:
            continue
        number, *times = lock
        if _is_number(number) and all(
            type(one) in (int, float) and math.isfinite(one) for one in times
        ):
            reenters, opens = (Moment(float(one)) for one in times)
            found[int(zone[:10])] = InstanceLock(number, reenters, opens)
    return found
