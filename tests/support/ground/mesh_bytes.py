"""Writes navigation meshes in Detour's format. Source: docs/protocol/maps.md#mesh."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from emu.ground.mesh_building import build_paths
from emu.ground.mesh_files import Mesh, read_mesh
from emu.ground.path_mesh import PathMesh
from emu.ground.source_bytes import SourceBytes

Cell = tuple[int, int]
SIZE = 4.0
"""Meters of a cell's side."""
CLIMB = 0.9
_SIDES = {(-1, 0): 4, (0, 1): 2, (1, 0): 0, (0, -1): 6}
"""Detour's numbers of a tile's sides, by the step to the next tile."""


class Tile(NamedTuple):
    """One tile as it is written: square polygons of four corners."""

    column: int
    row: int
    corners: list[tuple[float, float, float]]
    polygons: list[tuple[list[int], list[int]]]
    """Corners and sides of each polygon."""


def tile_bytes(tile: Tile, *, links: int = 0, nodes: int = 0) -> bytes:
    """Return a tile: its data with the header, reference and size before it."""
    corners = b"".join(struct.pack("<3f", *one) for one in tile.corners)
    polygons = b"".join(
        struct.pack(
            "<I6H6HHBB", 0xFFFFFFFF, *(some + [0] * (6 - len(some))),
            *(sides + [0] * (6 - len(sides))), 1, len(some), 0,
        )
        for some, sides in tile.polygons
    )  # fmt: skip
    count = len(tile.polygons)
    bounds = [pick(axis) for pick in (min, max) for axis in zip(*tile.corners, strict=True)]
    head = struct.pack(
        "<4siiiiI9i3f6ff", b"VAND", 7, tile.column, tile.row, 0, 0, count, len(tile.corners),
        links, count, 0, 2 * count, nodes, 0, count, 1.5, 0.2, CLIMB, *bounds, 1.0,
    )  # fmt: skip
    # Two detail triangles for each square, as Detour finds heights with them. The last byte of each
    # marks its sides that are sides of the square.
    details = b"".join(struct.pack("<IIBBxx", 0, 2 * number, 0, 2) for number in range(count))
    triangles = bytes((0, 1, 2, 0b000101, 0, 2, 3, 0b010100)) * count
    data = head + corners + polygons + bytes(12 * links) + details + triangles + bytes(16 * nodes)
    return struct.pack("<Ii", 1, len(data)) + data


def set_bytes(tiles: Iterable[Tile], side: float = 8.0, *, links: int = 3, nodes: int = 2) -> bytes:
    """Return a mesh file; `side` is that of a tile in meters.

    Links and nodes are empty: Detour fills in the links, and without nodes it needs none.
    """
    some = [tile_bytes(tile, links=links, nodes=nodes) for tile in tiles]
    head = struct.pack("<ii5fii", 1, len(some), 0, 0, 0, side, side, 1024, 4096)
    return b"TESM" + head + b"".join(some)


def cell_tiles(cells: dict[Cell, float], side: int = 1 << 20) -> list[Tile]:
    """Return tiles of square floors; `cells` have their heights, `side` is that of a tile.

    Cells beside each other are connected; over the border of a tile that is left to the reader.
    """
    places = {(column // side, row // side) for column, row in cells}
    tiles = []
    for place in sorted(places):
        own = [one for one in cells if (one[0] // side, one[1] // side) == place]
        numbers = {cell: number for number, cell in enumerate(own)}
        corners: list[tuple[float, float, float]] = []
        polygons = []
        for column, row in own:
            x, z, y = column * SIZE, row * SIZE, cells[column, row]
            first = len(corners)
            # In the order of `_SIDES`: west, north, east and south.
            corners += [(x, y, z), (x, y, z + SIZE), (x + SIZE, y, z + SIZE), (x + SIZE, y, z)]
            sides = []
            for step, number in _SIDES.items():
                to = column + step[0], row + step[1]
                if to in numbers:
                    sides.append(numbers[to] + 1)
                elif (to[0] // side, to[1] // side) != place:
                    sides.append(0x8000 | number)
                else:
                    sides.append(0)
            polygons.append(([first, first + 1, first + 2, first + 3], sides))
        tiles.append(Tile(*place, corners, polygons))
    return tiles


def mesh_of(data: bytes) -> Mesh:
    """Read a mesh file's bytes."""
    return read_mesh(SourceBytes(io.BytesIO(data).read))


def write_paths(folder: Path, cells: dict[Cell, float], side: int = 1 << 20) -> Path:
    """Write the path file of square floors; return its path."""
    path = folder / "meadow.paths"
    with path.open("wb") as file:
        build_paths(mesh_of(set_bytes(cell_tiles(cells, side))), b"\x08" * 32, file)
    return path


def opened_mesh(folder: Path, cells: dict[Cell, float], side: int = 1 << 20) -> PathMesh:
    """Return the mesh of square floors."""
    return PathMesh(write_paths(folder, cells, side))


def flat(text: str) -> dict[Cell, float]:
    """Return the cells of a plan: a line for each row, the highest first; `.` is a floor."""
    rows = text.split()[::-1]
    return {
        (column, row): 0.0
        for row, line in enumerate(rows)
        for column, letter in enumerate(line)
        if letter == "."
    }
