"""Routes of creatures: straight where the ground allows it, else over the mesh.

A route runs in turns: first the straight leg is sampled; if it cannot be walked, the mesh is
searched; then each leg gets the corners of the ground. Without a mesh, and without a way on it,
the route is straight, as EQ2Emulator's server does it.
Source: docs/protocol/maps.md#paths.
"""

from __future__ import annotations

from collections.abc import Container, Generator
from itertools import pairwise
from math import dist
from typing import Final, NamedTuple

from emu.ground.ground_layout import Point
from emu.ground.ground_map import VISITS_A_TURN, GroundMap
from emu.ground.legs import LegCorner, LegTrace
from emu.ground.path_mesh import PathMesh

UNITS_A_TURN: Final = 60
"""Samples or polygons of one turn: about 2 ms of polygons."""
LONGEST_STRAIGHT: Final = 100.0
"""Meters of a straight leg that is tried before the mesh."""


class Route(NamedTuple):
    """The points of a way, from the start on."""

    corners: list[LegCorner]
    reaches: bool
    """Whether it leads to the goal on ground that can be walked."""
    is_straight: bool


class RouteSearch:
    """A search for one route, in turns."""

    def __init__(
        self,
        ground: GroundMap | None,
        mesh: PathMesh | None,
        start: Point,
        goal: Point,
        without: Container[int] = (),
    ) -> None:
        """Without a map the legs are straight; without a mesh the route is."""
        self._ground, self._mesh, self._without = ground, mesh, without
        self.result: Route | None = None
        """The route, when the search has ended."""
        self._steps = self._run(start, goal)

    def advance(self, units: int = UNITS_A_TURN) -> bool:
        """Go on for some samples or polygons; return whether the search has ended.

        A sample in a building takes much longer than one in a meadow, so the turn also ends with
        the sample that has looked at `VISITS_A_TURN` parts of the map.
        """
        ground = self._ground
        end = ground.visits + VISITS_A_TURN if ground is not None else 0
        for _ in range(units):
            if next(self._steps, self) is self:
                return True
            if ground is not None and ground.visits >= end:
                break
        return False

    def finish(self) -> Route:
        """Search to the end in one turn, where no turn may be long: in tools and tests."""
        while not self.advance():
            pass
        if self.result is None:
            raise AssertionError("a search ends with a result")
        return self.result

    def _run(self, start: Point, goal: Point) -> Generator[None, None, None]:
        straight = yield from self._straight(start, goal)
        if straight is not None and straight.is_walkable:
            self.result = Route(straight.corners, reaches=True, is_straight=True)
            return
        points: list[Point] = []
        reaches = False
        if self._mesh is not None:
            search = self._mesh.search(start, goal)
            while not search.advance(1):
                yield
            if search.result is not None:
                points, reaches = search.result.points, search.result.reaches
        if not points:
            corners = [LegCorner(start, None), LegCorner(goal, None)]
            if straight is not None and straight.corners:
                corners = straight.corners
            self.result = Route(corners, reaches=False, is_straight=True)
            return
        corners = yield from self._over_ground(points)
        self.result = Route(corners, reaches, is_straight=False)

    def _straight(self, start: Point, goal: Point) -> Generator[None, None, LegTrace | None]:
        """Sample the straight leg; return its trace, None if it is not tried."""
        if self._ground is None or self._ground.fault or dist(start, goal) > LONGEST_STRAIGHT:
            return None
        trace = LegTrace(self._ground, start, goal, self._without)
        while not trace.advance(1):
            # A wall is enough; what lies behind it does not matter if there is a mesh.
            if not trace.is_walkable and self._mesh is not None and not self._mesh.fault:
                return trace
            yield
        return trace

    def _over_ground(self, points: list[Point]) -> Generator[None, None, list[LegCorner]]:
        """Return the points with the corners of the ground between them."""
        if self._ground is None or self._ground.fault:
            return [LegCorner(point, None) for point in points]
        corners: list[LegCorner] = []
        for start, end in pairwise(points):
            # The mesh says where the way can be walked.
            trace = LegTrace(self._ground, start, end, self._without, only_heights=True)
            while not trace.advance(1):
                yield
            corners += trace.corners[1:] if corners else trace.corners
        return corners or [LegCorner(points[0], None)]
