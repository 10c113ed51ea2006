"""The exploration of zones by a client that plays: where spawns were seen, and where it was.

A zone is a grid of squares. The player goes to the nearest square where it has seen a spawn and
was not yet; new spawns come in sight on the way. So it sees the whole part of the zone that can be
reached from spawn to spawn. Who looks for people does not go to each square, but passes by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from emu.client.evening.seen import SeenSpawn
from emu.client.world.surroundings import NOWHERE, Place

CELL: Final = 25.0
"""Side of the squares in world units."""
SURVEYED: Final = 2
"""How many squares from it people are met in passing: a city has hundreds of squares, and who
stands there is in sight from farther away."""

Cell = tuple[int, int]


Dangers = Callable[[Place], "int | None"]
"""How dangerous it is to go to a place: the higher, the worse; None if it does not go there."""


def _no_danger(_place: Place) -> int:
    """Say that a place is not dangerous."""
    return 0


def _choose(places: Iterable[Place], here: Place, dangers: Dangers) -> Place | None:
    """Return the nearest of the least dangerous places; None if it goes to none of them."""
    rated = [(danger, one) for one in places if (danger := dangers(one)) is not None]
    if not rated:
        return None
    return min(rated, key=lambda one: (one[0], here.distance_to(one[1])))[1]


def cell_of(place: Place) -> Cell:
    """Return the square of a place."""
    return int(place.x // CELL), int(place.z // CELL)


class Exploration:
    """The squares of each zone that one player knows."""

    def __init__(self) -> None:
        self._places: dict[str, dict[Cell, Place]] = {}
        """For each zone and square the first place of a spawn that was seen there."""
        self._been: dict[str, set[Cell]] = {}
        self._zone = ""
        self._surveyed: set[str] = set()
        self.rounds: dict[str, int] = {}
        """How often each zone was seen as a whole."""

    def enter(self, zone: str) -> None:
        """Go on in a zone, by its name."""
        self._zone = zone
        self._places.setdefault(zone, {})
        self._been.setdefault(zone, set())
        self.rounds.setdefault(zone, 0)

    def look(self, here: Place, spawns: Iterable[SeenSpawn]) -> None:
        """Note where the player is, and where it sees spawns."""
        been = self._been.setdefault(self._zone, set())
        been.add(cell_of(here))
        places = self._places.setdefault(self._zone, {})
        for one in spawns:
            if one.place[:3] != NOWHERE:
                places.setdefault(cell_of(one.place), one.place)

    def middle(self) -> tuple[float, float]:
        """Return the middle of what was seen of the present zone, in x and z."""
        places = self._places.get(self._zone, {}).values()
        number = max(1, len(places))
        return sum(one.x for one in places) / number, sum(one.z for one in places) / number

    @property
    def has_seen_all(self) -> bool:
        """Whether the present zone was seen as a whole."""
        return self.rounds.get(self._zone, 0) > 0

    @property
    def has_surveyed(self) -> bool:
        """Whether all people of the present zone were met in passing."""
        return self.has_seen_all or self._zone in self._surveyed

    def next_far_place(self, here: Place, dangers: Dangers = _no_danger) -> Place | None:
        """Return the nearest place that it has not passed by; without one, None."""
        been = self._been.setdefault(self._zone, set())
        around = range(-SURVEYED, SURVEYED + 1)
        new = [
            place for (x, z), place in self._places.get(self._zone, {}).items()
            if not any((x + right, z + up) in been for right in around for up in around)
        ]  # fmt: skip
        chosen = _choose(new, here, dangers)
        if chosen is None:
            self._surveyed.add(self._zone)
            return None
        been.add(cell_of(chosen))
        return chosen

    def next_place(self, here: Place, dangers: Dangers = _no_danger) -> Place | None:
        """Return the nearest place where it was not; without one, None, and it begins anew."""
        been = self._been.setdefault(self._zone, set())
        places = self._places.get(self._zone, {})
        new = [place for cell, place in places.items() if cell not in been]
        chosen = _choose(new, here, dangers)
        if chosen is None:
            self.rounds[self._zone] = self.rounds.get(self._zone, 0) + 1
            been.clear()
            return None
        # It counts as visited, so that a place that cannot be reached is not tried again.
        been.add(cell_of(chosen))
        return chosen
