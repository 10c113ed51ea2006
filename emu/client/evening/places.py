"""The search for a place that a task names: a client that plays walks around where it has arrived.

"I need to visit the gates to the Peat Bog." is done some steps from where the gates let the player
in, and no spawn stands there. "I need to locate the gates to North Freeport." is done some steps
before the sign of these gates. "I need to scout the goblin camp." is done between two of the tents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from emu.client.world.surroundings import Place

RINGS: Final = (12.0, 24.0, 46.0)
"""How far from its arrival it looks, in world units: the places of tasks are 6 to 15 wide."""
NEAR: Final = (6.0, 12.0, 30.0)
"""The same around a thing that a task names."""
APART: Final = 40.0
"""How far from another thing one is around which it looks as well."""
POINTS: Final = 8
"""Points of each ring."""


class PlaceSearch:
    """Where one player has arrived, and the points around that it has still to look at."""

    def __init__(self) -> None:
        self._arrival: Place | None = None
        self._left: dict[tuple[str, str], list[Place]] = {}
        self._things: dict[tuple[str, str], list[Place]] = {}
        """The things that a task of a zone names."""
        self._near: dict[tuple[str, str], list[Place]] = {}
        """The points around these."""

    def arrive(self) -> None:
        """Forget the arrival: the player comes into another zone."""
        self._arrival = None

    def stand(self, here: Place) -> None:
        """Note where the player is; the first place in a zone is its arrival."""
        if self._arrival is None:
            self._arrival = here

    def look_near(self, zone: str, task: str, place: Place) -> None:
        """Note where a thing is that a task names, if it is not beside another one."""
        known = self._things.setdefault((zone, task), [])
        if all(one.distance_to(place) >= APART for one in known):
            known.append(place)
            self._near.setdefault((zone, task), []).extend(_around(place, NEAR))

    def next_near(self, zone: str, task: str, here: Place) -> Place | None:
        """Return the nearest point around a thing of a task; None when all were looked at."""
        left = self._near.get((zone, task))
        if not left:
            return None
        nearest = min(left, key=here.distance_to)
        left.remove(nearest)
        return nearest

    def next_place(self, zone: str, task: str) -> Place | None:
        """Return the next point for a task in a zone; None when all were looked at."""
        centre = self._arrival
        if centre is None:
            return None
        left = self._left.setdefault((zone, task), _around(centre, RINGS))
        return left.pop(0) if left else None


def _around(centre: Place, rings: Sequence[float]) -> list[Place]:
    turn = 2 * math.pi / POINTS
    return [
        Place(centre.x + far * math.cos(at * turn), centre.y, centre.z + far * math.sin(at * turn))
        for far in rings for at in range(POINTS)
    ]  # fmt: skip
