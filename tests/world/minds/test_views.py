"""Whether a target can be seen, and the error that the client is sent if not.

The numbers of the error: EQ2Emulator's table of spell errors; the layout: fight-1096-melee-a.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world_stream.movement import Position
from tests.support.ground.map_folders import write_maps
from tests.support.world.worlds import HarnessContent, WorldHarness

WEST, EAST = Position(10.0, 0.0, 4.0), Position(18.0, 0.0, 4.0)
"""The fence of the small map stands between them."""


@pytest.mark.parametrize(("version", "error"), [(546, 29), (1208, 34), (60114, 34)])
def test_a_target_behind_a_wall_is_refused(tmp_path: Path, version: int, error: int) -> None:
    world = WorldHarness(content=HarnessContent(maps=lambda: MapFolder(tmp_path / "maps")))
    client = world.stand(5, version)
    player = client.player
    assert player is not None
    import_maps(write_maps(tmp_path / "source", player.zone.definition.file), tmp_path / "maps")
    player.teleport(WEST, world.now)
    guard = Spawn(world.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", EAST)
    player.zone.add(guard, world.now)
    views = world.parts.minds.views
    assert not views.may_reach(player, guard)
    assert [one["error_code"] for one in client.decoded("WS_DisplaySpellFailed")] == [error]
    assert views.may_reach(player, player.spawn), "everybody sees itself"
    assert not views.may_attack(player.zone, guard, player.spawn)
    world.world.rules = replace(world.world.rules, aggro_needs_view=False)
    assert views.may_attack(player.zone, guard, player.spawn), "as with EQ2Emulator's server"
    player.teleport(WEST._replace(x=15.0), world.now)
    assert not views.may_reach(player, guard), "an answer counts for a second"
    world.run(1.0)
    assert views.may_reach(player, guard)
    assert len(client.decoded("WS_DisplaySpellFailed")) == 2
