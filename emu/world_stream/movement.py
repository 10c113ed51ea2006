"""Positions: places in a zone with a heading, and the distances and directions between them."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

HALF_TURN: Final = 180.0
FULL_TURN: Final = 360.0


class Position(NamedTuple):
    """A place in a zone: x, y, z in units with Y up, the heading in degrees, the client's grid.

    The heading is 0 to 360 as in zone files and databases. On the wire, clients count from the
    opposite direction (docs/protocol/world/spawns.md#units).
    """

    x: float
    y: float
    z: float
    heading: float = 0.0
    grid: int = 0

    def distance_to(self, other: Position) -> float:
        """Return the distance on the ground, without height: the one for visibility and chat."""
        return math.hypot(self.x - other.x, self.z - other.z)

    def heading_to(self, other: Position) -> float:
        """Return the heading from here to `other`, in degrees."""
        # Headings count from the z axis toward the x axis, so x is the first argument.
        angle = math.degrees(math.atan2(other.x - self.x, other.z - self.z))
        return (angle + FULL_TURN) % FULL_TURN

    def toward(self, other: Position, distance: float) -> Position:
        """Return the place `distance` units along the straight line to `other`, heading there.

        It is never beyond `other`.
        """
        span = math.dist(self[:3], other[:3])
        # Two equal places have no direction between them; the old heading then stays.
        heading = self.heading_to(other) if span else self.heading
        # This also excludes a span of zero, by which the share would be divided.
        if span <= distance:
            return other._replace(heading=heading)
        share = distance / span
        return Position(
            self.x + (other.x - self.x) * share,
            self.y + (other.y - self.y) * share,
            self.z + (other.z - self.z) * share,
            heading,
            self.grid,
        )
