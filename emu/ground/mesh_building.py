"""Makes a path file of a navigation mesh: components and cells are computed once."""

from __future__ import annotations

import math
import zlib
from typing import BinaryIO, Final, NamedTuple

from emu.errors import FileFormatError
from emu.ground.mesh_files import Mesh, MeshPolygon
from emu.ground.path_layout import (
    CELL,
    CELL_START,
    CORNER,
    ENTRY,
    MOST_CELLS,
    MOST_PORTALS,
    POLYGON,
    PORTAL,
    PathHeader,
)

MOST_ENTRIES: Final = 1 << 24
_FARTHEST: Final = 1e6


class BuiltPaths(NamedTuple):
    """The numbers of a mesh."""

    tiles: int
    polygons: int
    components: int
    largest: int
    """Polygons of the largest component."""


def build_paths(mesh: Mesh, digest: bytes, target: BinaryIO) -> BuiltPaths:
    """Write the path file of a mesh; `digest` is kept in it. Raises `FileFormatError`."""
    components = _components(mesh.polygons)
    polygons: list[bytes] = []
    corners: list[bytes] = []
    portals: list[bytes] = []
    firsts = [0]
    for polygon in mesh.polygons:
        firsts.append(firsts[-1] + len(polygon.portals))
    for polygon, component in zip(mesh.polygons, components, strict=True):
        count = len(polygon.portals)
        if count > MOST_PORTALS:
            raise FileFormatError(f"a polygon has {count} neighbors, more than {MOST_PORTALS}")
        polygons.append(
            POLYGON.pack(len(corners), len(portals), component, len(polygon.corners), count)
        )
        corners += [CORNER.pack(*corner) for corner in polygon.corners]
        for one in polygon.portals:
            to = one.neighbor
            ways = firsts[to], firsts[to + 1] - firsts[to]
            portals.append(PORTAL.pack(to, *ways, *one.left, *one.right))
    (west, south, cell, columns, rows), cells = _cells(mesh.polygons)
    starts = [0]
    for some in cells:
        starts.append(starts[-1] + len(some))
    body = [
        *polygons, *corners, *portals,
        *map(CELL_START.pack, starts),
        *(ENTRY.pack(one, components[one]) for some in cells for one in some),
    ]  # fmt: skip
    data = b"".join(body)
    header = PathHeader(
        digest, mesh.climb, west, south, cell, columns, rows, len(polygons), len(corners),
        len(portals), starts[-1], len(set(components)), zlib.crc32(data),
    )  # fmt: skip
    target.write(header.pack() + data)
    largest = max(map(components.count, set(components)), default=0) if components else 0
    return BuiltPaths(mesh.tiles, len(polygons), header.components, largest)


def _components(polygons: list[MeshPolygon]) -> list[int]:
    """Return the number of each polygon's component; they are numbered from 0 on."""
    parents = list(range(len(polygons)))

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    for number, polygon in enumerate(polygons):
        for portal in polygon.portals:
            parents[root(number)] = root(portal.neighbor)
    names: dict[int, int] = {}
    return [names.setdefault(root(number), len(names)) for number in range(len(polygons))]


Grid = tuple[float, float, float, int, int]
"""West, south, side of a cell, columns, rows."""


def _cells(polygons: list[MeshPolygon]) -> tuple[Grid, list[list[int]]]:
    """Return the grid of cells, and the polygons of each cell, row by row."""
    places = [corner for polygon in polygons for corner in polygon.corners]
    if not places:
        return (0.0, 0.0, CELL, 0, 0), []
    if any(abs(one) > _FARTHEST for place in places for one in place):
        raise FileFormatError("a corner is no usable place")
    # Floats of 32 bits, as the header has them, so that both compute the same cells.
    west, south, _ = CORNER.unpack(
        CORNER.pack(min(x for x, _, _ in places), min(z for _, _, z in places), 0.0)
    )
    width = max(x for x, _, _ in places) - west
    depth = max(z for _, _, z in places) - south
    cell = CELL
    while (width // cell + 1) * (depth // cell + 1) > MOST_CELLS:
        cell *= 2
    columns, rows = int(width // cell) + 1, int(depth // cell) + 1
    cells: list[list[int]] = [[] for _ in range(columns * rows)]
    entries = 0
    for number, polygon in enumerate(polygons):
        if not polygon.corners:
            continue
        xs = [math.floor((x - west) / cell) for x, _, _ in polygon.corners]
        zs = [math.floor((z - south) / cell) for _, _, z in polygon.corners]
        for row in range(max(0, min(zs)), min(rows - 1, max(zs)) + 1):
            for column in range(max(0, min(xs)), min(columns - 1, max(xs)) + 1):
                cells[row * columns + column].append(number)
                entries += 1
        if entries > MOST_ENTRIES:
            raise FileFormatError("the polygons are too large to be listed in cells")
    return (west, south, cell, columns, rows), cells
