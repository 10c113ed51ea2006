"""Places and directions."""

from __future__ import annotations

import pytest

from emu.world_stream.movement import Position


def test_distance_is_measured_on_the_ground() -> None:
    assert Position(0, 100, 0).distance_to(Position(3, 0, 4)) == 5.0


@pytest.mark.parametrize(("x", "z", "heading"), [(0, 1, 0), (1, 0, 90), (0, -1, 180), (-1, 0, 270)])
def test_heading_to(x: float, z: float, heading: float) -> None:
    assert Position(0, 0, 0).heading_to(Position(x, 0, z)) == pytest.approx(heading)


def test_a_step_ends_at_the_goal() -> None:
    start, goal = Position(0, 0, 0, 5.0, 1), Position(0, 10, 0, 0.0, 2)
    assert start.toward(goal, 4.0) == Position(0, 4, 0, 0.0, 1)
    assert start.toward(goal, 40.0) == Position(0, 10, 0, 0.0, 2)
    assert goal.toward(goal, 1.0).heading == 0.0
