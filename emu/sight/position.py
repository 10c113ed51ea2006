"""Where something stands and which way it looks. Knows no zone and no client."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

HALF_TURN: Final = 180.0
FULL_TURN: Final = 360.0


class Position(NamedTuple):
    """A place in a zone: world units with Y up, heading in degrees (0 to 360), the client's grid.

    The heading is the one that zone files and databases hold; clients count from its opposite
    (docs/protocol/world/spawns.md#units).
    """

    x: float
    y: float
    z: float
    heading: float = 0.0
    grid: int = 0

    def distance_to(self, other: Position) -> float:
        """Return the distance on the ground, which is what seeing and hearing go by."""
        return math.hypot(self.x - other.x, self.z - other.z)

    def heading_to(self, other: Position) -> float:
        """Return the heading in which somebody here looks at `other`."""
        angle = math.degrees(math.atan2(other.x - self.x, other.z - self.z))
        return (angle + FULL_TURN) % FULL_TURN

    def toward(self, other: Position, distance: float) -> Position:
        """Return the place `distance` units on the straight way to `other`, looking there.

        No farther than `other` itself.
        """
        span = math.dist(self[:3], other[:3])
        heading = self.heading_to(other) if span else self.heading
        if span <= distance:
            return other._replace(heading=heading)
        part = distance / span
        return Position(
            self.x + (other.x - self.x) * part,
            self.y + (other.y - self.y) * part,
            self.z + (other.z - self.z) * part,
            heading,
            self.grid,
        )
