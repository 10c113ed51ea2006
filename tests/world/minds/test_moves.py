"""How spawns are moved, by scripts: rounds, hails, turning, following."""

from pathlib import Path

import pytest

from emu.world.minds import moves
from emu.world.minds.walks import Waypoint
from tests.support.times import waiting
from tests.support.world.script_scenes import PLACE, ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    return ScriptScene(tmp_path)


WALK = """
    function spawn(NPC)
        x, y, z = GetX(NPC), GetY(NPC), GetZ(NPC)
        MovementLoopAddLocation(NPC, x + 10, y, z, 2, 0)
        MovementLoopAddLocation(NPC, x + 10, y, z + 10, 2, 5, "arrived")
        MovementLoopAddLocation(NPC, x, y, z + 10, 2, 0)
        MovementLoopAdd(NPC, x, y, z, 2, 0)
    end
    function arrived(NPC) Say(NPC, "here") end
    function hailed(NPC, Spawn) FaceTarget(NPC, Spawn) end"""


def test_a_round_with_a_stay_and_a_function(scene: ScriptScene) -> None:
    guard = scene.spawn(WALK)  # 1.5 s pass
    places, said = [], []
    for seconds in (3.7, 5.0, 4.0, 1.0, 5.0, 5.0, 5.0):
        scene.harness.run(seconds)
        at = guard.position
        places.append((round(at.x - PLACE.x), round(at.z - PLACE.z)))
        said.append(len(scene.heard()))
    assert places == [(10, 0), (10, 10), (10, 10), (10, 10), (0, 10), (0, 0), (10, 0)]
    assert said == [0, 1, 0, 0, 0, 0, 0]


def test_a_client_is_sent_corners_and_not_steps(scene: ScriptScene) -> None:
    guard = scene.spawn(WALK)
    fields = scene.client.fields_of("Guard")
    assert fields["pos_speed"] == 512
    x, _, z = fields["pos_dest_loc_offset"]
    assert (x > 200, z) == (True, 0)
    assert fields["pos_dest_loc_offset2"][2] in (319, 320)
    before = len(scene.client.log)
    scene.harness.run(3.0)
    assert len(scene.client.log) == before
    scene.harness.run(1.0)
    assert len(scene.client.log) == before + 1
    # A newcomer is shown where the spawn is now.
    scene.harness.run(1.0)
    other = scene.harness.stand(7, 1208, name="Cara")
    assert other.player is not None
    shown = other.fields_of("Guard")
    assert PLACE.z + 1.0 < guard.position.z - 1.1 < shown["pos_z"] < guard.position.z + 1.1
    assert round(shown["pos_next_z"] - PLACE.z) == round(shown["pos_z3"] - PLACE.z) == 10


def test_a_hail_lets_a_spawn_on_its_round_stand_for_five_seconds(scene: ScriptScene) -> None:
    guard = scene.spawn(WALK)
    scene.hail(guard)
    at = guard.position
    assert at.heading == at.heading_to(scene.player.position)
    assert guard.speed == 0.0
    scene.harness.run(4.9)
    assert guard.position == at
    scene.harness.run(0.2)
    assert guard.position.heading == pytest.approx(270.0)
    scene.harness.run(5.0)
    assert round(guard.position.x - PLACE.x) == 10


def test_a_spawn_without_a_round_faces_a_player_for_thirty_seconds(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn) FaceTarget(NPC, Spawn) end")
    scene.hail(guard)
    scene.harness.run(20.0)
    scene.hail(guard)
    heading = guard.position.heading_to(scene.player.position)
    scene.harness.run(29.9)
    assert guard.position.heading == heading
    scene.harness.run(0.2)
    assert guard.position.heading == PLACE.heading


def test_a_spawn_that_faces_another_spawn_keeps_its_heading(scene: ScriptScene) -> None:
    scene.spawn("", "Other", location=71).move(PLACE._replace(x=PLACE.x + 5.0))
    guard = scene.spawn("""
        function hailed(NPC, Spawn) FaceTarget(NPC, GetSpawnByLocationID(GetZone(NPC), 71)) end""")
    scene.hail(guard)
    scene.harness.run(60.0)
    assert guard.position.heading == 270.0


def test_a_way_calls_the_function_at_its_end(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function targeted(NPC, Spawn)
            MoveToLocation(NPC, GetX(NPC) + 4, GetY(NPC), GetZ(NPC), 4, "", true)
            Say(NPC, tostring(IsRunning(NPC)))
            MoveToLocation(NPC, GetX(NPC) + 4, GetY(NPC), GetZ(NPC) + 4, 4, "arrived")
        end
        function arrived(NPC) Say(NPC, tostring(IsRunning(NPC)) .. GetOrigX(NPC)) end""")
    scene.heard()
    scene.target(guard)
    assert scene.heard() == [("Guard", "true")]
    scene.harness.run(1.9)
    assert scene.heard() == []
    scene.harness.run(0.2)
    assert scene.heard() == [("Guard", "false3.0")]
    assert guard.speed == 0.0


def test_a_spawn_without_a_speed_does_not_move(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            MoveToLocation(NPC, GetX(NPC) + 4, GetY(NPC), GetZ(NPC))
            SetSpeed(NPC, speed or 0)
            MoveToLocation(NPC, GetX(NPC) + 4, GetY(NPC), GetZ(NPC))
            speed = 2
        end""")
    scene.hail(guard)
    scene.harness.run(3.0)
    assert guard.position[:3] == PLACE[:3]
    scene.hail(guard)
    scene.harness.run(7.1)
    assert guard.position.x == PLACE.x + 4


@pytest.mark.parametrize("function", ["StopMovement", "PauseMovement"])
def test_a_stop_is_for_ever_and_a_pause_is_not(scene: ScriptScene, function: str) -> None:
    guard = scene.spawn(WALK + f"\nfunction targeted(NPC) {function}(NPC, 3000) end")
    scene.target(guard)
    at = guard.position
    scene.harness.run(2.9)
    assert guard.position == at
    scene.harness.run(2.0)
    assert (guard.position == at) is (function == "StopMovement")


def test_a_follower_keeps_its_distance(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetFollowTarget(NPC, Spawn, 3)
            ToggleFollow(NPC)
            Say(NPC, tostring(IsFollowing(NPC)) .. (GetName(GetFollowTarget(NPC) or NPC)))
        end""")
    assert scene.hail(guard) == [("Guard", "trueAldana")]
    scene.go(20.0)
    scene.harness.run(2.0)
    assert 5.0 < guard.position.x - PLACE.x < 15.0
    scene.harness.run(10.0)
    assert guard.position.distance_to(scene.player.position) == pytest.approx(3.0, abs=1.1)
    assert guard.speed == 0.0
    scene.go(17.5)
    assert scene.hail(guard) == [("Guard", "falseAldana")]
    scene.go(40.0)
    scene.harness.run(5.0)
    assert guard.position.x - PLACE.x < 18.0


def test_a_round_that_is_endless_ends_at_the_limit(scene: ScriptScene) -> None:
    scene.spawn("""
        function spawn(NPC)
            while true do MovementLoopAddLocation(NPC, 1, 1, 1, 2, 0) end
        end""")
    assert "took too long" in scene.lines[0]
    scene.spawn("function spawn(NPC) MovementLoopAdd(NPC, 1e9, 0, 0, 2, 0) end", "Far")
    far = next(spawn for spawn in scene.zone if spawn.name == "Far")
    assert far.speed == 0.0


def test_a_zone_without_players_stands_still(scene: ScriptScene) -> None:
    guard = scene.spawn(WALK)
    scene.harness.service.send_away(scene.player, "test", scene.harness.now)
    scene.harness.run(10.0)
    assert "walks" not in waiting(scene.harness.timetable)
    at = guard.position
    scene.harness.run(250.0)
    assert guard.position == at
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    assert guard.position != at


def test_who_died_lies_where_that_was(scene: ScriptScene) -> None:
    again = "function targeted(NPC, Spawn) FaceTarget(NPC, Spawn) spawn(NPC) end"
    guard = scene.spawn(f"{WALK}\n{again}")
    body = scene.scripts.body_of(guard, scene.zone)
    assert body is not None
    scene.scripts.states.kill(body, None)
    at = guard.position
    assert guard.speed == 0.0
    scene.target(guard)
    scene.harness.run(2.0)
    assert guard.position == at
    assert scene.client.fields_of("Guard").get("pos_speed", 0) == 0


def test_the_last_mover_of_a_zone_leaves_nothing(scene: ScriptScene) -> None:
    guard, other = scene.spawn(WALK), scene.spawn(WALK, "Other", location=71)
    moves = scene.scripts.moves
    moves.forget(guard, scene.zone)
    assert len(moves.walks) == 1
    moves.forget(other, scene.zone)
    assert (moves._movers, moves.walks._walks) == ({}, {})
    scene.harness.run(2.0)
    assert "walks" not in waiting(scene.harness.timetable)


def test_rounds_and_ways_have_a_limited_number_of_points(
    scene: ScriptScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moves, "MOST_POINTS", 2)
    guard = scene.spawn("")
    mover = scene.harness.parts.minds.moves.of(guard, scene.zone, lambda _mark: None)
    point = Waypoint(PLACE._replace(x=PLACE.x + 10.0), 2.0)
    assert [mover.add_to_round(point) for _ in range(3)] == [True, True, False]
    assert [mover.go(point, at_once=False) for _ in range(3)] == [True, True, False]


def test_who_is_sent_somewhere_leaves_its_round(scene: ScriptScene) -> None:
    guard = scene.spawn("")
    mover = scene.harness.parts.minds.moves.of(guard, scene.zone, lambda _mark: None)
    for east in (10.0, 30.0):
        mover.add_to_round(Waypoint(PLACE._replace(x=PLACE.x + east), 2.0))
    scene.harness.run(2.0)
    assert guard.position.x > PLACE.x
    mover.go(Waypoint(PLACE._replace(x=PLACE.x - 10.0), 4.0), at_once=True)
    scene.harness.run(3.0)
    assert guard.position.x < PLACE.x
