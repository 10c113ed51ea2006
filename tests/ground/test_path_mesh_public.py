"""Ways on fifty public meshes, compared with Detour's own on the same files.

`EMU_MAPS` names a folder with the meshes of emagi/eq2emu-maps; they are GPL, so none is here.
"""

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, dist
from pathlib import Path
from random import Random
from typing import Final

import pytest

from emu.ground.ground_layout import Point
from emu.ground.mesh_building import build_paths
from emu.ground.mesh_files import read_mesh
from emu.ground.path_mesh import PathMesh, WayFound, nearest_on
from emu.ground.source_bytes import SourceBytes
from tests.support.foreign.detour import detour_program, detour_routes

FOLDER = Path(os.environ.get("EMU_MAPS", "/nowhere")) / "Maps" / "nav"
MESHES: Final = 50
PAIRS: Final = 60
"""On each mesh."""
SMALLEST: Final = 30
"""Polygons of a mesh that has places so far apart."""
NEAR: Final = 0.01
Pair = tuple[float, float, float, float, float, float]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="EMU_MAPS names no folder of public meshes"),
]


def meshes(folder: Path) -> Iterator[tuple[Path, PathMesh, list[Pair]]]:
    """Yield fifty meshes with pairs of places that are 20 to 120 m apart."""
    random = Random(11)
    found = 0
    for source in random.sample(paths := sorted(FOLDER.glob("*.nav")), len(paths)):
        target = folder / f"{source.stem}.paths"
        with source.open("rb") as stream, target.open("wb") as out:
            built = build_paths(read_mesh(SourceBytes(stream.read)), bytes(32), out)
        if built.polygons < SMALLEST:
            continue
        mesh = PathMesh(target)
        pairs = list(some_pairs(mesh, random))
        if len(pairs) == PAIRS:
            found += 1
            yield source, mesh, pairs
        mesh.close()
        target.unlink()
        if found == MESHES:
            return


def some_pairs(mesh: PathMesh, random: Random) -> Iterator[Pair]:
    """Yield pairs of middles of polygons; few if the mesh is small."""
    found = 0
    for _ in range(PAIRS * 60):
        start, goal = (middle(mesh, random.randrange(mesh.polygons)) for _ in range(2))
        if 20.0 <= dist(start, goal) <= 120.0:
            found += 1
            yield (*start, *goal)
        if found == PAIRS:
            return


def middle(mesh: PathMesh, polygon: int) -> Point:
    corners = mesh.file.floor(polygon).corners
    x, y, z = (sum(axis) / len(corners) for axis in zip(*corners, strict=True))
    return x, y, z


def points_beside(mesh: PathMesh, way: WayFound) -> tuple[int, int]:
    """Return of how many points of a way, one each meter, how many are over no polygon of it."""
    floors = [mesh.file.floor(polygon) for polygon in way.polygons]
    flat = [one._replace(corners=[(x, 0.0, z) for x, _, z in one.corners]) for one in floors]
    asked = beside = 0
    for (x, _, z), (to_x, _, to_z) in pairwise(way.points):
        count = ceil(dist((x, z), (to_x, to_z)))
        for number in range(count):
            share = number / count
            at = x + share * (to_x - x), 0.0, z + share * (to_z - z)
            asked += 1
            beside += all(nearest_on(one, at, 0.0)[1] > NEAR for one in flat)
    return asked, beside


def length(points: Sequence[Point]) -> float:
    return sum(dist(one, other) for one, other in pairwise(points))


def test_3000_ways_are_those_of_detour(tmp_path: Path) -> None:
    """The same places are reached, 95 % of the lengths differ by 2 % at most, all are on it."""
    program = detour_program(tmp_path)
    ratios: list[float] = []
    compared = asked = beside = 0
    for source, mesh, pairs in meshes(tmp_path):
        for pair, expected in zip(pairs, detour_routes(program, source, pairs), strict=True):
            way = mesh.search(pair[:3], pair[3:]).finish()
            assert way.reaches == expected.reaches, (source.stem, pair)
            compared += 1
            if expected.length:
                ratios.append(length(way.points) / expected.length)
            some, off = points_beside(mesh, way)
            asked, beside = asked + some, beside + off
    near = sum(0.98 <= one <= 1.02 for one in ratios)
    assert compared == MESHES * PAIRS
    assert asked > 100_000
    assert len(ratios) > 1000
    assert near >= 0.95 * len(ratios)
    assert beside == 0
