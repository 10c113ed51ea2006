"""Makes the outline of a ground file: which cells have ground, steep ground and walls from above.

Each triangle marks all cells that it touches. A cell shows the steepest one, so walls are lines.
This module needs numpy (the extra ``maps``).
Source: docs/protocol/maps.md#outline-file.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emu.ground.ground_file import GroundFile
from emu.ground.outline_file import MOST_CELLS, OutlineHeader

Numbers: TypeAlias = NDArray[Any]
LEAST_CELL: Final = 0.5
"""Meters of the smallest cell."""
LEVEL: Final = 0.7
"""The upright part of the normal of ground that can be walked on: up to 45 degrees."""
STEEP: Final = 0.35
"""That of steep ground: up to 70 degrees; what is steeper is a wall."""
_STRAY: Final = 0.1
"""Percent of the lowest and of the highest corners that do not count for the bounds: they stray."""
_MARGIN: Final = 0.1
"""The share of the other corners' range that is shown beyond them."""
_AT_ONCE: Final = 1 << 15
"""Triangles that are worked on at once, which limits the memory."""
_GRAY: Final = 128
_OPACITIES: Final = bytes((0, 48, 96, 192))
"""Of a cell without ground, with ground, steep ground and a wall: gray over any page's color."""


class _Frame(NamedTuple):
    """The part of the zone that the image shows."""

    west: float
    south: float
    cell: float
    columns: int
    rows: int


def build_outline(ground: GroundFile, target: BinaryIO) -> None:
    """Write the outline file of a ground file. Raises `FileFormatError`."""
    header = ground.header
    kind = "<u4" if header.is_wide else "<u2"
    rows = np.frombuffer(ground.triangles(), kind).reshape(-1, 10)
    origin, step = np.array(header.origin), np.array(header.step)
    frame = _frame(rows, origin, step)
    cells = np.zeros(frame.rows * frame.columns, np.uint8)
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE, :9].astype(np.float64).reshape(-1, 3, 3)
        _mark(cells, some * step + origin, frame)
    image = _png(cells.reshape(frame.rows, frame.columns)[::-1])
    checksum = zlib.crc32(image)
    made = OutlineHeader(header.digest, *frame, checksum, len(image))
    target.write(made.pack())
    target.write(image)


def _frame(rows: Numbers, origin: Numbers, step: Numbers) -> _Frame:
    """Return what to show: all but stray triangles, which may be kilometers away."""
    if not len(rows):
        return _Frame(0.0, 0.0, LEAST_CELL, 1, 1)
    ends = []
    for axis in (0, 2):
        one = rows[:, axis:9:3]
        low, high = np.percentile(one, (_STRAY, 100 - _STRAY))
        margin = _MARGIN * (high - low)
        shown = max(one.min(), low - margin), min(one.max(), high + margin)
        ends.append(np.array(shown) * step[axis] + origin[axis])
    (west, east), (south, north) = ends
    cell = max(LEAST_CELL, (east - west) / (MOST_CELLS - 1), (north - south) / (MOST_CELLS - 1))
    columns, lines = int((east - west) / cell) + 1, int((north - south) / cell) + 1
    return _Frame(float(west), float(south), float(cell), columns, lines)


def _mark(cells: Numbers, corners: Numbers, frame: _Frame) -> None:
    """Mark the cells that some triangles touch."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.maximum(np.sqrt((normal * normal).sum(axis=1)), 1e-12)
    upright = np.abs(normal[:, 1]) / length
    shade = np.where(upright >= LEVEL, 1, np.where(upright >= STEEP, 2, 3)).astype(np.uint8)
    x = (corners[:, :, 0] - frame.west) / frame.cell
    z = (corners[:, :, 2] - frame.south) / frame.cell
    first = np.maximum(np.floor(z.min(axis=1)), 0).astype(np.int64)
    last = np.minimum(np.floor(z.max(axis=1)), frame.rows - 1).astype(np.int64)
    # Most triangles lie in one row: nothing of them has to be cut.
    whole = first == last
    ends = x[whole].min(axis=1), x[whole].max(axis=1)
    _fill(cells, frame, shade[whole], first[whole], ends)
    cut = np.flatnonzero(first < last)
    count = last[cut] - first[cut] + 1
    which = np.repeat(cut, count)
    row = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + first[which]
    _fill(cells, frame, shade[which], row, _in_row(x[which], z[which], row))


def _in_row(x: Numbers, z: Numbers, row: Numbers) -> tuple[Numbers, Numbers]:
    """Return the lowest and highest x of the parts of triangles that lie in one row each."""
    low, high = np.full(len(row), np.inf), np.full(len(row), -np.inf)
    for one, other in ((0, 1), (1, 2), (2, 0)):
        start, rise = z[:, one], z[:, other] - z[:, one]
        is_flat = rise == 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort([(row - start) / rise, (row + 1 - start) / rise], axis=0).clip(0.0, 1.0)
        outside = np.maximum(start, z[:, other]) < row
        outside |= np.minimum(start, z[:, other]) > row + 1
        ends[0, is_flat], ends[1, is_flat] = 0.0, 1.0
        for end in ends:
            at = x[:, one] + (x[:, other] - x[:, one]) * end
            np.minimum(low, np.where(outside, np.inf, at), out=low)
            np.maximum(high, np.where(outside, -np.inf, at), out=high)
    return low, high


def _fill(
    cells: Numbers, frame: _Frame, shade: Numbers, row: Numbers, x: tuple[Numbers, Numbers]
) -> None:
    """Mark the cells of rows from the lowest to the highest x."""
    low, high = x
    is_shown = (high >= 0) & (low < frame.columns) & (low <= high)
    start = row[is_shown] * frame.columns
    ends = [np.floor(one[is_shown]).clip(0, frame.columns - 1).astype(np.int64) for one in x]
    own = shade[is_shown]
    for one in (1, 2, 3):
        chosen = own == one
        # How many parts begin before each cell and have not ended there.
        size = len(cells) + 1
        begun = np.bincount(start[chosen] + ends[0][chosen], minlength=size)
        begun -= np.bincount(start[chosen] + ends[1][chosen] + 1, minlength=size)
        marked = np.cumsum(begun)[:-1] > 0
        cells[marked] = np.maximum(cells[marked], one)


def _png(cells: Numbers) -> bytes:
    """Return a PNG of cells with four values. Source: PNG (Second Edition), W3C, 2003."""
    rows, columns = cells.shape
    quarters = np.pad(cells, ((0, 0), (0, -columns % 4))).reshape(rows, -1, 4)
    packed = np.zeros((rows, 1 + quarters.shape[1]), np.uint8)  # each row begins with its filter
    for place in range(4):
        packed[:, 1:] |= quarters[:, :, place] << (6 - 2 * place)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (
            (b"IHDR", struct.pack(">IIBBBBB", columns, rows, 2, 3, 0, 0, 0)),
            (b"PLTE", bytes((_GRAY,)) * 3 * len(_OPACITIES)),
            (b"tRNS", _OPACITIES),
            (b"IDAT", zlib.compress(packed.tobytes(), 9)),
            (b"IEND", b""),
        )
    )
