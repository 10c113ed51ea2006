"""The enemies that have killed a client that plays, and the places where it has died.

A person does not try again at once what has killed it: it comes back some levels higher. Only what
it needs for a quest that it does first is tried again after a while, and so is all the rest when
no fight gives another level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from emu.client.world.surroundings import Place
from emu.times import Monotonic

BRAVER: Final = 2
"""How many levels after a death it fights the same name again."""
FEARED: Final = 300.0
"""How long it leaves alone what it needs after the first such death, in seconds."""
MOST_FEARED: Final = 2
"""After the second death it waits as many times as long, and no longer after others."""
DANGER: Final = 30.0
"""How near the place of a death it does not look around, in world units."""
MOST_DEATHS: Final = 3
"""After how many deaths in a zone it looks for fights elsewhere."""
MOST_CAPPED: Final = 9
"""The same if experience gives it no level."""


@dataclass(slots=True)
class _Killer:
    """What is known of a name that has killed the player."""

    deaths: int
    level: int
    """The level of the player at the last death."""
    since: Monotonic


class Danger(IntEnum):
    """What is known of a place and of the way there; the higher, the worse."""

    NONE = 0
    ON_THE_WAY = 1
    THERE = 2


def _from_way(point: Place, begin: Place, end: Place) -> float:
    """Return how far a point is from a straight way, seen from above."""
    right, up = end.x - begin.x, end.z - begin.z
    whole = right * right + up * up
    part = ((point.x - begin.x) * right + (point.z - begin.z) * up) / whole if whole else 0.0
    part = min(max(part, 0.0), 1.0)
    return math.hypot(begin.x + part * right - point.x, begin.z + part * up - point.z)


class Fears:
    """What one player is afraid of."""

    def __init__(self) -> None:
        self._killers: dict[str, _Killer] = {}
        self._deaths: dict[str, list[tuple[Place, int]]] = {}
        """For each zone the places of its deaths, and its level then."""

    def died(self, killer: str, zone: str, place: Place, level: int, now: Monotonic) -> None:
        """Note a death in a zone by somebody; `killer` may be empty."""
        self._deaths.setdefault(zone, []).append((place, level))
        if killer:
            known = self._killers.get(killer)
            deaths = known.deaths + 1 if known is not None and known.level == level else 1
            self._killers[killer] = _Killer(deaths, level, now)

    def fears(self, name: str, level: int, now: Monotonic, *, is_needed: bool = False) -> bool:
        """Return whether it leaves a name alone.

        Time is enough for a needed one: it has no other way to go on.
        """
        known = self._killers.get(name)
        if known is None or level >= known.level + BRAVER:
            return False
        if is_needed:
            return now < known.since + FEARED * min(known.deaths, MOST_FEARED)
        return True

    def danger(self, zone: str, here: Place, place: Place, level: int) -> Danger:
        """Return whether it has died near a place, or on the way there, and is hardly stronger.

        A death beside it says nothing of a way.
        """
        deaths = [where for where, then in self._deaths.get(zone, ()) if level < then + BRAVER]
        if any(place.distance_to(where) < DANGER for where in deaths):
            return Danger.THERE
        if any(
            here.distance_to(where) >= DANGER and _from_way(where, here, place) < DANGER
            for where in deaths
        ):
            return Danger.ON_THE_WAY
        return Danger.NONE

    def is_deadly(self, zone: str, level: int, *, is_capped: bool = False) -> bool:
        """Return whether it has died so often in a zone that it fights elsewhere.

        If its level `is_capped` it becomes no stronger by that, and tries longer.
        """
        deaths = sum(level < then + BRAVER for _, then in self._deaths.get(zone, ()))
        return deaths >= (MOST_CAPPED if is_capped else MOST_DEATHS)

    def restart(self, now: Monotonic) -> None:
        """Go on at another time, by a clock that may have begun anew."""
        for one in self._killers.values():
            one.since = now
