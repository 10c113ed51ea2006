"""Water of oceans: EQ2Emulator's server weighs depths and angles where other regions have planes.

Oceans are open to the side, and their planes do not enclose them. So a place under a level plane
counts as water down to the plane's distance from the origin, and upright planes have limits of
their own. These are rules of that server, not of the files.
Source: the world server's RegionMapV1, read; compared with it at 19,200 places of all 32 oceans.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign
from typing import Final

from emu.ground.region_nodes import INSIDE, OUTSIDE, Node

PARENTED: Final = 3
"""The class of an ocean with a parent."""
PLAIN: Final = 5
"""The class of the other oceans."""
_LEVEL: Final = 0.9
"""The least part of a plane's normal along y that makes it level."""
_STEEP: Final = 0.5


def is_ocean(kind: int) -> bool:
    """Return whether the rules of oceans hold for a class."""
    return kind in (PARENTED, PLAIN)


def in_ocean(
    nodes: Sequence[Node], kind: int, point: tuple[float, float, float], share: float
) -> bool:
    """Return whether a place is in the water of an ocean.

    `share` is its distance from the middle of the region's sphere, as a share of the radius.
    """
    x, y, z = point
    at = 0
    while True:
        nx, ny, nz, d, _, front, behind = nodes[at]
        side, limit = nx * x + ny * y + nz * z - d, abs(d)
        if front == INSIDE and behind in (OUTSIDE, INSIDE):
            is_above = kind == PARENTED and behind == OUTSIDE and ny >= _LEVEL and side > 0
            return is_above or _is_near(nx, ny, nz, side, limit)
        if abs(ny) != 1.0 and _is_far(nx, nz, side, limit, share):
            return False
        if side == 0.0:
            return False
        at = front if side > 0.0 else behind
        if at == INSIDE:
            return side < 0.0 or kind == PARENTED or _is_near(nx, ny, nz, side, limit)
        if at == OUTSIDE:
            # Right under a plane that faces up, not deeper than its distance from the origin.
            faces_up = ny > 0.0 or (kind == PLAIN and copysign(1.0, ny) > 0.0)
            return side < 0.0 and faces_up and -side < limit


def _is_near(nx: float, ny: float, nz: float, side: float, limit: float) -> bool:
    """Return whether a place is so near to a plane that it is in the water at it."""
    depth = abs(side)
    is_level = (ny >= _LEVEL and side < 0.0) or (ny <= -_LEVEL and side > 0.0)
    if depth < limit and (abs(nx) >= 1.0 or is_level):
        return True
    slant = abs(nx * nz)
    if not slant or ny != 0.0 or abs(nz) >= 1.0:
        return False
    return any(abs(part) > _STEEP and depth * abs(part) / 2 < limit / slant for part in (nx, nz))


def _is_far(nx: float, nz: float, side: float, limit: float, share: float) -> bool:
    """Return whether a place is too far from the middle for a slanted plane to count."""
    slant = abs(nx * nz)
    far = share * side if side > 0.0 else share
    return slant > 0.0 and abs(far) / 2 > 2 * limit / slant
