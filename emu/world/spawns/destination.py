"""Where a way leads: a zone of this world, and the place there."""

from __future__ import annotations

from typing import NamedTuple

from emu.sight.position import Position


class Destination(NamedTuple):
    """A place in a zone of this world; without a position it is the zone's safe place."""

    zone_id: int
    position: Position | None = None
