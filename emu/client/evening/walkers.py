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


def place_after(position: Mapping[str, Any], place: Place, seconds: float) -> Place:
    """Return where a ghost is some seconds after its last update.

    `position` are the fields of its position part, `place` is where it was. Without a walk it
    stands there.
    """
    left = position.get("pos_speed", 0) / SPEED_UNIT * seconds
    for prefix in ("pos_next_{}", "pos_{}3"):
        goal = tuple(float(position.get(prefix.format(axis), 0.0)) for axis in "xyz")
        if left <= 0.0 or not any(goal):
            break
        whole = math.dist(place[:3], goal)
        part = 1.0 if left >= whole else left / whole
        x, y, z = (at + part * (to - at) for at, to in zip(place[:3], goal, strict=True))
        place = place._replace(x=x, y=y, z=z)
        left -= whole
    return place
