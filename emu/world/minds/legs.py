"""Legs of walks over the ground: the corners that a leg has between its two points.

A leg takes as long as the straight one, and the place on the map of the way is the same at each
moment: only the height differs. So corners may come when the leg is half walked, and a zone without
players catches up as without a map.
Source: docs/protocol/maps.md#legs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import Final, NamedTuple

from emu.ground.legs import LegCorner
from emu.world_stream.movement import Position

SHORTEST: Final = 3.0
"""Meters of a leg from which it gets corners."""
MOST_OVER: Final = 1.0
"""Meters over the ground at which a point of a walk is one of somebody who flies."""
MOST_UNDER: Final = 5.0
"""Meters under the ground at which a point is on another floor."""


class Bend(NamedTuple):
    """A place on a leg."""

    share: float
    """The part of the leg's time, from 0 to 1, after which it is reached."""
    place: Position


def length_of(start: Position, end: Position) -> float:
    """Return the meters of a leg on the map."""
    return hypot(end.x - start.x, end.z - start.z)


def bends_of(start: Position, end: Position, corners: Sequence[LegCorner]) -> tuple[Bend, ...]:
    """Return start, corners and end of a leg; nothing if it is to be walked straight.

    Start and end keep their heights. Where one of them is in the air, or no ground is under it, the
    creature flies or swims without saying so.
    """
    length = length_of(start, end)
    if len(corners) < 2 or not length:
        return ()
    first, last = corners[0], corners[-1]
    if not (_is_on_ground(start, first) and _is_on_ground(end, last)):
        return ()
    bends = [Bend(0.0, _on_grid(start, first))]
    for corner in corners[1:-1]:
        x, y, z = corner.place
        share = hypot(x - start.x, z - start.z) / length
        bends.append(Bend(share, _on_grid(Position(x, y, z, 0.0, bends[-1].place.grid), corner)))
    return (*bends, Bend(1.0, _on_grid(end, last)))


def between(bends: Sequence[Bend], at: int, share: float) -> Position:
    """Return the place at a share of a leg's time, behind the bend with the number `at`."""
    (begins, start), (ends, end) = bends[at], bends[at + 1]
    part = min(1.0, max(0.0, (share - begins) / (ends - begins)))
    return Position(
        start.x + (end.x - start.x) * part,
        start.y + (end.y - start.y) * part,
        start.z + (end.z - start.z) * part,
        start.heading,
        start.grid,
    )


def passed(bends: Sequence[Bend], share: float) -> int:
    """Return the number of the last bend that is behind a creature; never the end's."""
    return max(at for at, bend in enumerate(bends[:-1]) if at == 0 or bend.share <= share)


def _is_on_ground(place: Position, corner: LegCorner) -> bool:
    surface = corner.surface
    return surface is not None and -MOST_UNDER <= place.y - surface.y <= MOST_OVER


def _on_grid(place: Position, corner: LegCorner) -> Position:
    return place if corner.surface is None else place._replace(grid=corner.surface.grid)
