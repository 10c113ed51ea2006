"""Waypoints: what is listed, and the path to the one that is selected."""

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.travel.waypoints import LONGEST_NAME, MOST_WAYPOINTS
from tests.support.world.travel_scenes import TravelScene


def select(scene: TravelScene, number: int) -> None:
    row = {"waypoint_name": "Guard", "waypoint_category": 2, "entry_id": number}
    values = {"selection": number, "num_selections": 1, "selection_array": [row]}
    body = scene.player.client.dialect.encode_known("WS_WaypointSelect", values)
    scene.client.say("OP_WaypointSelectMsg", body)


@pytest.mark.parametrize("version", [546, 561, 1208, 60114])
def test_a_player_selects_a_waypoint(version: int) -> None:
    scene = TravelScene(version=version)
    waypoints, player = scene.travel.waypoints, scene.player
    for away in (500.0, 20.0):
        at = player.position._replace(x=player.position.x + away)
        guard = Spawn(scene.harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", at)
        scene.zone.add_spawn(guard, scene.harness.now)
    waypoints.add_waypoint(player, "Guard", 2)
    waypoints.add_waypoint(player, player.name, 3)
    waypoints.send(player)
    rows = scene.client.decoded("WS_WaypointUpdate")[-1]["update_array"]
    assert [(row["waypoint_name"], row["waypoint_category"]) for row in rows] == [
        ("Guard", 2), (player.name, 3),
    ]  # fmt: skip
    select(scene, rows[0]["spawn_id"])
    path = scene.client.decoded("WS_GlowPath")[-1]
    assert path["num_points"] == 1
    assert path["waypoint_x"] == pytest.approx(player.position.x + 20.0), "the nearest"
    select(scene, rows[1]["spawn_id"])
    assert scene.client.decoded("WS_GlowPath")[-1]["num_points"] == 0, "no players"
    waypoints.remove(player, "Guard")
    select(scene, rows[0]["spawn_id"])
    assert scene.harness.world.faults.drops["waypoint unknown"] == 1


def test_waypoints_are_few_and_end_with_the_stay() -> None:
    scene = TravelScene()
    for number in range(MOST_WAYPOINTS + 1):
        scene.travel.waypoints.add_waypoint(scene.player, f"Guard {number}", 2)
    scene.travel.waypoints.send(scene.player)
    assert scene.client.decoded("WS_WaypointUpdate")[-1]["num_updates"] == MOST_WAYPOINTS
    scene.travel.waypoints.forget(scene.player)
    scene.travel.waypoints.send(scene.player)
    assert scene.client.decoded("WS_WaypointUpdate")[-1]["num_updates"] == 0


def test_a_waypoint_with_a_long_name_is_replaced_among_many() -> None:
    scene, long = TravelScene(), "Guard" * 60
    waypoints = scene.travel.waypoints
    for name in (long, *map(str, range(MOST_WAYPOINTS - 1)), long):
        waypoints.add_waypoint(scene.player, name, 2)
    waypoints.send(scene.player)
    rows = scene.client.decoded("WS_WaypointUpdate")[-1]["update_array"]
    assert len(rows) == MOST_WAYPOINTS
    newest = max(rows, key=lambda row: row["spawn_id"])
    assert newest["waypoint_name"] == long[:LONGEST_NAME]
