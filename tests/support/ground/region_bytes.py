"""Writes region files in EQ2Emulator's format. Source: docs/protocol/maps.md#regions."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from emu.ground.region_nodes import INSIDE, OUTSIDE, Node
from emu.ground.regions import Region
from tests.support.ground.map_bytes import Corner, net_string

WATER, LAVA = 1, 0xFFFFFFFD


def region_bytes(regions: Iterable[Region], path: str = "zones/meadow/meadow.vdl") -> bytes:
    """Return a region file."""
    some = list(regions)
    data = net_string(path) + struct.pack("<II", 2, len(some))
    for one in some:
        data += struct.pack("<II4f", one.number, one.kind, *one.place, one.radius)
        data += net_string(one.environment) + net_string(one.file)
        data += struct.pack("<Ii", one.grid, len(one.nodes)) + node_bytes(one.nodes)
    return data


def node_bytes(nodes: Sequence[Node]) -> bytes:
    """Return the nodes of a region."""
    return b"".join(
        struct.pack("<I4fIIii", number, *plane, 1, special, front, behind)
        for number, (*plane, special, front, behind) in enumerate(nodes)
    )


def box_nodes(low: Corner, high: Corner, special: int = WATER) -> tuple[Node, ...]:
    """Return the tree of a box, as the public files have it: inside is in front of six planes."""
    planes = []
    for axis in range(3):
        for sign, limit in ((1.0, low[axis]), (-1.0, -high[axis])):
            normal = [0.0, 0.0, 0.0]
            normal[axis] = sign
            planes.append((*normal, limit))
    # Each node leads to the one before it, so children have lower numbers, but for the first.
    order = [5, 0, 1, 2, 3, 4]
    fronts = [5, INSIDE, 1, 2, 3, 4]
    return tuple(
        (*planes[plane], special, front, OUTSIDE)  # type: ignore[misc]
        for plane, front in zip(order, fronts, strict=True)
    )


def pool(
    low: Corner, high: Corner, *, kind: int = 0, special: int = WATER, file: str = "pool.region"
) -> Region:
    """Return a region that is a box."""
    place = tuple((a + b) / 2 for a, b in zip(low, high, strict=True))
    return Region(7, kind, place, 100.0, "water.xml", file, 3, box_nodes(low, high, special))  # type: ignore[arg-type]
