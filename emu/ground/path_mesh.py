"""Ways on a zone's mesh: the nearest polygon of a place, and the search for a way.

A search goes from middle to middle of the portals (A*), then pulls the way straight between their
ends. It runs in turns of a few polygons, so that none of them is long. A goal in another component
is never searched: the goal is then the nearest place of the own component.
Source: docs/protocol/maps.md#paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from math import cos, dist, floor, inf, isfinite, sin, tau
from pathlib import Path
from typing import Final, NamedTuple

from emu.errors import FileFormatError
from emu.ground.ground_layout import Point
from emu.ground.path_file import Floor, PathFile, Way

REACH: Final = (10.0, 200.0, 10.0)
"""Meters along x, y and z in which the polygon of a place is searched."""
MOST_POLYGONS: Final = 4092
"""Polygons after which a search ends."""
_SCALE: Final = 0.999
"""Of the straight distance to the goal, so that rounding never makes it too long."""
_TRIES: Final = 16
_SMALLER: Final = 0.8
_ANYWHERE: Final = (inf, inf, inf)
FAR_CELLS: Final = 12
"""Rings of cells around a goal in which the own component is searched."""
POLYGONS_A_TURN: Final = 100
"""Polygons of one turn: about 2 ms."""


class Spot(NamedTuple):
    """A place on a mesh."""

    polygon: int
    place: Point
    component: int


class WayFound(NamedTuple):
    """The corners of a way."""

    points: list[Point]
    reaches: bool
    """Whether it leads to the goal, not only near to it."""
    polygons: list[int]


NO_WAY: Final = WayFound([], False, [])


class PathMesh:
    """The mesh of one zone."""

    def __init__(self, path: Path, report: Callable[[str], object] = lambda _line: None) -> None:
        """Open a path file. `report` gets one line if it is found damaged later.

        Raises `FileFormatError`.
        """
        self.file = PathFile(path)
        self._report = report
        header = self.file.header
        self.digest = header.digest
        self.climb = header.climb
        self.polygons = header.polygons
        self.components = header.components
        self.fault = ""
        """Why the mesh is no longer used; empty for a usable one."""

    def close(self) -> None:
        """Close the file."""
        self.file.close()
        self.fault = self.fault or "is closed"

    def check(self) -> None:
        """Read the whole file and compare its checksum. Raises `FileFormatError`."""
        self.file.check()

    def nearest(self, place: Point) -> Spot | None:
        """Return the place on the mesh next to a place within `REACH`; None without one."""
        if self.fault:
            return None
        try:
            return self._nearest(place)
        except FileFormatError as error:
            self.damaged(error)
            return None

    def some_place(self, place: Point, radius: float, chance: Callable[[], float]) -> Spot | None:
        """Return any place that is reachable within a radius: where a scared creature runs.

        `chance` returns numbers from 0 up to 1. None is returned if a few tries find nothing.
        """
        own = self.nearest(place)
        if own is None:
            return None
        try:
            for number in range(_TRIES):
                # A small mesh is missed often: the circle becomes smaller with each try.
                far, turn = radius * _SMALLER**number * chance(), tau * chance()
                at = place[0] + far * cos(turn), place[2] + far * sin(turn)
                some = [n for n, one in self.file.cell(*self.cell_of(*at)) if one == own.component]
                if some:
                    polygon = some[int(chance() * len(some))]
                    corners = self.file.floor(polygon).corners
                    x, y, z = (sum(axis) / len(corners) for axis in zip(*corners, strict=True))
                    return Spot(polygon, (x, y, z), own.component)
        except FileFormatError as error:
            self.damaged(error)
        return None

    def search(self, start: Point, goal: Point) -> PathSearch:
        """Return a search for the way between two places."""
        return PathSearch(self, start, goal)

    def damaged(self, error: FileFormatError) -> None:
        """End the use of the file."""
        self.fault = str(error)
        self.file.close()
        self._report(f"{error}; the zone goes on without this mesh: import it anew")

    def _nearest(self, place: Point) -> Spot | None:
        x, y, z = place
        if not (isfinite(x) and isfinite(y) and isfinite(z)):
            return None
        best = _Best(self, place)
        middle = self.cell_of(x, z)
        for ring in range(int(REACH[0] // self.file.header.cell) + 2):
            if best.is_nearer_than(ring):
                break
            for cell in _ring(middle, ring):
                for number, _ in self.file.cell(*cell):
                    best.offer(number, REACH)
        return best.spot

    def cell_of(self, x: float, z: float) -> tuple[int, int]:
        """Return column and row of the cell of a place."""
        header = self.file.header
        return floor((x - header.west) / header.cell), floor((z - header.south) / header.cell)

    def nearest_of(self, component: int, place: Point) -> Iterator[Spot | None]:
        """Search the place of a component next to a place, ring of cells by ring.

        It yields None after each cell, and at the end what it found, if anything.
        """
        middle = self.cell_of(place[0], place[2])
        best = _Best(self, place)
        for ring in range(FAR_CELLS + 1):
            if best.is_nearer_than(ring):
                break
            for cell in _ring(middle, ring):
                for number, own in self.file.cell(*cell):
                    if own == component:
                        best.offer(number, _ANYWHERE)
                yield None
        yield best.spot


class _Best:
    """The nearest of the polygons that it is offered."""

    def __init__(self, mesh: PathMesh, place: Point) -> None:
        self._mesh = mesh
        self._place = place
        self._distance = inf
        self._seen: set[int] = set()
        self.spot: Spot | None = None

    def offer(self, number: int, reach: Point) -> None:
        """Take a polygon if it is nearer than those before, and within a reach of each axis."""
        # A large polygon is in several cells.
        if self._distance == 0.0 or number in self._seen:
            return
        self._seen.add(number)
        own = self._mesh.file.floor(number)
        at, distance = nearest_on(own, self._place, self._mesh.climb)
        if distance >= self._distance:
            return
        if all(abs(a - b) <= most for a, b, most in zip(at, self._place, reach, strict=True)):
            self._distance, self.spot = distance, Spot(number, at, own.component)

    def is_nearer_than(self, ring: int) -> bool:
        """Return whether no cell of a ring can have a nearer polygon."""
        return self._distance <= (ring - 1) * self._mesh.file.header.cell


def _ring(middle: tuple[int, int], ring: int) -> Iterator[tuple[int, int]]:
    """Yield the cells whose distance from a cell is `ring`."""
    column, row = middle
    if not ring:
        yield middle
        return
    for step in range(-ring, ring + 1):
        yield column + step, row - ring
        yield column + step, row + ring
    for step in range(1 - ring, ring):
        yield column - ring, row + step
        yield column + ring, row + step


def nearest_on(own: Floor, place: Point, climb: float) -> tuple[Point, float]:
    """Return the place of a polygon next to a place, and its distance.

    Right over or under the polygon, a difference in height up to `climb` is none: a creature on a
    step is not on another floor beside it.
    """
    x, y, z = place
    corners = own.corners
    height = _height(corners, x, z)
    if height is not None:
        return (x, height, z), max(0.0, abs(y - height) - climb)
    best, least = place, inf
    for at in range(len(corners)):
        (ax, ay, az), (bx, by, bz) = corners[at - 1], corners[at]
        dx, dz = bx - ax, bz - az
        length = dx * dx + dz * dz
        share = ((x - ax) * dx + (z - az) * dz) / length if length else 0.0
        share = min(1.0, max(0.0, share))
        near = ax + share * dx, ay + share * (by - ay), az + share * dz
        far = dist(near, place)
        if far < least:
            best, least = near, far
    return best, least


def _height(corners: Sequence[Point], x: float, z: float) -> float | None:
    """Return the height of a convex polygon at a place; None beside it."""
    ax, ay, az = corners[0]
    found = None
    for at in range(1, len(corners) - 1):
        (bx, by, bz), (cx, cy, cz) = corners[at], corners[at + 1]
        c = (bx - ax) * (z - az) - (bz - az) * (x - ax)
        a = (cx - bx) * (z - bz) - (cz - bz) * (x - bx)
        b = (ax - cx) * (z - cz) - (az - cz) * (x - cx)
        total = a + b + c
        if total and (min(a, b, c) >= 0.0 if total > 0.0 else max(a, b, c) <= 0.0):
            found = (a * ay + b * by + c * cy) / total
            break
    return found


Reached = tuple[float, Point, int, "Way | None"]
"""The cost up to a polygon, the place where it was entered, the polygon before, and the way."""


class PathSearch:
    """A search for one way, in turns."""

    def __init__(self, mesh: PathMesh, start: Point, goal: Point) -> None:
        self._mesh = mesh
        self.result: WayFound | None = None
        """The way, when the search has ended; without points if there is none."""
        self.visited = 0
        """Polygons that were visited."""
        self._steps = self._run(start, goal)

    def advance(self, polygons: int = POLYGONS_A_TURN) -> bool:
        """Go on for some polygons; return whether the search has ended."""
        try:
            for _ in range(polygons):
                if self.result is not None:
                    break
                next(self._steps)
        except StopIteration:
            self.result = self.result or NO_WAY
        except FileFormatError as error:
            self._mesh.damaged(error)
            self.result = NO_WAY
        return self.result is not None

    def finish(self) -> WayFound:
        """Search to the end in one turn, where no turn may be long: in tools and tests."""
        while not self.advance():
            pass
        return self.result or NO_WAY

    def _run(self, start: Point, goal: Point) -> Iterator[None]:
        first, last = self._mesh.nearest(start), self._mesh.nearest(goal)
        if first is None or not all(map(isfinite, goal)):
            return
        reaches = last is not None and last.component == first.component
        if not reaches:
            # Without a polygon near the goal no ring has one either: the search begins there.
            last = None
            for spot in self._mesh.nearest_of(first.component, goal):
                last = spot or last
                yield
        if last is None:
            return
        yield from self._search(first, last, reaches)

    def _search(self, first: Spot, last: Spot, reaches: bool) -> Iterator[None]:
        goal, end, ways = last.place, last.polygon, self._mesh.file.ways
        own = self._mesh.file.floor(first.polygon)
        reached: dict[int, Reached] = {first.polygon: (0.0, first.place, -1, None)}
        closest, least = first.polygon, dist(first.place, goal)
        waiting = [(least * _SCALE, first.polygon, 0.0, own.first, own.portals)]
        while waiting:
            _, polygon, cost, portal, portals = heappop(waiting)
            known_cost, place, parent, _ = reached[polygon]
            if cost > known_cost:
                continue
            if polygon == end:
                self.result = _way(reached, polygon, goal, reaches)
                return
            for way in ways(portal, portals):
                neighbor = way[0]
                known = reached.get(neighbor)
                if neighbor == parent or (known is None and len(reached) >= MOST_POLYGONS):
                    continue
                _, _, _, ax, ay, az, bx, by, bz = way
                middle = known[1] if known else ((ax + bx) / 2, (ay + by) / 2, (az + bz) / 2)
                total, rest = cost + dist(place, middle), dist(middle, goal)
                if neighbor == end:
                    total, rest = total + rest, 0.0
                if known and total >= known[0]:
                    continue
                reached[neighbor] = total, middle, polygon, way
                if rest < least:
                    closest, least = neighbor, rest
                heappush(waiting, (total + rest * _SCALE, neighbor, total, way[1], way[2]))
            self.visited += 1
            yield
        near, _ = nearest_on(self._mesh.file.floor(closest), goal, self._mesh.climb)
        self.result = _way(reached, closest, near, reaches=False)


def _way(reached: dict[int, Reached], polygon: int, goal: Point, reaches: bool) -> WayFound:
    """Return the way to a polygon, and in it to a place."""
    polygons, portals = [polygon], []
    _, start, parent, way = reached[polygon]
    while way is not None:
        polygons.append(parent)
        portals.append((way[3:6], way[6:9]))
        _, start, parent, way = reached[parent]
    return WayFound(pull_straight(start, portals[::-1], goal), reaches, polygons[::-1])


def pull_straight(start: Point, portals: Sequence[tuple[Point, Point]], goal: Point) -> list[Point]:
    """Return the shortest way through portals: start, corners and goal.

    The two sides of a funnel lead from the last corner to the ends of the portals. If one of them
    crosses the other, the end it crosses is the next corner. Source: Mononen, Simple Stupid Funnel
    Algorithm, 2010.
    """
    gates = [*portals, (goal, goal)]
    points = [start]
    apex = left = right = start
    left_at = right_at = apex_at = at = 0
    while at < len(gates):
        new_left, new_right = gates[at]
        at += 1
        crossed = None
        if _turn(apex, right, new_right) <= 0.0:
            if right == apex or _turn(apex, left, new_right) > 0.0:
                right, right_at = new_right, at
            else:
                crossed = left, left_at
        if crossed is None and _turn(apex, left, new_left) >= 0.0:
            if left == apex or _turn(apex, right, new_left) < 0.0:
                left, left_at = new_left, at
            else:
                crossed = right, right_at
        # A place that is not a number crosses without an end; the search must go on behind it.
        if crossed is not None and crossed[1] > apex_at:
            apex, at = crossed
            left = right = apex
            left_at = right_at = apex_at = at
            if points[-1] != apex:
                points.append(apex)
    if points[-1] != goal:
        points.append(goal)
    return points


def _turn(corner: Point, one: Point, other: Point) -> float:
    """Return twice the area of three places on the map.

    It is negative if `other` is on the left of the way from the corner to `one`.
    """
    return (one[2] - corner[2]) * (other[0] - corner[0]) - (one[0] - corner[0]) * (
        other[2] - corner[2]
    )
