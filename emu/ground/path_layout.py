"""The layout of a path file: a header, then polygons, corners, portals and cells of a mesh.

A polygon has its corners in a row, and its portals in a row. Cells are squares of `CELL` meters;
each lists the polygons whose bounds touch it. Components are numbered: what has one number can be
reached from each other.
Source: docs/protocol/maps.md#paths.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple, Self

from emu.errors import FileFormatError
from emu.ground.file_header import HeaderForm

FORM: Final = 1
CELL: Final = 8.0
MOST_CELLS: Final = 1 << 20
"""Cells of a file; a mesh that is larger has larger cells."""
POLYGON: Final = struct.Struct("<IIIBBxx")
"""The first corner, the first portal, the component, and the numbers of corners and portals."""
CORNER: Final = struct.Struct("<3f")
PORTAL: Final = struct.Struct("<III6f")
"""The neighbor, its first portal and their number, and the left and the right end from inside."""
CELL_START: Final = struct.Struct("<I")
"""The first entry of a cell."""
ENTRY: Final = struct.Struct("<II")
"""A polygon and its component."""
MOST_PORTALS: Final = 255
_HEADER: Final = HeaderForm("path file", b"EMUPATHS", FORM, "32sffffIIIIIIIIQ")
HEADER_SIZE: Final = _HEADER.size


class PathHeader(NamedTuple):
    """The first bytes of a path file."""

    digest: bytes
    """SHA-256 of the mesh file and of the form, by which an unchanged mesh is known."""
    climb: float
    """Meters of the highest step that is climbed."""
    west: float
    """The lowest x of the cells, in meters."""
    south: float
    """The lowest z of the cells."""
    cell: float
    """Meters of a cell's side."""
    columns: int
    rows: int
    polygons: int
    corners: int
    portals: int
    entries: int
    """Polygons in all cells."""
    components: int
    checksum: int
    """CRC-32 of all bytes behind the header."""

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read a header. Raises `FileFormatError`."""
        values = _HEADER.unpack(data)
        header = cls(*values[:-1])
        if values[-1] != header.size:
            raise FileFormatError("the counts of the header disagree", place="byte 0")
        return header

    def pack(self) -> bytes:
        """Return the bytes of the header."""
        return _HEADER.pack(*self, self.size)

    @property
    def corners_at(self) -> int:
        """The offset of the first corner."""
        return HEADER_SIZE + self.polygons * POLYGON.size

    @property
    def portals_at(self) -> int:
        """The offset of the first portal."""
        return self.corners_at + self.corners * CORNER.size

    @property
    def cells_at(self) -> int:
        """The offset of the first cell: the number of its first entry."""
        return self.portals_at + self.portals * PORTAL.size

    @property
    def entries_at(self) -> int:
        """The offset of the first entry of a cell."""
        return self.cells_at + (self.columns * self.rows + 1) * CELL_START.size

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return self.entries_at + self.entries * ENTRY.size
