"""Makes a ground file of a map. This module alone needs numpy (the extra ``maps``).

Triangles that become points or lines in whole steps are left out, and so are repetitions of an
earlier triangle of the same widget: of two floors in one place EQ2Emulator takes the first.
Source: docs/protocol/maps.md#map-faults.
"""

from __future__ import annotations

import zlib
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from emu.errors import FileFormatError
from emu.ground.ground_layout import (
    FAN,
    FINE,
    GROUP,
    GroundHeader,
    Point,
    depth_of,
    first_of,
    level_sizes,
)
from emu.ground.map_files import CORNER, MapGroup, MapReader

Numbers: TypeAlias = NDArray[Any]
_NARROW_STEPS: Final = (1 << 16) - 1
_WIDE_STEPS: Final = (1 << 30) - 1
"""With 30 bits the products of two distances fit into 63."""
_LEAST_STEP: Final = 0.0001
_LEAST_WIDE_STEP: Final = 0.001
_FARTHEST: Final = 1e6
"""Meters: the farthest stray triangle of a public map is 54 km off."""
_AT_ONCE: Final = 1 << 16
"""Triangles that are worked on at once, which limits the memory."""
_SORTED_AT_ONCE: Final = 1 << 13
_SHARES: Final = 0x3FFFFF00
"""The greatest share of a node's length: a float of 32 bits has it exactly, and 30 bits do."""
_X, _Y, _Z = slice(0, 9, 3), slice(1, 9, 3), slice(2, 9, 3)
"""Columns of a triangle."""


class BuiltGround(NamedTuple):
    """The numbers of a map and of the ground file that was made of it."""

    triangles: int
    """Triangles of the map."""
    kept: int
    groups: int
    empty_groups: int
    is_wide: bool


def build_ground(reader: MapReader, digest: bytes, target: BinaryIO) -> BuiltGround:
    """Write the ground file of a map; `digest` is kept in it. Raises `FileFormatError`."""
    groups = list(reader.groups())
    low, high = _bounds(groups)
    header = _scale(low, high, len(groups), digest)
    rows, count = _rows(groups, header), sum(group.triangles for group in groups)
    table = b"".join(GROUP.pack(one.grid, one.widget, *one.place) for one in groups)
    widgets = np.array([one.widget for one in groups], np.uint32)
    empty = sum(not one.triangles for one in groups)
    del groups
    rows = rows[_first_ones(rows, widgets)]
    depth = depth_of(len(rows))
    rows = rows[_tree_order(rows, header.step, depth)]
    boxes = _boxes(rows, depth)
    body = [table, *(level.tobytes() for level in boxes), rows.tobytes()]
    checksum = 0
    for one in body:
        checksum = zlib.crc32(one, checksum)
    header = header._replace(triangles=len(rows), depth=depth, checksum=checksum)
    target.write(header.pack())
    target.writelines(body)
    return BuiltGround(count, len(rows), len(widgets), empty, header.is_wide)


def _bounds(groups: list[MapGroup]) -> tuple[Point, Point]:
    """Return the true bounds of all corners. Raises `FileFormatError` for unusable ones."""
    lows, highs = [], []
    for group in groups:
        if not group.triangles:
            continue
        corners = np.frombuffer(group.corners, "<f4").reshape(-1, 3)
        low, high = corners.min(axis=0), corners.max(axis=0)
        if not (np.abs(low) <= _FARTHEST).all() or not (np.abs(high) <= _FARTHEST).all():
            usable = (np.abs(corners) <= _FARTHEST).all(axis=1)
            at = group.offset + CORNER * int(usable.argmin())
            raise FileFormatError("a corner is no usable place", place=f"byte {at}")
        lows.append(low)
        highs.append(high)
    if not lows:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    return _point(np.min(lows, axis=0)), _point(np.max(highs, axis=0))


def _point(numbers: Numbers) -> Point:
    x, y, z = map(float, numbers)
    return x, y, z


def _scale(low: Point, high: Point, groups: int, digest: bytes) -> GroundHeader:
    """Return a header with the steps that fit the bounds."""
    sizes = np.subtract(high, low)
    steps = np.maximum(sizes / _NARROW_STEPS, _LEAST_STEP)
    is_wide = bool(steps.max() > FINE) or groups > _NARROW_STEPS
    if is_wide:
        steps = np.maximum(sizes / _WIDE_STEPS, _LEAST_WIDE_STEP)
    return GroundHeader(is_wide, digest, low, _point(steps), low, high, 0, groups, 0, 0)


def _rows(groups: list[MapGroup], header: GroundHeader) -> Numbers:
    """Return a row for each triangle that has a surface: its corners in steps and its group."""
    kind = np.dtype("<u4" if header.is_wide else "<u2")
    found = [np.empty((0, 10), kind)]
    origin, step = np.tile(header.origin, 3), np.tile(header.step, 3)
    for number, group in enumerate(groups):
        corners = np.frombuffer(group.corners, "<f4").reshape(-1, 9)
        for start in range(0, len(corners), _AT_ONCE):
            some = np.rint((corners[start : start + _AT_ONCE] - origin) / step).astype(np.int64)
            some = some[_has_surface(some)]
            rows = np.empty((len(some), 10), kind)
            rows[:, :9] = some
            rows[:, 9] = number
            found.append(rows)
    return np.concatenate(found)


def _has_surface(corners: Numbers) -> Numbers:
    """Return which triangles are more than a point or a line."""
    one, other = corners[:, 3:6] - corners[:, 0:3], corners[:, 6:9] - corners[:, 0:3]
    is_surface = np.zeros(len(corners), bool)
    for first, second in ((0, 1), (1, 2), (2, 0)):
        is_surface |= one[:, first] * other[:, second] != one[:, second] * other[:, first]
    return is_surface


def _first_ones(rows: Numbers, widgets: Numbers) -> Numbers:
    """Return the numbers of the triangles that repeat no earlier one of their widget."""
    codes = np.empty((len(rows), 3), np.uint64)
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE].astype(np.uint64)
        code = some[:, _X] | some[:, _Y] << np.uint64(21) ^ some[:, _Z] << np.uint64(42)
        # The corners of a triangle may stand in any order.
        codes[start : start + _AT_ONCE] = np.sort(code, axis=1)
    widget = widgets[rows[:, 9]].astype(np.uint64) if len(rows) else np.empty(0, np.uint64)
    mixed = widget
    for column in range(3):
        mixed = (mixed ^ codes[:, column]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed, kind="stable")
    before, after = order[:-1], order[1:]
    is_same = (mixed[before] == mixed[after]) & (widget[before] == widget[after])
    # Equal codes are proof for 16 bits; wide rows are compared themselves.
    is_same[is_same] = _are_same(rows, before[is_same], after[is_same])
    is_kept = np.ones(len(rows), bool)
    is_kept[after[is_same]] = False
    return np.flatnonzero(is_kept)


def _are_same(rows: Numbers, before: Numbers, after: Numbers) -> Numbers:
    """Return which pairs of triangles have the same three corners, in any order."""
    pairs = []
    for chosen in (before, after):
        corners = rows[chosen, :9].reshape(-1, 3, 3).astype(np.int64)
        order = np.lexsort((corners[:, :, 2], corners[:, :, 1], corners[:, :, 0]), axis=1)
        pairs.append(np.take_along_axis(corners, order[:, :, None], axis=1))
    same: Numbers = (pairs[0] == pairs[1]).all(axis=(1, 2))
    return same


def _tree_order(rows: Numbers, step: Point, depth: int) -> Numbers:
    """Return the triangles in the order of the tree's leaves.

    A node is divided at the median of its longest axis. Large nodes are divided one by one; of
    small ones all levels are sorted together.
    """
    count = len(rows)
    centers = np.empty((count, 3), np.float32)
    for column, part in enumerate((_X, _Y, _Z)):
        centers[:, column] = (
            rows[:, part].min(axis=1).astype(np.float64) + rows[:, part].max(axis=1)
        ) * step[column]
    order = np.arange(count, dtype=np.int32)
    waiting = [(0, 0)]
    while waiting:
        level, node = waiting.pop()
        start, end = first_of(node, count, level), first_of(node + 1, count, level)
        if level == depth:
            continue
        if end - start <= _SORTED_AT_ONCE:
            starts = [
                np.array([first_of((node << more) + one, count, level + more) - start
                          for one in range((1 << more) + 1)])
                for more in range(depth - level)
            ]  # fmt: skip
            block = order[start:end]
            order[start:end] = block[_sorted_block(centers[block], starts)]
            continue
        block = order[start:end]
        own = centers[block]
        axis = int((own.max(axis=0) - own.min(axis=0)).argmax())
        middle = first_of(2 * node + 1, count, level + 1) - start
        order[start:end] = block[np.argpartition(own[:, axis], middle)]
        waiting += [(level + 1, 2 * node), (level + 1, 2 * node + 1)]
    return order


def _sorted_block(centers: Numbers, starts: list[Numbers]) -> Numbers:
    """Return the order of a node's triangles; `starts` are the nodes below it, level by level."""
    numbers = np.arange(len(centers), dtype=np.uint64)
    order = numbers
    for level in starts:
        own = centers[order]
        low = np.minimum.reduceat(own, level[:-1], axis=0)
        sizes = np.maximum.reduceat(own, level[:-1], axis=0) - low
        axis = sizes.argmax(axis=1)
        node = np.repeat(np.arange(len(axis)), np.diff(level))
        nodes = np.arange(len(axis))
        length = np.maximum(sizes[nodes, axis], 1e-9)
        chosen = axis[node]
        share = (own[numbers, chosen] - low[node, chosen]) / length[node]
        key = node.astype(np.uint64) << np.uint64(44)
        key |= (share * _SHARES).astype(np.uint64) << np.uint64(14)
        order = order[np.sort(key | numbers) & np.uint64(0x3FFF)]
    return order


def _boxes(rows: Numbers, depth: int) -> list[Numbers]:
    """Return the boxes of each level, the top first."""
    sizes = level_sizes(depth)
    if not sizes:
        return []
    starts = [first_of(leaf, len(rows), depth) for leaf in range(1 << depth)]
    boxes = np.empty((len(starts), 6), rows.dtype)
    for column, part in enumerate((_X, _Z, _Y)):
        low, high = rows[:, part].min(axis=1), rows[:, part].max(axis=1)
        boxes[:, 2 * column] = np.minimum.reduceat(low, starts)
        boxes[:, 2 * column + 1] = np.maximum.reduceat(high, starts)
    levels = [boxes]
    for _ in sizes[1:]:
        below = levels[-1].reshape(-1, FAN, 6)
        above = np.empty((len(below), 6), rows.dtype)
        above[:, 0::2] = below[:, :, 0::2].min(axis=1)
        above[:, 1::2] = below[:, :, 1::2].max(axis=1)
        levels.append(above)
    return levels[::-1]
