"""The present places of ghosts that walk, as a client moves them between two updates.

The server sends where a walk begins, its speed and its next two points; the client does the rest.
Source: docs/protocol/world/spawns.md#walks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from emu.client.world.surroundings import Place

SPEED_UNIT: Final = 256
"""The speed of one world unit per second."""


OFFSET_UNIT: Final = 32
"""The offset of one world unit."""
_POINTS: Final = (
    (("pos_next_x", "pos_next_y", "pos_next_z"), "pos_dest_loc_offset"),
    (("pos_x3", "pos_y3", "pos_z3"), "pos_dest_loc_offset2"),
)
"""The next two points of a walk: where newer versions have them, and as offsets of older ones."""


def place_after(position: Mapping[str, Any], place: Place, seconds: float) -> Place:
    """Return where a ghost is some seconds after its last update.

    `position` are the fields of its position part, `place` is where it was. Without a walk it
    stands there.
    """
    left = position.get("pos_speed", 0) / SPEED_UNIT * seconds
    begun = place[:3]
    for names, offsets in _POINTS:
        goal = tuple(float(position.get(name, 0.0)) for name in names)
        steps = position.get(offsets, ())
        if not any(goal) and any(steps):
            goal = tuple(at + step / OFFSET_UNIT for at, step in zip(begun, steps, strict=True))
        if left <= 0.0 or not any(goal):
            break
        whole = math.dist(place[:3], goal)
        part = 1.0 if left >= whole else left / whole
        x, y, z = (at + part * (to - at) for at, to in zip(place[:3], goal, strict=True))
        place = place._replace(x=x, y=y, z=z)
        left -= whole
    return place
