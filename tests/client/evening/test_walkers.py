"""Where somebody who walks is between two updates."""

from typing import Any

import pytest

from emu.client.evening.walkers import place_after
from emu.client.world.surroundings import Place

HERE = Place(10.0, 0.0, 0.0)
WALK = {
    "pos_speed": 512, "pos_next_x": 14.0, "pos_next_y": 0.0, "pos_next_z": 0.0,
    "pos_x3": 14.0, "pos_y3": 0.0, "pos_z3": 6.0,
}  # fmt: skip


OFFSETS = {
    "pos_speed": 512, "pos_dest_loc_offset": [128, 0, 0], "pos_dest_loc_offset2": [128, 0, 192],
}  # fmt: skip
"""The same walk as clients of 546 have it."""


@pytest.mark.parametrize("walk", [WALK, OFFSETS])
@pytest.mark.parametrize(
    ("seconds", "x", "z"), [(0.0, 10.0, 0.0), (1.0, 12.0, 0.0), (3.0, 14.0, 2.0), (60.0, 14.0, 6.0)]
)
def test_it_walks_to_its_next_two_points(
    walk: dict[str, Any], seconds: float, x: float, z: float
) -> None:
    place = place_after(walk, HERE, seconds)
    assert (place.x, place.z) == pytest.approx((x, z))


@pytest.mark.parametrize(
    "fields", [{}, WALK | {"pos_speed": 0}, {"pos_speed": 512, "pos_next_x": 0.0}]
)
def test_without_a_walk_it_stands(fields: dict[str, float]) -> None:
    assert place_after(fields, HERE, 60.0) == HERE
