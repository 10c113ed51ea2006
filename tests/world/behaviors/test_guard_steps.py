"""Walking from point to point."""

from __future__ import annotations

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.behaviors.guard import Way
from emu.world_stream.movement import Position


def test_a_way_is_walked_at_its_speed_round_its_corners() -> None:
    spawn = Spawn(1, SpawnKind.NPC, "x", Position(0, 0, 0, 0, 9))
    way = Way([Position(3, 0, 0), Position(3, 0, 4)], 1.0)
    places = []
    for _ in range(9):
        if way.step(spawn, 1.0):
            break
        places.append(spawn.position[:3])
        assert spawn.speed == 1.0
    assert places == [(1, 0, 0), (2, 0, 0), (3, 0, 0), (3, 0, 1), (3, 0, 2), (3, 0, 3)]
    assert spawn.position[:3] == (3, 0, 4)
    assert spawn.position.grid == 9
    assert spawn.speed == 0.0


def test_a_long_step_passes_several_points() -> None:
    spawn = Spawn(1, SpawnKind.NPC, "x", Position(0, 0, 0))
    way = Way([Position(1, 0, 0), Position(1, 0, 1), Position(2, 0, 1)], 2.5)
    assert not way.step(spawn, 1.0)
    assert spawn.position[:3] == pytest.approx((1.5, 0, 1))
    assert way.step(spawn, 1.0)
