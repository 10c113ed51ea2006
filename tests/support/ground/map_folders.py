"""Small folders of maps, as operators name them: Maps, Maps/nav and Regions."""

from __future__ import annotations

from pathlib import Path

from tests.support.ground.map_bytes import Part, map_bytes, square
from tests.support.ground.mesh_bytes import cell_tiles, flat, set_bytes
from tests.support.ground.region_bytes import LAVA, pool, region_bytes

FLOOR = square((0, 0, 0), (28, 0, 12))
FENCE = square((14, 0, 0), (14, 3, 8))
"""A fence across the floor that leaves a gap in the north."""
PLAN = flat("""
    .......
    ...xx..
    ...xx..
""")


def write_maps(folder: Path, zone: str = "meadow") -> Path:
    """Write a map, a mesh and regions of one zone; return the folder."""
    (folder / "Maps" / "nav").mkdir(parents=True)
    (folder / "Regions").mkdir()
    write_map(folder, zone)
    (folder / "Maps" / "nav" / f"{zone}.nav").write_bytes(set_bytes(cell_tiles(PLAN)))
    regions = [
        pool((0, -1, 0), (4, 1, 4), file="pond_l0.region"),
        pool((24, -1, 0), (28, 1, 4), kind=1, special=LAVA, file="lava.region"),
    ]
    path = f"D:/zones/{zone}/{zone}.vdl"
    (folder / "Regions" / f"{zone}.EQ2Region").write_bytes(region_bytes(regions, path))
    return folder


def write_map(
    folder: Path, zone: str, parts: list[Part] | None = None, made_from: str = ""
) -> Path:
    """Write a map; return its path."""
    path = folder / "Maps" / f"{zone}.EQ2MapDeflated"
    own = parts or [Part(FLOOR, 5), Part(FENCE, 5, 77, (14.0, 1.0, 4.0))]
    path.write_bytes(map_bytes(own, made_from or f"D:/zones/{zone}/{zone}.vdl"))
    return path
