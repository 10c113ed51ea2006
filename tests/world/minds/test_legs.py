"""Legs of walks over the ground."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.ground.ground_map import Surface
from emu.ground.legs import LegCorner
from emu.world.minds.legs import Bend, bends_of, between, length_of, passed
from emu.world_stream.movement import Position

START, END = Position(0.0, 0.2, 0.0, 0.0, 7), Position(30.0, 0.0, 40.0, 0.0, 7)


def corner(x: float, y: float, z: float, grid: int = 5) -> LegCorner:
    return LegCorner((x, y, z), Surface(y, grid, 0))


HILL = [corner(0.0, 0.0, 0.0), corner(15.0, 6.0, 20.0, 6), corner(30.0, 0.0, 40.0, 6)]


def test_a_leg_has_the_corners_of_the_ground_between_its_own_ends() -> None:
    assert length_of(START, END) == 50.0
    assert bends_of(START, END, HILL) == (
        Bend(0.0, START._replace(grid=5)),
        Bend(0.5, Position(15.0, 6.0, 20.0, 0.0, 6)),
        Bend(1.0, END._replace(grid=6)),
    )


@pytest.mark.parametrize(
    ("start", "end"),
    [(START._replace(y=1.1), END), (START, END._replace(y=3.0)), (START._replace(y=-6.0), END)],
)
def test_who_is_in_the_air_or_on_another_floor_goes_straight(
    start: Position, end: Position
) -> None:
    assert bends_of(start, end, HILL) == ()


def test_a_leg_without_ground_or_length_is_straight() -> None:
    assert bends_of(START, END, [*HILL[:2], LegCorner((30.0, 0.0, 40.0), None)]) == ()
    assert bends_of(START, START, HILL) == ()
    assert bends_of(START, END, []) == ()


@given(st.floats(0.0, 1.0))
def test_the_place_on_the_map_is_that_of_the_straight_leg(share: float) -> None:
    bends = bends_of(START, END, HILL)
    place = between(bends, passed(bends, share), share)
    assert (place.x, place.z) == pytest.approx((30.0 * share, 40.0 * share))
    top = 0.2 + 5.8 * share / 0.5 if share <= 0.5 else 6.0 * (1.0 - share) / 0.5
    assert place.y == pytest.approx(top)
    assert place.grid == (5 if share < 0.5 else 6)
