"""The exact shortest way on a plan of square floors: all corners that see each other.

Nothing of a mesh is used: a straight way is free if every square it runs through is a floor.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from heapq import heappop, heappush
from itertools import pairwise
from math import dist, floor

from tests.support.ground.mesh_bytes import Cell

Place = tuple[Fraction, Fraction]
"""Columns and rows from the origin: squares have a side of 1."""


class Plan:
    """Square floors."""

    def __init__(self, floors: set[Cell]) -> None:
        self._floors = floors
        around = {(c + i, r + j) for c, r in floors for i in (0, 1) for j in (0, 1)}
        self._corners = [
            (Fraction(c), Fraction(r)) for c, r in sorted(around) if self._is_bend(c, r)
        ]
        self._sees = cache(self.is_free)

    def component(self, start: Cell) -> set[Cell]:
        """Return the floors that can be reached from one."""
        found, waiting = {start}, [start]
        while waiting:
            c, r = waiting.pop()
            for one in ((c + 1, r), (c - 1, r), (c, r + 1), (c, r - 1)):
                if one in self._floors and one not in found:
                    found.add(one)
                    waiting.append(one)
        return found

    def length(self, start: Place, goal: Place) -> float:
        """Return the length of the shortest way, in sides of a square; infinity without one."""
        costs: dict[Place, float] = {start: 0.0}
        waiting = [(0.0, start)]
        while waiting:
            cost, place = heappop(waiting)
            if place == goal:
                return cost
            if cost > costs[place]:
                continue
            for other in (*self._corners, goal):
                total = cost + dist(tuple(map(float, place)), tuple(map(float, other)))
                if total < costs.get(other, float("inf")) and self._sees(place, other):
                    costs[other] = total
                    heappush(waiting, (total, other))
        return float("inf")

    def is_free(self, start: Place, goal: Place) -> bool:
        """Return whether the straight way between two places leaves no floor."""
        cuts = sorted({Fraction(0), Fraction(1), *self._cuts(start, goal)})
        places = [tuple(a + t * (b - a) for a, b in zip(start, goal, strict=True)) for t in cuts]
        before: set[Cell] | None = None
        for one, other in pairwise(places):
            middle = (one[0] + other[0]) / 2, (one[1] + other[1]) / 2
            own = self._around(middle)
            if not own:
                return False
            if before is not None and not self._are_joined(before, own, self._around(one)):  # type: ignore[arg-type]
                return False
            before = own
        return True

    def _is_bend(self, c: int, r: int) -> bool:
        """Return whether a shortest way can bend at a corner: one square at it is no floor."""
        return sum((c - i, r - j) in self._floors for i in (0, 1) for j in (0, 1)) == 3

    def _around(self, place: Place) -> set[Cell]:
        """Return the floors that a place is in, or at whose side or corner it is."""
        ranges = [
            range(int(one) - 1, int(one) + 1) if one.denominator == 1 else (floor(one),)
            for one in place
        ]
        return {(c, r) for c in ranges[0] for r in ranges[1]} & self._floors

    @staticmethod
    def _cuts(start: Place, goal: Place) -> list[Fraction]:
        found = []
        for a, b in zip(start, goal, strict=True):
            if a != b:
                low, high = sorted((a, b))
                found += [(line - a) / (b - a) for line in range(floor(low), floor(high) + 2)]
        return [one for one in found if 0 < one < 1]

    @staticmethod
    def _are_joined(before: set[Cell], after: set[Cell], around: set[Cell]) -> bool:
        """Return whether one gets from square to square by common sides at a corner."""
        found = before & around
        for _ in range(4):
            found |= {
                (c, r) for c, r in around if any(abs(c - d) + abs(r - s) == 1 for d, s in found)
            }
        return bool(found & after)
