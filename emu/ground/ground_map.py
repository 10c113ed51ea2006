"""Answers about a zone's ground from its ground file: heights of surfaces, and lines of sight.

Triangles count from both sides and have their true size: EQ2Emulator enlarges them by a tenth from
their first corner, which gives surfaces where none is. A file that turns out to be damaged is
closed and reported once; from then on the answers are those without a map.
Source: docs/protocol/maps.md#height.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from math import ceil, floor, isfinite
from pathlib import Path
from typing import Final, NamedTuple

from emu.errors import FileFormatError
from emu.ground.ground_file import Box, GroundFile, Triangle
from emu.ground.ground_layout import FAN, Point

ABOVE: Final = 1.0
"""Meters above a point from which the way down begins."""
EYES: Final = 2.0
"""Meters above both feet between which a line of sight is drawn."""
BELOW: Final = 200.0
"""Meters under the lowest triangle at which a player has left the world."""
VISITS_A_TURN: Final = 600
"""Parts of a map that the answers of one turn look at: 2 to 3 ms."""
_FAR: Final = float(1 << 32)
"""Steps over all numbers of a file."""


class Surface(NamedTuple):
    """A place on the ground."""

    y: float
    grid: int
    """The number that clients report as their location."""
    widget: int
    """The widget that the surface belongs to; 0 for none."""


Hit = tuple[float, int]
"""A height in steps, and the group of the triangle: a lower group stands earlier in the map."""


class GroundMap:
    """The ground of one zone."""

    def __init__(self, path: Path, report: Callable[[str], object] = lambda _line: None) -> None:
        """Open a ground file. `report` gets one line if it is found damaged later.

        Raises `FileFormatError`.
        """
        self._file = GroundFile(path)
        self._report = report
        header = self._file.header
        self.low: Point = header.low
        """The lowest x, y and z of all triangles."""
        self.high: Point = header.high
        self.triangles = header.triangles
        self.digest = header.digest
        self.fault = ""
        """Why the map is no longer used; empty for a usable one."""
        self.visits = 0
        """Parts of the tree that all answers have looked at: a measure of time without a clock."""
        (self._ox, self._oy, self._oz), (self._sx, self._sy, self._sz) = header.origin, header.step
        self._leaves = len(self._file.levels)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self.fault = self.fault or "is closed"

    def surface(self, x: float, y: float, z: float, without: Container[int] = ()) -> Surface | None:
        """Return the best height for a point: the next surface from 1 m above it down, else up.

        A surface exactly 1 m above the point is not below that, as for EQ2Emulator's server.

        `without` are groups that `groups_of` returned, whose triangles do not count. None is
        returned where no surface is.
        """
        if self.fault or not self.triangles:
            return None
        column, row = (x - self._ox) / self._sx, (z - self._oz) / self._sz
        if not (isfinite(column) and isfinite(row)):
            return None
        # A step less: rounding must not put a table of exactly 1 m under the top.
        top = (y + ABOVE - self._oy) / self._sy - 1.0
        try:
            hit = self._below(column, row, top, without) or self._over(column, row, top, without)
            if hit is None:
                return None
            grid, widget, _ = self._file.group(hit[1])
        except FileFormatError as error:
            self._damaged(error)
            return None
        return Surface(self._oy + hit[0] * self._sy, grid, widget)

    def is_clear(self, start: Point, end: Point, without: Container[int] = ()) -> bool:
        """Return whether no triangle lies between two points; True if the map is unusable."""
        if self.fault or not self.triangles:
            return True
        try:
            begin, goal = self._steps(start), self._steps(end)
            return not all(map(isfinite, begin + goal)) or not self._is_blocked(
                begin, goal, without
            )
        except FileFormatError as error:
            self._damaged(error)
            return True

    def sees(self, start: Point, end: Point, without: Container[int] = ()) -> bool:
        """Return whether two who stand at two points have a line of sight, 2 m over their feet."""
        (x, y, z), (far_x, far_y, far_z) = start, end
        return self.is_clear((x, y + EYES, z), (far_x, far_y + EYES, far_z), without)

    def is_below(self, y: float) -> bool:
        """Return whether a height is so far under all triangles that a player fell out."""
        return bool(self.triangles) and y < self.low[1] - BELOW

    def groups_of(self, widgets: Iterable[int]) -> frozenset[int]:
        """Return the groups of some widgets, for `without`."""
        wanted = set(widgets) - {0}
        if self.fault or not wanted:
            return frozenset()
        return frozenset(
            number for number, (_, widget, _) in enumerate(self._file.groups()) if widget in wanted
        )

    def widget_place(self, widget: int) -> Point | None:
        """Return the place of a widget; None if the map does not have it."""
        if self.fault:
            return None
        found = (place for _, one, place in self._file.groups() if one == widget != 0)
        return next(found, None)

    def grids(self) -> frozenset[int]:
        """Return the grids of the map."""
        return frozenset() if self.fault else self._file.grids()

    def check(self) -> None:
        """Read the whole file and compare its checksum. Raises `FileFormatError`."""
        self._file.check()

    def _damaged(self, error: FileFormatError) -> None:
        self.fault = str(error)
        self._file.close()
        self._report(f"{error}; the zone goes on without this map: import it anew")

    def _steps(self, point: Point) -> Point:
        x, y, z = point
        return (x - self._ox) / self._sx, (y - self._oy) / self._sy, (z - self._oz) / self._sz

    def _below(self, x: float, z: float, top: float, without: Container[int]) -> Hit | None:
        """Return the highest hit of a vertical line at or below `top`, in steps."""
        file, leaves = self._file, self._leaves
        found: Hit | None = None
        best = -1.0
        west, east, south, north = _around(x, z)
        under = floor(max(-1.0, min(top, _FAR)))
        waiting = [(top, 0, 0)]
        while waiting:
            high, level, first = waiting.pop()
            if high < best:
                continue
            self.visits += 1
            if level == leaves:
                for hit in _hits(file.leaf(first), x, z, without):
                    # Of two floors in one place the first of the file counts.
                    if best <= hit[0] <= top and (found is None or _rank(hit) > _rank(found)):
                        found, best = hit, hit[0]
                continue
            level, fan = level + 1, FAN if level + 1 < leaves else 1
            fitting = [
                (y1, level, number * fan)
                for number, (x0, x1, z0, z1, y0, y1) in enumerate(
                    file.boxes(level - 1, first), first
                )
                if x0 <= west
                and x1 >= east
                and z0 <= south
                and z1 >= north
                and y0 <= under
                and y1 >= best
            ]
            if len(fitting) > 1:
                fitting.sort()
            waiting += fitting
        return found

    def _over(self, x: float, z: float, bottom: float, without: Container[int]) -> Hit | None:
        """Return the lowest hit of a vertical line above `bottom`, in steps."""
        file, leaves = self._file, self._leaves
        found: Hit | None = None
        best = _FAR
        west, east, south, north = _around(x, z)
        waiting = [(-bottom, 0, 0)]
        while waiting:
            low, level, first = waiting.pop()
            if -low > best:
                continue
            self.visits += 1
            if level == leaves:
                for hit in _hits(file.leaf(first), x, z, without):
                    if bottom < hit[0] <= best and (found is None or hit < found):
                        found, best = hit, hit[0]
                continue
            level, fan = level + 1, FAN if level + 1 < leaves else 1
            fitting = [
                (-y0, level, number * fan)
                for number, (x0, x1, z0, z1, y0, y1) in enumerate(
                    file.boxes(level - 1, first), first
                )
                if x0 <= west
                and x1 >= east
                and z0 <= south
                and z1 >= north
                and y1 >= bottom
                and y0 <= best
            ]
            if len(fitting) > 1:
                fitting.sort()
            waiting += fitting
        return found

    def _is_blocked(self, start: Point, end: Point, without: Container[int]) -> bool:
        """Return whether a triangle lies between two points, in steps."""
        meets = _box_test(start, end)
        waiting = [(0, 0)]
        while waiting:
            level, first = waiting.pop()
            self.visits += 1
            if level == self._leaves:
                if _is_hit(self._file.leaf(first), start, end, without):
                    return True
                continue
            level, fan = level + 1, FAN if level + 1 < self._leaves else 1
            waiting += [
                (level, number * fan)
                for number, box in enumerate(self._file.boxes(level - 1, first), first)
                if meets(box)
            ]
        return False


def _around(x: float, z: float) -> tuple[int, int, int, int]:
    """Return the whole steps around a vertical line: along x the lower, the upper, then along z.

    Two integers are compared in half the time of an integer and a float.
    """
    return floor(x), ceil(x), floor(z), ceil(z)


def _rank(hit: Hit) -> tuple[float, int]:
    return hit[0], -hit[1]


def _hits(triangles: Iterable[Triangle], x: float, z: float, without: Container[int]) -> list[Hit]:
    """Return height and group of each triangle that a vertical line meets."""
    found = []
    west, east, south, north = _around(x, z)
    for ax, ay, az, bx, by, bz, cx, cy, cz, group in triangles:
        if (
            (ax < east and bx < east and cx < east)
            or (ax > west and bx > west and cx > west)
            or (az < north and bz < north and cz < north)
            or (az > south and bz > south and cz > south)
        ):
            continue
        # Twice the areas between the line and two corners each: all have one sign inside.
        c = (bx - ax) * (z - az) - (bz - az) * (x - ax)
        a = (cx - bx) * (z - bz) - (cz - bz) * (x - bx)
        if (c > 0.0 and a < 0.0) or (c < 0.0 and a > 0.0):
            continue
        b = (ax - cx) * (z - cz) - (az - cz) * (x - cx)
        total = a + b + c
        # 0: it stands upright, so the line meets it nowhere or along a whole side.
        if total == 0.0 or (total > 0.0) != (min(a, b, c) >= 0.0):
            continue
        if total < 0.0 and max(a, b, c) > 0.0:
            continue
        if group not in without:
            found.append(((a * ay + b * by + c * cy) / total, group))
    return found


def _box_test(start: Point, end: Point) -> Callable[[Box], bool]:
    """Return the test whether a box has a point of the way between two points.

    The two do not meet if one of six axes separates them: those of the box, and the three that are
    upright on one of them and on the way.
    """
    (sx, sy, sz), (ex, ey, ez) = start, end
    low_x, high_x = ceil(min(sx, ex)), floor(max(sx, ex))
    low_y, high_y = ceil(min(sy, ey)), floor(max(sy, ey))
    low_z, high_z = ceil(min(sz, ez)), floor(max(sz, ez))
    # Twice the middle and twice the half way, as for the boxes, which have integers.
    mx, my, mz = sx + ex, sy + ey, sz + ez
    hx, hy, hz = ex - sx, ey - sy, ez - sz
    ax, ay, az = abs(hx), abs(hy), abs(hz)

    def meets(box: Box) -> bool:
        x0, x1, z0, z1, y0, y1 = box
        if x0 > high_x or x1 < low_x or z0 > high_z or z1 < low_z or y0 > high_y or y1 < low_y:
            return False
        dx, dy, dz = mx - x0 - x1, my - y0 - y1, mz - z0 - z1
        wx, wy, wz = x1 - x0, y1 - y0, z1 - z0
        return (
            abs(hx * dz - hz * dx) <= wx * az + wz * ax
            and abs(hy * dz - hz * dy) <= wy * az + wz * ay
            and abs(hx * dy - hy * dx) <= wx * ay + wy * ax
        )

    return meets


def _is_hit(
    triangles: Iterable[Triangle], start: Point, end: Point, without: Container[int]
) -> bool:
    """Return whether one of some triangles lies between two points.

    Source: Moeller and Trumbore, Fast, Minimum Storage Ray/Triangle Intersection, 1997.
    """
    (sx, sy, sz), (ex, ey, ez) = start, end
    dx, dy, dz = ex - sx, ey - sy, ez - sz
    # Most triangles near a line are on one side of the upright plane through it.
    level = dz * sx - dx * sz
    for ax, ay, az, bx, by, bz, cx, cy, cz, group in triangles:
        if dz * ax - dx * az < level:
            if dz * bx - dx * bz < level and dz * cx - dx * cz < level:
                continue
        elif dz * ax - dx * az > level and dz * bx - dx * bz > level and dz * cx - dx * cz > level:
            continue
        ux, uy, uz = bx - ax, by - ay, bz - az
        vx, vy, vz = cx - ax, cy - ay, cz - az
        px, py, pz = dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx
        det = ux * px + uy * py + uz * pz
        if det == 0.0:
            continue
        tx, ty, tz = sx - ax, sy - ay, sz - az
        u = (tx * px + ty * py + tz * pz) / det
        if not 0.0 <= u <= 1.0:
            continue
        qx, qy, qz = ty * uz - tz * uy, tz * ux - tx * uz, tx * uy - ty * ux
        v = (dx * qx + dy * qy + dz * qz) / det
        if v < 0.0 or u + v > 1.0:
            continue
        if 0.0 <= (vx * qx + vy * qy + vz * qz) / det <= 1.0 and group not in without:
            return True
    return False
