"""Writes map files in EQ2Emulator's format. Source: docs/protocol/maps.md#map."""

from __future__ import annotations

import gzip
import io
import math
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from emu.ground.building import BuiltGround, build_ground
from emu.ground.ground_map import GroundMap
from emu.ground.map_files import MapReader

Corner = tuple[float, float, float]
Surface3 = tuple[Corner, Corner, Corner]


class Part(NamedTuple):
    """Triangles of one grid and widget."""

    triangles: Sequence[Surface3]
    grid: int = 1
    widget: int = 0
    place: Corner = (0.0, 0.0, 0.0)


def net_string(text: str) -> bytes:
    """Return a .NET string: its length in groups of 7 bits, then its bytes."""
    data = text.encode()
    length, head = len(data), b""
    while length > 0x7F:
        head += bytes([length & 0x7F | 0x80])
        length >>= 7
    return head + bytes([length]) + data


def corners_of(triangles: Iterable[Surface3]) -> bytes:
    """Return the corners of triangles."""
    return b"".join(struct.pack("<3f", *corner) for one in triangles for corner in one)


def plain_map(parts: Sequence[Part], path: str, version: int = 3) -> bytes:
    """Return the bytes of a map before their compression.

    As in the public files, the bounds of y are wrong; here all bounds are.
    """
    if version == 2:
        head = net_string(path) + struct.pack("<4fI", 9, 9, -9, -9, len(parts))
        return head + b"".join(
            struct.pack("<II", part.grid, 3 * len(part.triangles)) + corners_of(part.triangles)
            for part in parts
        )
    grids: dict[int, list[Part]] = {}
    for part in parts:
        grids.setdefault(part.grid, []).append(part)
    data = net_string("EQ2EmuMapTool") + struct.pack("<I", version) + net_string(path)
    data += struct.pack("<6fI", 9, 9, 9, -9, -9, -9, len(grids))
    for grid, some in grids.items():
        data += struct.pack("<II", grid, len(some))
        for part in some:
            count = 3 * len(part.triangles)
            data += struct.pack("<I3fI", part.widget, *part.place, count)
            data += corners_of(part.triangles)
    return data


def map_bytes(
    parts: Sequence[Part], path: str = "zones/meadow/meadow.vdl", version: int = 3
) -> bytes:
    """Return a map file."""
    return gzip.compress(plain_map(parts, path, version), 1, mtime=0)


def write_ground(folder: Path, parts: Sequence[Part], version: int = 3) -> Path:
    """Write the ground file of a map; return its path."""
    path = folder / "meadow.ground"
    with path.open("wb") as file:
        build(map_bytes(parts, version=version), file)
    return path


def build(data: bytes, target: io.BufferedIOBase | io.BytesIO | None = None) -> BuiltGround:
    """Build the ground file of a map's bytes."""
    out = io.BytesIO() if target is None else target
    return build_ground(MapReader(io.BytesIO(data)), b"\x07" * 32, out)  # type: ignore[arg-type]


def opened(folder: Path, parts: Sequence[Part]) -> GroundMap:
    """Return the ground of a map."""
    return GroundMap(write_ground(folder, parts))


def square(low: Corner, high: Corner) -> list[Surface3]:
    """Return a rectangle of two triangles.

    Its y may differ between the two corners only along x, or it is an upright wall.
    """
    (x0, y0, z0), (x1, y1, z1) = low, high
    if x0 != x1 and z0 != z1:
        a, b, c, d = (x0, y0, z0), (x1, y1, z0), (x1, y1, z1), (x0, y0, z1)
    else:
        a, b, c, d = (x0, y0, z0), (x1, y0, z1), (x1, y1, z1), (x0, y1, z0)
    return [(a, b, c), (a, c, d)]


def hills(side: int, cell: float = 4.0, height: float = 6.0) -> list[Surface3]:
    """Return hilly ground of side x side cells of two triangles each, around the origin."""

    def corner(column: int, row: int) -> Corner:
        x, z = (column - side / 2) * cell, (row - side / 2) * cell
        return x, height * math.sin(x / 17) * math.cos(z / 23), z

    found: list[Surface3] = []
    for row in range(side):
        for column in range(side):
            a, b = corner(column, row), corner(column + 1, row)
            c, d = corner(column + 1, row + 1), corner(column, row + 1)
            found += [(a, b, c), (a, c, d)]
    return found
