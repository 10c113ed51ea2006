"""Values of a ghost that follow from numbers."""

from __future__ import annotations

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.visibility.baselines import heading_units, position_fields
from emu.world_stream.movement import Position


@pytest.mark.parametrize(("degrees", "units"), [(92, -5632), (0, -11520), (180.5, 32), (270, 5760)])
def test_headings_count_from_the_opposite(degrees: float, units: int) -> None:
    """docs/protocol/world/spawns.md#units."""
    assert heading_units(degrees) == units


@pytest.mark.parametrize(
    ("activity", "state"), [(128, 16512), (0, 1024), (1024, 1024), (6336, 16512)]
)
def test_state_follows_the_activity(activity: int, state: int) -> None:
    """docs/protocol/world/spawns.md#units."""
    player = Spawn(1, SpawnKind.PLAYER, "A", Position(0, 0, 0))
    player.move(player.position, activity=activity)
    assert position_fields(player)["pos_state"] == state


def test_speeds_are_cut_to_what_their_fields_hold() -> None:
    player = Spawn(1, SpawnKind.PLAYER, "A", Position(0, 0, 0))
    player.move(player.position, speed=4.5, side_speed=1e9, vert_speed=-1e9)
    fields = position_fields(player)
    assert fields["pos_speed"] == 1152
    assert (fields["pos_side_speed"], fields["pos_vert_speed"]) == (0x7FFF, -0x8000)
