"""Positions: places in a zone with a heading, and the distances and directions between them.

A direction is x and z on the ground, with Y up. A heading is the number of degrees for it that
zone files, databases and scripts have: 0 looks along -z, 90 along -x, 180 along +z, 270 along +x.
A client's heading is the opposite: 0 looks along +z, 90 along +x. It stands in ghosts and in the
predictions of clients. Everything that turns one of the three into another one calls a function
here. Source: docs/protocol/world/spawns.md#headings.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

HALF_TURN: Final = 180.0
FULL_TURN: Final = 360.0


def heading_of(x: float, z: float) -> float:
    """Return the heading, 0 to 360 degrees, that looks along a direction."""
    # A client's heading counts from the z axis toward the x axis, so x is the first argument.
    return from_client(math.degrees(math.atan2(x, z)))


def direction_of(heading: float) -> tuple[float, float]:
    """Return x and z of the direction, of length 1, along which a heading looks."""
    angle = math.radians(to_client(heading))
    return math.sin(angle), math.cos(angle)


def to_client(heading: float) -> float:
    """Return the client's heading for one of 0 to 360 degrees: -180 to 180."""
    return heading - HALF_TURN


def from_client(heading: float) -> float:
    """Return the heading, 0 to 360 degrees, for one of a client."""
    return (heading + HALF_TURN) % FULL_TURN


def rotated(x: float, z: float, turn: float) -> tuple[float, float]:
    """Return a direction after a turn by which headings grow, in degrees."""
    angle = math.radians(turn)
    sine, cosine = math.sin(angle), math.cos(angle)
    return x * cosine + z * sine, z * cosine - x * sine


class Position(NamedTuple):
    """A place in a zone: x, y, z in units with Y up, the heading in degrees, the client's grid.

    The heading is 0 to 360 as in zone files and databases; the module's text says what it means.
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
        """Return the heading with which `other` is ahead; the own one if there is no direction."""
        x, z = other.x - self.x, other.z - self.z
        return heading_of(x, z) if x or z else self.heading

    def ahead(self, distance: float) -> Position:
        """Return the place `distance` units along the heading; below 0 it lies behind."""
        x, z = direction_of(self.heading)
        return self._replace(x=self.x + x * distance, z=self.z + z * distance)

    def toward(self, other: Position, distance: float) -> Position:
        """Return the place `distance` units along the straight line to `other`, heading there.

        It is never beyond `other`.
        """
        span = math.dist(self[:3], other[:3])
        heading = self.heading_to(other)
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
