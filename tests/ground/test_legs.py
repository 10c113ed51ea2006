"""Legs over the ground: their corners, and whether they can be walked."""

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.ground.legs import MOST_SAMPLES, TOLERANCE, LegTrace, kept_corners
from tests.support.ground.map_bytes import Corner, Part, Surface3, hills, opened, square
from tests.support.ground.plain_search import best_height


def test_flat_ground_has_no_corner_between(tmp_path: Path) -> None:
    ground = opened(tmp_path, [Part(square((0, 2, 0), (50, 2, 50)), 9)])
    trace = LegTrace(ground, (1, 2, 1), (40, 2, 40))
    corners = trace.finish()
    assert [one.place for one in corners] == [(1, 2, 1), (40, 2, 40)]
    assert [one.surface and one.surface.grid for one in corners] == [9, 9]
    assert trace.is_walkable


@pytest.mark.slow
def test_a_leg_over_hills_stays_near_the_ground(tmp_path: Path) -> None:
    """The issue's measure: a walking creature is never 0.5 m off the ground."""
    triangles = hills(50)
    ground, random = opened(tmp_path, [Part(triangles)]), Random(3)
    for _ in range(8):
        start, end = ((random.uniform(-90, 90), 9.0, random.uniform(-90, 90)) for _ in range(2))
        corners = LegTrace(ground, start, end).finish()
        assert 2 <= len(corners) < 40
        for one, other in pairwise(corners):
            for share in (0.25, 0.5, 0.75):
                x, y, z = (a + share * (b - a) for a, b in zip(one.place, other.place, strict=True))
                expected = best_height(triangles, (x, y + 2, z))
                assert expected is not None
                assert abs(y - expected) < 0.5


def walkable(tmp_path: Path, triangles: list[Surface3], start: Corner, end: Corner) -> bool:
    trace = LegTrace(opened(tmp_path, [Part(triangles)]), start, end)
    trace.finish()
    return trace.is_walkable


FLOOR = square((0, 0, 0), (20, 0, 20))


@pytest.mark.parametrize(
    ("more", "end", "expected"),
    [
        ([], (18, 0, 2), True),
        (square((10, 0, 0), (10, 3, 20)), (18, 0, 2), False),
        (square((10, 0, 0), (10, 0.3, 20)), (18, 0, 2), True),
        ([], (25, 0, 2), False),
        (square((20, -9, 0), (30, -9, 20)), (25, -9, 2), False),
        (square((20, 0, 0), (30, 5, 20)), (28, 4, 2), True),
        (square((20, 0, 0), (30, 25, 20)), (28, 20, 2), False),
        (square((0, 8, 0), (20, 8, 20)), (18, 8, 2), False),
    ],
    ids=["flat", "wall", "threshold", "gap", "cliff", "slope", "steep", "another floor"],
)
def test_a_leg_is_walkable_or_not(
    tmp_path: Path, more: list[Surface3], end: Corner, expected: bool
) -> None:
    assert walkable(tmp_path, [*FLOOR, *more], (2, 0, 2), end) == expected


def test_a_leg_of_heights_only_goes_through_walls(tmp_path: Path) -> None:
    ground = opened(tmp_path, [Part([*FLOOR, *square((10, 0, 0), (10, 3, 20))])])
    trace = LegTrace(ground, (2, 0, 2), (18, 0, 2), only_heights=True)
    assert len(trace.finish()) == 2
    assert trace.is_walkable


def test_where_no_ground_is_the_leg_stays_straight(tmp_path: Path) -> None:
    trace = LegTrace(opened(tmp_path, [Part(FLOOR)]), (30, 5, 30), (40, 9, 30))
    corners = trace.finish()
    assert [(one.place, one.surface) for one in corners] == [
        ((30, 5, 30), None),
        ((40, 9, 30), None),
    ]


def test_a_leg_is_traced_in_turns(tmp_path: Path) -> None:
    trace = LegTrace(opened(tmp_path, [Part(FLOOR)]), (1, 0, 1), (16, 0, 1))
    assert not trace.advance(5)
    assert trace.corners == []
    assert not trace.advance(6)
    assert trace.advance(1)
    assert len(trace.corners) == 2


def test_a_leg_without_a_length_is_one_place(tmp_path: Path) -> None:
    ground = opened(tmp_path, [Part(FLOOR)])
    assert [one.place for one in LegTrace(ground, (1, 9, 1), (1, 9, 1)).finish()] == [(1, 0, 1)] * 2


def test_a_very_long_leg_has_a_limit_of_samples(tmp_path: Path) -> None:
    trace = LegTrace(opened(tmp_path, [Part(FLOOR)]), (0, 0, 0), (1e6, 0, 0))
    assert trace.advance(MOST_SAMPLES + 2)


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=60))
def test_kept_corners_keep_a_line_near_all_points(heights: list[float]) -> None:
    points = [(float(at), height, 0.0) for at, height in enumerate(heights)]
    kept = kept_corners(points)
    assert (kept[0], kept[-1]) == (0, len(points) - 1)
    for start, end in pairwise(kept):
        for at in range(start, end + 1):
            share = (at - start) / (end - start)
            line = heights[start] + share * (heights[end] - heights[start])
            assert abs(line - heights[at]) <= TOLERANCE + 1e-9
