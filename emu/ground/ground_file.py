"""A ground file, read in place: boxes and triangles of its tree.

The boxes near the top are kept decoded: every answer begins there. Those below are read in blocks,
of which the last ones are kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from emu.ground.ground_layout import (
    FAN,
    GROUP,
    HEADER_SIZE,
    GroundHeader,
    Point,
    first_of,
    level_sizes,
)
from emu.ground.read_in_place import FileInPlace

Box = tuple[int, int, int, int, int, int]
"""The lowest and the highest x, z and y, in steps."""
Triangle = tuple[int, int, int, int, int, int, int, int, int, int]
"""x, y, z of three corners in steps, and the group."""
MOST_KEPT: Final = 512
"""Boxes of a level that are kept decoded: 0.1 MB for a map in use."""
BLOCK: Final = 64
"""Boxes of the levels below that are read at once: an answer asks for nodes side by side."""
MOST_BLOCKS: Final = 256
"""Blocks that are kept as they were read: at most 0.2 MB for a map, 0.4 MB for a wide one."""


class GroundFile(FileInPlace[GroundHeader]):
    """An open ground file."""

    def __init__(self, path: Path) -> None:
        """Open a file. Raises `FileFormatError`, as all methods do."""
        super().__init__(path, HEADER_SIZE, GroundHeader.parse)
        header = self.header
        self._groups = self.at(HEADER_SIZE, header.groups * GROUP.size)
        self.levels = level_sizes(header.depth)
        """Boxes of each level of the tree, the top first."""
        self._levels_at = [header.boxes_at]
        for count in self.levels[:-1]:
            self._levels_at.append(self._levels_at[-1] + count * header.box.size)
        self._box, self._triangle = header.box, header.triangle
        self._triangles_at = header.triangles_at
        self._triangles, self._depth = header.triangles, header.depth
        self._blocks: dict[int, bytes] = {}
        """By their offset, the oldest first."""
        self._kept: dict[tuple[int, int], list[Box]] = {}

    def boxes(self, level: int, first: int) -> list[Box]:
        """Return the boxes below one node: those of a level from the number `first` on."""
        kept = self._kept.get((level, first))
        if kept is not None:
            return kept
        count, size = self.levels[level], self._box.size
        if count <= MOST_KEPT:
            data = self.at(self._levels_at[level] + first * size, min(FAN, count) * size)
            kept = self._kept[level, first] = list(self._box.iter_unpack(data))
            return kept
        start = first % BLOCK * size
        at = self._levels_at[level] + first * size - start
        block = self._blocks.get(at)
        if block is None:
            if len(self._blocks) >= MOST_BLOCKS:
                del self._blocks[next(iter(self._blocks))]
            block = self._blocks[at] = self.at(at, BLOCK * size)
        return list(self._box.iter_unpack(block[start : start + FAN * size]))

    def leaf(self, number: int) -> list[Triangle]:
        """Return the triangles of a leaf."""
        start = first_of(number, self._triangles, self._depth)
        end = first_of(number + 1, self._triangles, self._depth)
        size = self._triangle.size
        data = self.at(self._triangles_at + start * size, (end - start) * size)
        return list(self._triangle.iter_unpack(data))

    def triangles(self) -> bytes:
        """Return all triangles as they are stored, leaf by leaf."""
        return self.at(self._triangles_at, self._triangles * self._triangle.size)

    def group(self, number: int) -> tuple[int, int, Point]:
        """Return grid, widget and the widget's place of a group."""
        if number >= self.header.groups:
            raise self.fault(f"a triangle is of group {number}, which does not exist")
        grid, widget, x, y, z = GROUP.unpack_from(self._groups, number * GROUP.size)
        return grid, widget, (x, y, z)

    def grids(self) -> frozenset[int]:
        """Return the grids of all groups; a zone asks for them when it opens."""
        return frozenset(one[0] for one in GROUP.iter_unpack(self._groups))

    def groups(self) -> list[tuple[int, int, Point]]:
        """Return all groups."""
        return [self.group(number) for number in range(self.header.groups)]
