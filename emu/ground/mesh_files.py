"""EQ2Emulator's navigation meshes: Detour's set of tiles, joined to one mesh.

Polygons of one tile name their neighbors. A side on a tile's border names the direction only, so
such sides are joined with the sides of the next tile that they overlap, as Detour does at load.
Costs, flags and connections off the mesh are read over: no known file uses them.
Source: docs/protocol/maps.md#mesh; Detour 1.5.1.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from emu.ground.ground_layout import Point
from emu.ground.source_bytes import SourceBytes

SET_MAGICS: Final = (b"TESM", b"MSET")
TILE_MAGICS: Final = (b"VAND", b"DNAV")
_TILE: Final = struct.Struct("<iiiiI9i3f6ff")
_POLYGON: Final = struct.Struct("<I6H6HHBB")
_TILE_VERSION: Final = 7
MOST_CORNERS: Final = 6
_BORDER: Final = 0x8000
_GROUND_TYPE: Final = 0
MOST_TILES: Final = 1 << 16
MOST_POLYGONS: Final = 1 << 20
_STEPS: Final = {0: (1, 0), 2: (0, 1), 4: (-1, 0), 6: (0, -1)}
"""Columns and rows to the next tile, by the side of a border."""
_CLOSE: Final = 0.01
"""Meters that two border sides may be apart across, and must overlap along."""


class Portal(NamedTuple):
    """The side, or a piece of it, through which a polygon's neighbor is reached."""

    neighbor: int
    left: Point
    """The end on the left of who leaves the polygon, seen from above with x east, z north."""
    right: Point


@dataclass(slots=True)
class MeshPolygon:
    """One convex floor."""

    corners: list[Point]
    portals: list[Portal] = field(default_factory=list)


@dataclass(slots=True)
class Mesh:
    """The floors of a zone that creatures can walk."""

    polygons: list[MeshPolygon]
    tiles: int
    climb: float
    """Meters of the highest step that is climbed."""


class _Side(NamedTuple):
    """A polygon's side on the border of a tile."""

    polygon: int
    start: Point
    end: Point


class _Tile(NamedTuple):
    column: int
    row: int
    borders: dict[int, list[_Side]]
    """By the side of the tile."""
    climb: float


def read_mesh(source: SourceBytes) -> Mesh:
    """Read a mesh file. Raises `FileFormatError`."""
    if source.take(4, "the header") not in SET_MAGICS:
        raise source.fault("is no navigation mesh", 0)
    version, count = source.i32("the version"), source.i32("the number of tiles")
    if version != 1 or not 0 <= count <= MOST_TILES:
        raise source.fault(f"version {version} with {count} tiles is unknown", 4)
    # Origin, size of a tile, and the most tiles and polygons of Detour's own tables.
    source.take(28, "the header")
    polygons: list[MeshPolygon] = []
    tiles = [_read_tile(source, polygons) for _ in range(count)]
    source.end()
    by_place: defaultdict[tuple[int, int], list[_Tile]] = defaultdict(list)
    for tile in tiles:
        by_place[tile.column, tile.row].append(tile)
    for tile in tiles:
        _join(tile, by_place, polygons)
    return Mesh(polygons, len(tiles), max((tile.climb for tile in tiles), default=0.0))


def _read_tile(source: SourceBytes, polygons: list[MeshPolygon]) -> _Tile:
    """Add the polygons of the next tile; return the tile."""
    source.take(4, "a tile")
    start = source.offset + 4
    size = source.i32("the size of a tile")
    magic = source.take(4, "a tile")
    values = _TILE.unpack(source.take(_TILE.size, "a tile"))
    version, column, row = values[:3]
    counts = values[5:14]
    if magic not in TILE_MAGICS or version != _TILE_VERSION:
        raise source.fault(f"a tile has version {version}, not {_TILE_VERSION}", start)
    polygon_count, corner_count, links, details, detail_corners, detail_triangles, nodes, off = (
        counts[:8]
    )
    rest = 12 * links + 12 * details + 12 * detail_corners + 4 * detail_triangles
    rest += 16 * nodes + 36 * off
    whole = 4 + _TILE.size + 12 * corner_count + _POLYGON.size * polygon_count + rest
    if min(counts) < 0 or size != whole or len(polygons) + polygon_count > MOST_POLYGONS:
        raise source.fault("the counts of a tile disagree with its size", start)
    places = source.floats(3 * corner_count, "the corners of a tile")
    corners = list(zip(*[iter(places)] * 3, strict=True))
    tile = _Tile(column, row, defaultdict(list), values[16])
    first = len(polygons)
    for _ in range(polygon_count):
        _read_polygon(source, polygons, corners, (first, first + polygon_count), tile)
    source.take(rest, "a tile")
    return tile


def _read_polygon(
    source: SourceBytes,
    polygons: list[MeshPolygon],
    corners: list[Point],
    numbers: tuple[int, int],
    tile: _Tile,
) -> None:
    """Add the next polygon; `numbers` are those of the tile's first polygon and behind its last."""
    start = source.offset
    values = _POLYGON.unpack(source.take(_POLYGON.size, "a polygon"))
    count, kind = values[14], values[15] >> 6
    polygon = MeshPolygon([])
    own = len(polygons)
    polygons.append(polygon)
    if kind != _GROUND_TYPE:
        return  # a connection off the mesh is no floor
    indexes, sides = values[1 : 1 + count], values[7 : 7 + count]
    if not 3 <= count <= MOST_CORNERS or max(indexes) >= len(corners):
        raise source.fault("a polygon has corners outside of the tile", start)
    polygon.corners = [corners[index] for index in indexes]
    is_clockwise = _area(polygon.corners) < 0
    for number, side in enumerate(sides):
        one, other = polygon.corners[number], polygon.corners[(number + 1) % count]
        # Counter-clockwise the second corner of a side is on the left of who leaves.
        left, right = (one, other) if is_clockwise else (other, one)
        if side & _BORDER:
            tile.borders.setdefault(side & 0xFF, []).append(_Side(own, left, right))
        elif side:
            neighbor = numbers[0] + side - 1
            if neighbor >= numbers[1]:
                raise source.fault("a polygon has a neighbor outside of the tile", start)
            if neighbor != own:
                polygon.portals.append(Portal(neighbor, left, right))


def _area(corners: list[Point]) -> float:
    """Return twice the area on the map; it is negative for clockwise corners."""
    return sum(
        corners[at - 1][0] * corners[at][2] - corners[at][0] * corners[at - 1][2]
        for at in range(len(corners))
    )


def _join(
    tile: _Tile, tiles: dict[tuple[int, int], list[_Tile]], polygons: list[MeshPolygon]
) -> None:
    """Add the portals from a tile's border sides to the next tiles."""
    for side, borders in tile.borders.items():
        step = _STEPS.get(side)
        if step is None:
            continue
        axis = 0 if step[0] else 2
        opposite = (side + 4) % 8
        for other in tiles.get((tile.column + step[0], tile.row + step[1]), ()):
            for one in borders:
                for near in other.borders.get(opposite, ()):
                    found = _overlap(one, near, axis, tile.climb)
                    if found:
                        polygons[one.polygon].portals.append(Portal(near.polygon, *found))


def _overlap(one: _Side, other: _Side, across: int, climb: float) -> tuple[Point, Point] | None:
    """Return the piece of a border side that another tile's side lies at; None for none.

    `across` is the axis from tile to tile, 0 or 2. The sides must lie on one border and overlap
    along it. Where the piece begins or where it ends, they must differ by at most twice the climb,
    unless they cross between.
    """
    along = 2 - across
    if abs(one.start[across] - other.start[across]) > _CLOSE:
        return None
    low = max(min(one.start[along], one.end[along]), min(other.start[along], other.end[along]))
    high = min(max(one.start[along], one.end[along]), max(other.start[along], other.end[along]))
    if low + _CLOSE > high - _CLOSE:
        return None
    first = _height(one, along, low + _CLOSE) - _height(other, along, low + _CLOSE)
    last = _height(one, along, high - _CLOSE) - _height(other, along, high - _CLOSE)
    if first * last > 0 and min(abs(first), abs(last)) > 2 * climb:
        return None
    is_upward = one.start[along] <= one.end[along]
    places = (low, high) if is_upward else (high, low)
    start, end = (_place(one, along, place) for place in places)
    return start, end


def _share(side: _Side, along: int, place: float) -> float:
    length = side.end[along] - side.start[along]
    return (place - side.start[along]) / length if length else 0.0


def _height(side: _Side, along: int, place: float) -> float:
    return side.start[1] + _share(side, along, place) * (side.end[1] - side.start[1])


def _place(side: _Side, along: int, place: float) -> Point:
    share = _share(side, along, place)
    x, y, z = (a + share * (b - a) for a, b in zip(side.start, side.end, strict=True))
    return x, y, z
