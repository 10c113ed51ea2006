"""Heights and lines of sight on ten public maps, against a plain search over the exact triangles.

A ground file rounds corners to whole steps, so a few points beside a side of a triangle differ.
`EMU_MAPS` names a folder with the maps of emagi/eq2emu-maps; they are GPL, so none is here.
"""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from emu.ground.building import build_ground
from emu.ground.ground_map import ABOVE, GroundMap
from emu.ground.map_files import MapReader

FOLDER = Path(os.environ.get("EMU_MAPS", "/nowhere")) / "Maps"
MAPS: Final = 10
QUESTIONS: Final = 1000
"""On each map."""
SIZES: Final = range(20_000, 800_000)
"""Bytes of the files: with larger ones the plain search takes minutes."""
SIGHT: Final = 30.0
NEAR: Final = 0.05
Numbers = NDArray[Any]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="EMU_MAPS names no folder of public maps"),
]


class Plain(NamedTuple):
    """All triangles of a map, and what is searched in them."""

    corners: Numbers
    low: Numbers
    high: Numbers

    def height(self, x: float, y: float, z: float) -> float | None:
        """Return the next surface from 1 m above a point down, else up."""
        is_near = (self.low[:, (0, 2)] <= (x, z)).all(1) & (self.high[:, (0, 2)] >= (x, z)).all(1)
        found = self.corners[is_near]
        shares = [_area(found[:, one], found[:, other], x, z) for one, other in SIDES]
        whole = sum(shares)
        is_hit = np.not_equal(whole, 0)
        is_hit &= np.all([one * whole >= 0 for one in shares], axis=0)
        heights = sum(share * found[:, at, 1] for at, share in enumerate(shares))[is_hit]
        heights = heights / whole[is_hit]
        if not heights.size:
            return None
        below = heights[heights < y + ABOVE]
        return float(below.max() if below.size else heights.min())

    def is_clear(self, start: Numbers, end: Numbers) -> bool:
        """Return whether no triangle lies between two points: by volumes."""
        low, high = np.minimum(start, end), np.maximum(start, end)
        found = self.corners[((self.low <= high) & (self.high >= low)).all(1)] - start
        way = end - start
        a, b, c = found[:, 0], found[:, 1], found[:, 2]
        normal = np.cross(b - a, c - a)
        over = -(normal * a).sum(1)
        under = over + normal @ way
        volumes = [np.cross(found[:, one], found[:, other]) @ way for one, other in SIDES]
        is_hit = (over * under <= 0) & (over != under)
        is_inside = np.all([one >= 0 for one in volumes], axis=0)
        is_inside |= np.all([one <= 0 for one in volumes], axis=0)
        return not (is_hit & is_inside).any()


SIDES: Final = ((1, 2), (2, 0), (0, 1))
"""The side across from each corner."""


def _area(one: Numbers, other: Numbers, x: float, z: float) -> Any:
    across = other - one
    return across[:, 0] * (z - one[:, 2]) - across[:, 2] * (x - one[:, 0])


def maps(folder: Path) -> Iterator[tuple[Plain, GroundMap, Numbers]]:
    """Yield ten maps in both forms, with places on their floors."""
    random = np.random.default_rng(1)
    paths = sorted(FOLDER.glob("*.EQ2MapDeflated"))
    paths = [path for path in paths if path.stat().st_size in SIZES]
    for number in sorted(random.choice(len(paths), MAPS, replace=False)):
        with paths[number].open("rb") as source:
            groups = [group.corners for group in MapReader(source).groups()]
        corners = np.frombuffer(b"".join(groups), "<f4").reshape(-1, 3, 3).astype(float)
        target = folder / f"{number}.ground"
        with paths[number].open("rb") as source, target.open("wb") as out:
            build_ground(MapReader(source), bytes(32), out)
        with closing(GroundMap(target)) as ground:
            plain = Plain(corners, corners.min(axis=1), corners.max(axis=1))
            yield plain, ground, _floors(corners, random)
        target.unlink()


def _floors(corners: Numbers, random: np.random.Generator) -> Numbers:
    """Return places on surfaces that are no walls, by their sizes; every other one is raised."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1)
    weight = np.where(np.abs(normal[:, 1]) > 0.7 * size, size, 0)
    chosen = corners[random.choice(len(corners), QUESTIONS, p=weight / weight.sum())]
    shares = random.dirichlet((1, 1, 1), QUESTIONS)
    places: Numbers = (chosen * shares[:, :, None]).sum(axis=1)
    places[::2, 1] += random.uniform(-1, 3, QUESTIONS // 2)
    return places


def test_heights_are_those_of_the_exact_triangles(tmp_path: Path) -> None:
    different = 0
    for plain, ground, places in maps(tmp_path):
        for x, y, z in places.tolist():
            expected, found = plain.height(x, y, z), ground.surface(x, y, z)
            if expected is None or found is None:
                different += (expected is None) != (found is None)
            else:
                different += abs(expected - found.y) > NEAR
    assert different <= MAPS * QUESTIONS // 1000


def test_lines_of_sight_are_those_of_the_exact_triangles(tmp_path: Path) -> None:
    different, blocked = 0, 0
    random = np.random.default_rng(2)
    for plain, ground, places in maps(tmp_path):
        for place in places:
            start = place + np.array((0, 2, 0))
            end = start + random.uniform(-SIGHT, SIGHT, 3) * (1, 0.2, 1)
            expected = plain.is_clear(start, end)
            blocked += not expected
            x, y, z = start.tolist()
            to_x, to_y, to_z = end.tolist()
            different += expected != ground.is_clear((x, y, z), (to_x, to_y, to_z))
    assert different <= MAPS * QUESTIONS // 1000
    assert blocked > MAPS * QUESTIONS // 10
