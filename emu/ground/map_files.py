"""EQ2Emulator's map files: the triangles of a zone, one gzip stream.

Version 2 has a path, the bounds of x and z, and grids with their corners. Version 3 begins with
`TOOL`; its grids are divided by the widget that a surface belongs to. Three corners in a row are a
triangle. The bounds of y in the header are wrong in nearly all files, so nothing reads them.
Source: docs/protocol/maps.md#map.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from emu.ground.source_bytes import InflatedStream, SourceBytes

TOOL: Final = "EQ2EmuMapTool"
VERSION: Final = 3
CORNER: Final = 12
"""Bytes of a corner: x, y, z as floats."""
MOST_TRIANGLES: Final = 1 << 24
MOST_GROUPS: Final = 1 << 20


class MapGroup(NamedTuple):
    """Triangles of one grid, and of one widget of it."""

    grid: int
    widget: int
    """0 for the zone itself."""
    place: tuple[float, float, float]
    corners: bytes
    """x, y, z of each corner, floats of 32 bits."""
    offset: int
    """Bytes of the inflated file before the corners."""

    @property
    def triangles(self) -> int:
        """The number of its triangles."""
        return len(self.corners) // (3 * CORNER)


class MapReader:
    """Reads a map file group by group."""

    def __init__(self, stream: BinaryIO) -> None:
        """Read the header. Raises `FileFormatError`, as all methods do."""
        self._source = SourceBytes(InflatedStream(stream).read)
        first = self._source.text("the path")
        self.version = 2
        self.path = first
        """The file that the map was made from."""
        if first == TOOL:
            start = self._source.offset
            self.version = self._source.u32("the version")
            if self.version != VERSION:
                raise self._source.fault(f"version {self.version} is unknown", start)
            self.path = self._source.text("the path")
        # Of version 3 two of the six are no bounds; the true ones are computed.
        self._source.take(16 if self.version == 2 else 24, "the bounds")
        self._triangles = 0
        self._groups = 0

    def groups(self) -> Iterator[MapGroup]:
        """Yield the groups in the order of the file, also those without a triangle."""
        for _ in range(self._count("the number of grids")):
            grid = self._source.u32("a grid")
            if self.version == 2:
                yield self._group(grid, 0, (0.0, 0.0, 0.0))
                continue
            for _ in range(self._count("the number of groups")):
                widget = self._source.u32("a widget")
                x, y, z = self._source.floats(3, "a widget's place")
                yield self._group(grid, widget, (x, y, z))
        self._source.end()

    def _count(self, subject: str) -> int:
        start = self._source.offset
        count = self._source.u32(subject)
        if count > MOST_GROUPS:
            raise self._source.fault(f"{subject} is {count}, more than {MOST_GROUPS}", start)
        return count

    def _group(self, grid: int, widget: int, place: tuple[float, float, float]) -> MapGroup:
        start = self._source.offset
        count = self._source.u32("the number of corners")
        if count % 3:
            raise self._source.fault(f"{count} corners are no whole triangles", start)
        self._triangles += count // 3
        self._groups += 1
        if self._triangles > MOST_TRIANGLES or self._groups > MOST_GROUPS:
            raise self._source.fault("has more triangles or groups than any map", start)
        offset = self._source.offset
        return MapGroup(grid, widget, place, self._source.take(CORNER * count, "corners"), offset)
