"""The distance of a player to what it uses, as its client measures it."""

from __future__ import annotations

import math

from emu.world.actors.spawn import Spawn
from emu.world_stream.movement import Position


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
