"""Who sees whom through walls, and which creatures attack whom."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world_stream.movement import Position
from tests.support.ground.map_folders import write_maps
from tests.support.world.worlds import HarnessContent, WorldHarness

WEST, EAST = Position(10.0, 0.0, 4.0), Position(18.0, 0.0, 4.0)
"""The fence of the small map stands between them."""


def test_nobody_sees_through_a_wall(tmp_path: Path) -> None:
    world = WorldHarness(content=HarnessContent(maps=lambda: MapFolder(tmp_path / "maps")))
    client = world.stand(5)
    player = client.player
    assert player is not None
    import_maps(write_maps(tmp_path / "source", player.zone.definition.file), tmp_path / "maps")
    player.teleport(WEST, world.now)
    guard = Spawn(world.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", EAST)
    player.zone.add_spawn(guard, world.now)
    views = world.parts.minds.views
    assert not views.sees(player.zone, player.spawn, guard)
    assert views.sees(player.zone, player.spawn, player.spawn), "everybody sees itself"
    assert not views.may_attack(player.zone, guard, player.spawn)
    world.world.rules = replace(world.world.rules, aggro_needs_view=False)
    assert views.may_attack(player.zone, guard, player.spawn), "as with EQ2Emulator's server"
    player.teleport(WEST._replace(x=15.0), world.now)
    assert not views.sees(player.zone, player.spawn, guard), "an answer counts for a second"
    world.run(1.0)
    assert views.sees(player.zone, player.spawn, guard)
