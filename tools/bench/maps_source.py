"""Generated maps and meshes in EQ2Emulator's formats; as a program it imports a map.

``python -m tools.bench.maps_source MAP GROUND`` makes a ground file and prints CPU seconds and the
peak of its memory in bytes as JSON.
"""

from __future__ import annotations

import gzip
import json
import resource
import struct
import sys
from math import cos, sin
from pathlib import Path
from random import Random
from time import process_time

import numpy as np

from emu.ground.building import build_ground
from emu.ground.map_files import MapReader
from tests.support.ground.map_bytes import net_string
from tests.support.ground.mesh_bytes import SIZE, Cell

CELL = 4.0
"""Meters of a square of the ground."""
WALLS = 0.1
"""Walls for each square of the ground."""


def hilly_map(side: int, seed: int = 1, path: str = "zones/generated", rough: float = 1.0) -> bytes:
    """Return a map of side x side squares of hilly ground, with walls on it; 2.2 triangles each.

    `rough` multiplies the height of the small hills.
    """
    random = np.random.default_rng(seed)
    places = (np.arange(side + 1) - side / 2) * CELL
    x, z = np.meshgrid(places, places)
    y = 12 * np.sin(x / 97) * np.cos(z / 71)
    y += rough * (2 * np.sin(x / 13) + 1.5 * np.cos(z / 17))
    corners = np.stack((x, y, z), axis=-1)
    a, b, c, d = corners[:-1, :-1], corners[:-1, 1:], corners[1:, 1:], corners[1:, :-1]
    ground = np.stack((a, b, c, a, c, d), axis=2).reshape(-1, 3)
    count = int(side * side * WALLS)
    foot = corners[random.integers(0, side, count), random.integers(0, side, count)]
    turn = random.uniform(0, 6.28, count)
    along = np.stack((np.cos(turn), np.zeros(count), np.sin(turn)), axis=1)
    other, up = foot + along * random.uniform(2, 10, (count, 1)), np.array((0.0, 4.0, 0.0))
    walls = np.stack((foot, other, other + up, foot, other + up, foot + up), axis=1).reshape(-1, 3)
    data = net_string("EQ2EmuMapTool") + struct.pack("<I", 3) + net_string(path)
    data += struct.pack("<6fI", *[0.0] * 6, 2)
    for grid, some in ((1, ground), (2, walls)):
        data += struct.pack("<IIIfffI", grid, 1, 0, 0, 0, 0, len(some))
        data += some.astype("<f4").tobytes()
    return gzip.compress(data, 1)


def height_near(x: float, z: float) -> float:
    """Return the height of the ground of `hilly_map` between its corners, nearly."""
    return 12 * sin(x / 97) * cos(z / 71) + 2 * sin(x / 13) + 1.5 * cos(z / 17)


def mesh_cells(side: int, seed: int = 1) -> dict[Cell, float]:
    """Return square floors with gaps: a tenth of them is missing."""
    random = Random(seed)
    return {
        (column, row): height_near(column * SIZE, row * SIZE) / 4
        for column in range(side)
        for row in range(side)
        if random.random() >= 0.1
    }


def main(source: Path, target: Path) -> None:
    """Make a ground file and print what it took."""
    with source.open("rb") as stream, target.open("wb") as out:
        built = build_ground(MapReader(stream), bytes(32), out)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"cpu": process_time(), "peak": peak, "triangles": built.triangles}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
