"""The layout of a ground file: a header, a table of groups, the boxes of a tree, the triangles.

Corners are whole steps from an origin, 16 bits each, or 32 bits where a step of 16 would be larger
than `FINE` or more groups than a number of 16 bits exist ("wide"). The tree is balanced: leaf k of
2**depth leaves has the triangles from k * n / 2**depth on, so neither children nor leaves need a
stored place, and no damaged file can send a reader in a circle. Boxes are stored level by level,
the top first; the box i of a level has the boxes 8i to 8i + 7 below it.
Source: docs/protocol/maps.md#ground-file.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple, Self

from emu.errors import FileFormatError
from emu.ground.file_header import HeaderForm

FORM: Final = 1
MAKING: Final = 2
"""The number of the way in which ground files are made: an import makes older ones anew."""
FINE: Final = 0.1
"""Meters of the largest step of 16 bits."""
FAN: Final = 8
MOST_IN_LEAF: Final = 6
GROUP: Final = struct.Struct("<II3f")
"""Grid, widget, and the widget's place."""
NARROW_BOX: Final = struct.Struct("<6H")
WIDE_BOX: Final = struct.Struct("<6I")
"""The lowest and the highest x, z and y."""
NARROW_TRIANGLE: Final = struct.Struct("<10H")
WIDE_TRIANGLE: Final = struct.Struct("<10I")
"""x, y, z of three corners, and the group."""
_HEADER: Final = HeaderForm("ground file", b"EMUGROND", FORM, "I32s3d3d3d3dIIIIQ")
HEADER_SIZE: Final = _HEADER.size
_WIDE: Final = 1

Point = tuple[float, float, float]
"""x, y, z in meters; y is up."""


class GroundHeader(NamedTuple):
    """The first bytes of a ground file."""

    is_wide: bool
    digest: bytes
    """SHA-256 of the map file and of the making, by which an unchanged map is known."""
    origin: Point
    step: Point
    """Meters of one step of each axis."""
    low: Point
    high: Point
    """The bounds of all triangles."""
    triangles: int
    groups: int
    depth: int
    """2**depth leaves."""
    checksum: int
    """CRC-32 of all bytes behind the header."""

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read a header. Raises `FileFormatError`."""
        flags, digest, *rest = _HEADER.unpack(data)
        places = rest[0:3], rest[3:6], rest[6:9], rest[9:12]
        origin, step, low, high = (tuple(one) for one in places)
        triangles, groups, depth, checksum, size = rest[12:]
        header = cls(
            bool(flags & _WIDE), digest, origin, step, low, high,
            triangles, groups, depth, checksum,
        )  # fmt: skip
        if size != header.size or depth != depth_of(triangles):
            raise FileFormatError("the counts of the header disagree", place="byte 0")
        return header

    def pack(self) -> bytes:
        """Return the bytes of the header."""
        return _HEADER.pack(
            _WIDE * self.is_wide, self.digest,
            *self.origin, *self.step, *self.low, *self.high,
            self.triangles, self.groups, self.depth, self.checksum, self.size,
        )  # fmt: skip

    @property
    def box(self) -> struct.Struct:
        """The form of a box."""
        return WIDE_BOX if self.is_wide else NARROW_BOX

    @property
    def triangle(self) -> struct.Struct:
        """The form of a triangle."""
        return WIDE_TRIANGLE if self.is_wide else NARROW_TRIANGLE

    @property
    def boxes_at(self) -> int:
        """The offset of the first box."""
        return HEADER_SIZE + self.groups * GROUP.size

    @property
    def triangles_at(self) -> int:
        """The offset of the first triangle."""
        return self.boxes_at + sum(level_sizes(self.depth)) * self.box.size

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return self.triangles_at + self.triangles * self.triangle.size


def depth_of(triangles: int) -> int:
    """Return the depth at which no leaf has more than `MOST_IN_LEAF` triangles."""
    depth = 0
    while -(-triangles >> depth) > MOST_IN_LEAF:
        depth += 1
    return depth


def level_sizes(depth: int) -> list[int]:
    """Return the boxes of each level, the top first; none for a file of one leaf."""
    sizes = []
    boxes = 1 << depth
    while boxes > 1:
        sizes.append(boxes)
        boxes //= FAN
    return sizes[::-1]


def first_of(leaf: int, triangles: int, depth: int) -> int:
    """Return the first triangle of a leaf, or of a node by its number at its depth."""
    return leaf * triangles >> depth
