"""The distance of a player to what it uses, as its client measures it."""

from __future__ import annotations

import math
from typing import Final

from emu.world.actors.spawn import Spawn
from emu.world_stream.movement import Position

REACH: Final = 10.0
"""How far a player may be from a spawn whose verbs have no distance of their own."""
SLACK: Final = 2.0
"""Units that the player may go away from the place where it has opened a window."""


def distance_of(spawn: Spawn, place: Position) -> float:
    """Return how far a place is from a spawn, in world units.

    A sign or widget that clients are sent without a place is drawn at a part of the zone's model,
    which may be some units away from where it was put. The nearer of both counts.
    Source: docs/protocol/world/spawns.md#position.
    """
    away, footer = place.distance_to(spawn.position), spawn.footer
    if footer is None or footer.with_place or not footer.id:
        return away
    return min(away, math.dist(place[:3], (footer.x, footer.y, footer.z)))


def reach_of(spawn: Spawn, place: Position) -> float:
    """Return how far from a spawn its window works that a player has opened at a place."""
    verbs = (*spawn.verbs, *spawn.more_verbs)
    reach = max((one.distance for one in verbs), default=0.0) or REACH
    # A script may have opened it farther away.
    return max(reach, distance_of(spawn, place)) + SLACK
