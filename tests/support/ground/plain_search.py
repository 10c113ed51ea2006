"""Plain searches over all triangles: the answers that a tree has to give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.support.ground.map_bytes import Corner, Surface3


def heights(triangles: Iterable[Surface3], x: float, z: float) -> list[float]:
    """Return the heights of all triangles over or under a point."""
    found = []
    for (ax, ay, az), (bx, by, bz), (cx, cy, cz) in triangles:
        area = (bx - ax) * (cz - az) - (bz - az) * (cx - ax)
        if not area:
            continue
        b = ((x - ax) * (cz - az) - (z - az) * (cx - ax)) / area
        c = ((bx - ax) * (z - az) - (bz - az) * (x - ax)) / area
        if b >= 0 and c >= 0 and b + c <= 1:
            found.append(ay + b * (by - ay) + c * (cy - ay))
    return found


def best_height(triangles: Iterable[Surface3], point: Corner) -> float | None:
    """Return the best height: the next surface from 1 m above the point down, else up."""
    x, y, z = point
    found = heights(triangles, x, z)
    below = [one for one in found if one < y + 1]
    return max(below) if below else min(found, default=None)


def is_clear(triangles: Sequence[Surface3], start: Corner, end: Corner) -> bool:
    """Return whether no triangle lies between two points: by volumes."""
    return not any(_crosses(start, end, one) for one in triangles)


def _crosses(start: Corner, end: Corner, triangle: Surface3) -> bool:
    p, q, r = triangle
    over, under = _volume(start, p, q, r), _volume(end, p, q, r)
    if over * under > 0 or over == under:
        return False
    sides = [_volume(start, end, p, q), _volume(start, end, q, r), _volume(start, end, r, p)]
    return all(one >= 0 for one in sides) or all(one <= 0 for one in sides)


def _volume(a: Corner, b: Corner, c: Corner, d: Corner) -> float:
    """Return six times the volume of a tetrahedron, with the sign of its orientation."""
    u, v, w = ([one - two for one, two in zip(x, a, strict=True)] for x in (b, c, d))
    return (
        u[0] * (v[1] * w[2] - v[2] * w[1])
        - u[1] * (v[0] * w[2] - v[2] * w[0])
        + u[2] * (v[0] * w[1] - v[1] * w[0])
    )
