"""Movement of players, true and false."""

from __future__ import annotations

import math
from pathlib import Path

import attrs
import pytest

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.world.actors.client import PlayerClient
from emu.world.actors.player import DEAD
from emu.world.actors.sheet import SpellMarks
from emu.world.minds.moves import push_player
from emu.world.spells.living import HELD
from tests.support.ground.map_folders import write_maps
from tests.support.world.worlds import HarnessContent, WorldHarness


def test_the_true_height_is_shown_to_others(harness: WorldHarness) -> None:
    one, two = harness.stand(5), harness.stand(6)
    harness.run(0.5)
    one.walk(2.0, 17.5, 240.0)
    harness.run(0.2)
    assert two.fields_of("Name5")["pos_y"] == 17.5


@pytest.mark.parametrize(
    "place", [(math.nan, 0, 0), (0, math.inf, 0), (0, 0, 1e30), (100_000, 0, 0), (900, 0, 243)]
)
def test_nonsense_and_jumps_are_not_shown_and_the_player_is_put_back(
    harness: WorldHarness,
    place: tuple[float, float, float],
) -> None:
    one, two = harness.stand(5), harness.stand(6)
    one.walk(2.0, -7.0, 243.0)
    harness.run(0.5)
    one.log.clear()
    one.walk(*place)
    harness.run(0.5)
    assert two.fields_of("Name5")["pos_x"] == 2.0
    [fields] = one.decoded("WS_MoveClient")
    assert (fields["x"], fields["y"], fields["z"]) == (2.0, -7.0, 243.0)
    one.walk(3.0, -7.0, 243.0)
    harness.run(0.5)
    assert two.fields_of("Name5")["pos_x"] == 3.0


def test_a_flood_of_nonsense_is_answered_seldom_and_reported_once(harness: WorldHarness) -> None:
    one = harness.stand(5)
    one.log.clear()
    events = len(harness.events)
    for _ in range(1000):
        one.walk(1e6, 0, 0)
    assert one.names.count("OP_TeleportWithinZoneNoReloadMsg") == 1
    harness.run(2.5)
    one.walk(1e6, 0, 0)
    assert one.names.count("OP_TeleportWithinZoneNoReloadMsg") == 2
    assert len(harness.events) == events + 1


def test_garbage_is_counted(harness: WorldHarness) -> None:
    one = harness.stand(5)
    for body in (b"", bytes(9), bytes(5) + b"\xff" * 4, b"\xff" * 700):
        one.say("OP_PredictionUpdateMsg", body)
    assert sum(one.player.client.drops.values()) == 4


def test_steps_before_the_zone_stands_only_move_the_baseline(harness: WorldHarness) -> None:
    one = harness.enter(5)
    one.walk(50.0, 0.0, 240.0)
    assert one.player.position.x != 50.0
    one.load()
    one.walk(4.0, 0.0, 240.0)
    assert one.player.position.x == 4.0


def test_who_falls_out_of_the_zone_is_put_on_its_safe_place(harness: WorldHarness) -> None:
    one = harness.stand(5)
    definition = harness.zones.definition(325)
    one.walk(0.0, -100.0, 240.0)
    assert one.player.position.y == -100.0
    one.player.zone.definition = attrs.evolve(definition, underworld=-90.0)
    one.walk(0.0, -110.0, 240.0)
    assert one.player.position[:3] == definition.safe[:3]
    assert "OP_TeleportWithinZoneNoReloadMsg" in one.names


def test_who_falls_under_the_map_is_put_on_the_safe_place(tmp_path: Path) -> None:
    """200 m under the lowest triangle, as EQ2Emulator's server does it (the small map is at 0)."""
    content = HarnessContent(maps=lambda: MapFolder(tmp_path / "maps"))
    harness = WorldHarness(content=content)
    definition = harness.zones.definition(325)
    import_maps(write_maps(tmp_path / "source", definition.file), tmp_path / "maps")
    one = harness.stand(5)
    one.player.zone.definition = attrs.evolve(definition, underworld=-1_000_000.0)
    one.player.teleport(one.player.position._replace(y=-198.0), harness.now)
    x, _, z = one.player.position[:3]
    one.walk(x, -199.0, z)
    assert one.player.position.y == -199.0
    one.walk(x, -201.0, z)
    assert one.player.position[:3] == definition.safe[:3]
    assert "OP_TeleportWithinZoneNoReloadMsg" in one.names


def test_the_index_of_a_vanished_ghost_is_no_target(harness: WorldHarness) -> None:
    one, two = harness.stand(5), harness.stand(6)
    harness.run(0.5)
    index = one.player.index_of(two.player.spawn)
    one.say("OP_UpdateTargetMsg", index.to_bytes(2, "little"))
    assert one.player.target is two.player.spawn
    two.say("OP_RequestCampMsg", b"\1\1")
    assert index not in one.view.indexes
    one.say("OP_UpdateTargetMsg", index.to_bytes(2, "little"))
    assert one.player.target is None
    assert harness.world.faults.drops["target unknown"] == 1
    harness.stand(7)
    harness.run(0.5)
    assert one.sees() == {"Name7"}
    assert index not in one.view.indexes  # an index is not given to another ghost at once


def test_sitting_and_standing_are_seen(harness: WorldHarness) -> None:
    """538 and 539, docs/protocol/world/spawns.md#posture."""
    one, two = harness.stand(5), harness.stand(6)
    harness.run(0.5)
    one.say("OP_SitMsg")
    harness.run(0.2)
    assert two.fields_of("Name5")["visual_state"] == 538
    one.say("OP_StandMsg")
    harness.run(0.2)
    assert two.fields_of("Name5")["visual_state"] == 539


@pytest.mark.parametrize("why", ["death", "root"])
def test_who_is_held_goes_nowhere_but_down_or_where_it_is_pushed(
    harness: WorldHarness, why: str
) -> None:
    """A client is only asked to stand: docs/protocol/world/fights.md#death, flags 8 and 16."""
    one = harness.stand(5)
    player = one.player
    assert player is not None
    x, y, z = player.position[:3]
    harness.run(1.0)
    if why == "death":
        harness.minds.harm.kill(player.zone, player.spawn, None)
    else:
        player.spawn.sheet.spells = SpellMarks()
        player.spawn.sheet.spells.controls = HELD
    one.walk(x + 2.0, y, z)  # sent before the client knew
    assert player.position.x == pytest.approx(x + 2.0)
    for step in range(3, 9):
        harness.run(1.0)
        one.walk(x + step, y, z)
    assert player.position.x == pytest.approx(x + 3.0)
    one.walk(x + 3.0, y - 5.0, z)
    assert player.position.y == pytest.approx(y - 5.0)
    push_player(player, player.spawn, 5.0, 8.0, own_heading=True, now=harness.now)
    one.walk(x + 11.0, y, z)
    assert player.position.x == pytest.approx(x + 11.0)


@pytest.mark.parametrize("act", ["OP_SitMsg", "OP_StandMsg", "sit", "stand"])
def test_the_dead_neither_sit_nor_stand(harness: WorldHarness, act: str) -> None:
    one, two = harness.stand(5), harness.stand(6)
    harness.run(0.5)
    assert one.player is not None
    harness.minds.harm.kill(one.player.zone, one.player.spawn, None)
    harness.run(0.2)
    before = two.fields_of("Name5").get("visual_state")
    if act.startswith("OP_"):
        one.say(act)
    else:
        assert one.types(act) == [DEAD]
    harness.run(0.2)
    assert two.fields_of("Name5").get("visual_state") == before


def test_a_target_is_named_by_the_clients_own_index(harness: WorldHarness) -> None:
    one, two = harness.stand(5), harness.stand(6)
    harness.run(0.5)
    one.say("OP_UpdateTargetMsg", b"\2\0")
    assert one.player.target is two.player.spawn
    for body, counted in ((b"\x63\0", 1), (b"\xff\xff", 1)):
        one.say("OP_UpdateTargetMsg", body)
        assert one.player.target is None
        assert harness.world.faults.drops["target unknown"] == counted
    one.say("OP_UpdateTargetMsg", b"\1")
    assert sum(one.player.client.drops.values()) == 1


def test_newer_clients_are_put_back_without_a_cell_of_the_map(harness: WorldHarness) -> None:
    client = harness.client(1096)
    one = harness.stand(5)
    assert one.player is not None
    one.player.connect(PlayerClient(client.dialect, client, "127.0.0.1"))
    one.player.send_place(one.player.position)
    assert client.decoded("WS_MoveClient")[-1]["location"] == 0xFFFFFFFF
