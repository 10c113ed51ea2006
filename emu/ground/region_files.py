"""EQ2Emulator's region files. Layout: docs/protocol/maps.md#regions."""

from __future__ import annotations

import math
import struct
from typing import Final, NamedTuple

from emu.ground.region_nodes import Node, first_wrong_child
from emu.ground.regions import Region
from emu.ground.source_bytes import SourceBytes

VERSION: Final = 2
MOST_REGIONS: Final = 1 << 16
_NODE: Final = struct.Struct("<I4fIIii")


class RegionFile(NamedTuple):
    """The content of a region file."""

    path: str
    """The file that it was made from."""
    regions: list[Region]


def read_regions(source: SourceBytes) -> RegionFile:
    """Read a region file. Raises `FileFormatError`."""
    path = source.text("the path")
    start = source.offset
    version = source.u32("the version")
    if version != VERSION:
        raise source.fault(f"version {version} is unknown", start)
    count = source.u32("the number of regions")
    if count > MOST_REGIONS:
        raise source.fault(f"{count} regions are more than any zone has", start + 4)
    regions = [_region(source) for _ in range(count)]
    source.end()
    return RegionFile(path, regions)


def _region(source: SourceBytes) -> Region:
    number, kind = source.u32("a region"), source.u32("a region")
    x, y, z, radius = source.floats(4, "a region's place")
    environment, file = source.text("a region's name"), source.text("a region's name")
    grid = source.u32("a region")
    start = source.offset
    count = source.i32("the number of nodes")
    if count < 0:
        raise source.fault(f"{count} nodes cannot be", start)
    data = source.take(count * _NODE.size, "the nodes of a region")
    nodes: list[Node] = []
    for at, (_, nx, ny, nz, d, _, special, front, behind) in enumerate(_NODE.iter_unpack(data)):
        if not all(map(math.isfinite, (nx, ny, nz, d))):
            raise source.fault("a plane is no finite number", start + 4 + at * _NODE.size)
        nodes.append((nx, ny, nz, d, special, front, behind))
    wrong = first_wrong_child(tuple(nodes))
    if wrong is not None:
        place = start + 4 + wrong * _NODE.size
        raise source.fault("a node has a child that does not exist or is in a circle", place)
    return Region(number, kind, (x, y, z), radius, environment, file, grid, tuple(nodes))
