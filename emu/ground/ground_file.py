"""A ground file, read in place: boxes and triangles of its tree by `pread`.

A mapping (`mmap`) would save half a microsecond per node. But if a file shrinks under a running
server, or a disk fails, an access to a mapping ends the process with SIGBUS, and no test of the
size before it is in time. `pread` returns fewer bytes, or raises `OSError`. The pages stay in the
system's cache in both cases, shared by all processes. The boxes near the top are kept decoded.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Final, Self

from emu.errors import FileFormatError
from emu.ground.ground_layout import (
    FAN,
    GROUP,
    HEADER_SIZE,
    GroundHeader,
    Point,
    first_of,
    level_sizes,
)

Box = tuple[int, int, int, int, int, int]
"""The lowest and the highest x, z and y, in steps."""
Triangle = tuple[int, int, int, int, int, int, int, int, int, int]
"""x, y, z of three corners in steps, and the group."""
MOST_KEPT: Final = 512
"""Boxes of a level that are kept decoded: 0.1 MB for a map in use."""
_BLOCK: Final = 1 << 20


class GroundFile:
    """An open ground file."""

    def __init__(self, path: Path) -> None:
        """Open a file. Raises `FileFormatError`, as all methods do."""
        self.path = path
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise self._fault(f"cannot be read ({error.strerror})") from error
        try:
            self._open()
        except FileFormatError as error:
            self.close()
            raise FileFormatError(f"{path}: {error}") from error

    def _open(self) -> None:
        self.header = header = GroundHeader.read(os.pread(self._file, HEADER_SIZE, 0))
        size = os.fstat(self._file).st_size
        if size != header.size:
            raise FileFormatError(f"has {size} bytes, not {header.size}", place=f"byte {size}")
        self._groups = os.pread(self._file, header.groups * GROUP.size, HEADER_SIZE)
        self._unpack_boxes = header.box.iter_unpack
        self._unpack_triangles = header.triangle.iter_unpack
        self.levels = level_sizes(header.depth)
        """Boxes of each level of the tree, the top first."""
        self._levels_at = [header.boxes_at]
        for count in self.levels[:-1]:
            self._levels_at.append(self._levels_at[-1] + count * header.box.size)
        self._kept: dict[tuple[int, int], list[Box]] = {}

    def boxes(self, level: int, first: int) -> list[Box]:
        """Return the boxes below one node: those of a level from the number `first` on."""
        kept = self._kept.get((level, first))
        if kept is not None:
            return kept
        count = self.levels[level]
        size = self.header.box.size
        data = self._at(self._levels_at[level] + first * size, min(FAN, count) * size)
        boxes: list[Box] = list(self._unpack_boxes(data))
        if count <= MOST_KEPT:
            self._kept[level, first] = boxes
        return boxes

    def leaf(self, number: int) -> list[Triangle]:
        """Return the triangles of a leaf."""
        header = self.header
        start = first_of(number, header.triangles, header.depth)
        end = first_of(number + 1, header.triangles, header.depth)
        size = header.triangle.size
        data = self._at(header.triangles_at + start * size, (end - start) * size)
        return list(self._unpack_triangles(data))

    def group(self, number: int) -> tuple[int, int, Point]:
        """Return grid, widget and the widget's place of a group."""
        if number >= self.header.groups:
            raise self._fault(f"a triangle is of group {number}, which does not exist")
        grid, widget, x, y, z = GROUP.unpack_from(self._groups, number * GROUP.size)
        return grid, widget, (x, y, z)

    def groups(self) -> list[tuple[int, int, Point]]:
        """Return all groups."""
        return [self.group(number) for number in range(self.header.groups)]

    def check(self) -> None:
        """Read the whole file and compare its checksum."""
        checksum, at = 0, HEADER_SIZE
        while at < self.header.size:
            size = min(_BLOCK, self.header.size - at)
            checksum = zlib.crc32(self._at(at, size), checksum)
            at += size
        if checksum != self.header.checksum:
            raise self._fault("the checksum is wrong")

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _at(self, offset: int, size: int) -> bytes:
        try:
            data = os.pread(self._file, size, offset)
        except OSError as error:
            raise self._fault(f"cannot be read at byte {offset} ({error.strerror})") from error
        if len(data) != size:
            raise self._fault(f"ends at byte {offset + len(data)}: it has become shorter")
        return data

    def _fault(self, reason: str) -> FileFormatError:
        return FileFormatError(f"{self.path}: {reason}")
