"""The glowing path in a zone with a map leads around its fence.

Layout: docs/protocol/world/commands.md#waypoint, from EQ2Emulator's source.
"""

from pathlib import Path

import pytest

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.world_stream.movement import Position
from tests.support.ground.map_folders import write_maps
from tests.support.world.worlds import HarnessContent, WorldHarness

WEST, EAST = Position(10.0, 0.0, 2.0), Position(22.0, 0.0, 2.0)


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_the_path_leads_around_what_is_in_the_way(tmp_path: Path, version: int) -> None:
    world = WorldHarness(content=HarnessContent(maps=lambda: MapFolder(tmp_path / "maps")))
    client = world.stand(5, version)
    player = client.player
    assert player is not None
    import_maps(write_maps(tmp_path / "source", player.zone.definition.file), tmp_path / "maps")
    player.teleport(WEST, world.now)
    client.types("/waypoint 22 0 2")
    client.types("/waypoint 22 0 2")
    world.run(1.0)
    straight, around = client.decoded("WS_GlowPath")
    assert straight["num_points"] == 1, "one search at a time"
    places = [(one["x"], one["z"]) for one in around["points_array"]]
    assert places[-1] == (EAST.x, EAST.z)
    assert max(z for _, z in places) > 7.0, "the gap of the fence"
    assert (around["waypoint_x"], around["waypoint_z"]) == (EAST.x, EAST.z)
