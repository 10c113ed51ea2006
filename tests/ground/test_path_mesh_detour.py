"""Routes compared with Detour's own on the same mesh file."""

from __future__ import annotations

from itertools import pairwise
from math import dist
from pathlib import Path
from random import Random

import pytest

from tests.support.foreign.detour import detour_program, detour_routes
from tests.support.ground.mesh_bytes import (
    SIZE,
    Cell,
    cell_tiles,
    opened_mesh,
    set_bytes,
)

pytestmark = pytest.mark.slow
SIDE = 8
"""Cells of a tile's side."""
PLANS = 6
ROUTES = 500


def plan(seed: int) -> dict[Cell, float]:
    """Return uneven floors with gaps, in several pieces."""
    random = Random(seed)
    share = 0.1 + 0.05 * (seed % 5)
    return {
        (column, row): round(random.uniform(0, 0.8), 3)
        for column in range(32)
        for row in range(32)
        if random.random() >= share
    }


def test_3000_routes_are_those_of_detour(tmp_path: Path) -> None:
    """The same places are reached, and 95 % of the ways have the same length within 2 %."""
    program = detour_program(tmp_path)
    ratios: list[float] = []
    for seed in range(PLANS):
        cells, random = plan(seed), Random(100 + seed)
        mesh = opened_mesh(tmp_path, cells, SIDE)
        file = tmp_path / "meadow.nav"
        file.write_bytes(set_bytes(cell_tiles(cells, SIDE), SIDE * SIZE, links=1024, nodes=0))
        pairs = [
            tuple(
                value
                for column, row in random.sample(sorted(cells), 2)
                for value in (
                    (column + random.uniform(0.2, 0.8)) * SIZE,
                    cells[column, row],
                    (row + random.uniform(0.2, 0.8)) * SIZE,
                )
            )
            for _ in range(ROUTES)
        ]
        for pair, expected in zip(pairs, detour_routes(program, file, pairs), strict=True):
            way = mesh.search(pair[:3], pair[3:]).finish()  # type: ignore[arg-type]
            assert way.reaches == expected.reaches
            if expected.length:
                length = sum(dist(one, other) for one, other in pairwise(way.points))
                ratios.append(length / expected.length)
    assert len(ratios) > PLANS * ROUTES / 2
    near = sum(0.98 <= ratio <= 1.02 for ratio in ratios)
    assert near >= 0.95 * len(ratios)
