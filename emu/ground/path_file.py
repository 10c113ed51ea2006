"""A path file, read in place: the polygons of a mesh, and the cells that list them."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from emu.ground.ground_layout import Point
from emu.ground.path_layout import (
    CELL_START,
    CORNER,
    ENTRY,
    HEADER_SIZE,
    POLYGON,
    PORTAL,
    PathHeader,
)
from emu.ground.read_in_place import FileInPlace

MOST_KEPT: Final = 1024
"""Polygons whose ways are kept decoded: 1 MB for a mesh in use."""

Way = tuple[int, int, int, float, float, float, float, float, float]
"""A neighbor, its first portal and their number, and x, y, z of the left and the right end."""


class Floor(NamedTuple):
    """One polygon of a mesh."""

    component: int
    first: int
    """Its first portal."""
    portals: int
    corners: list[Point]


class PathFile(FileInPlace[PathHeader]):
    """An open path file."""

    def __init__(self, path: Path) -> None:
        """Open a file. Raises `FileFormatError`, as all methods do."""
        super().__init__(path, HEADER_SIZE, PathHeader.parse)
        self._portals_at = self.header.portals_at
        self._cells_at = self.header.cells_at
        self._entries_at = self.header.entries_at
        self._kept: dict[int, list[Way]] = {}

    def floor(self, number: int) -> Floor:
        """Return a polygon by its number."""
        header = self.header
        if number >= header.polygons:
            raise self.fault(f"polygon {number} does not exist")
        first, portal, component, count, ways = POLYGON.unpack(
            self.at(HEADER_SIZE + number * POLYGON.size, POLYGON.size)
        )
        if first + count > header.corners:
            raise self.fault(f"polygon {number} has corners that do not exist")
        corners = self.at(header.corners_at + first * CORNER.size, count * CORNER.size)
        return Floor(component, portal, ways, list(CORNER.iter_unpack(corners)))

    def ways(self, first: int, count: int) -> list[Way]:
        """Return the portals of a polygon by the number of its first, and their number."""
        kept = self._kept.get(first)
        if kept is not None:
            return kept
        if first + count > self.header.portals:
            raise self.fault(f"portal {first + count - 1} does not exist")
        data = self.at(self._portals_at + first * PORTAL.size, count * PORTAL.size)
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        # Of two polygons with one first portal, one has none: it is no neighbor of any.
        ways = self._kept[first] = list(PORTAL.iter_unpack(data))
        return ways

    def cell(self, column: int, row: int) -> list[tuple[int, int]]:
        """Return the polygons of a cell, each with its component; none outside of the cells."""
        header = self.header
        if not (0 <= column < header.columns and 0 <= row < header.rows):
            return []
        place = self._cells_at + (row * header.columns + column) * CELL_START.size
        (start,), (end,) = CELL_START.iter_unpack(self.at(place, 2 * CELL_START.size))
        if not start <= end <= header.entries:
            raise self.fault(f"cell {column}, {row} has polygons that do not exist")
        data = self.at(self._entries_at + start * ENTRY.size, (end - start) * ENTRY.size)
        return list(ENTRY.iter_unpack(data))
