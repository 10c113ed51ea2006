"""Places, speeds, headings and sides as scripts set and ask them."""

from pathlib import Path

import pytest

from emu.ground.importing import import_maps
from emu.ground.map_folder import MapFolder
from emu.world.scripts.functions.movement import MOVEMENT
from emu.world_stream.movement import Position
from tests.support.ground.map_folders import write_maps
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import PLACE, ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_a_spawn_is_put_elsewhere_and_is_at_home_there(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetPosition(NPC, 1, 2, 243, 45)
            Say(NPC, GetOrigX(NPC) .. " " .. GetOrigY(NPC) .. " " .. GetOrigZ(NPC))
            SetPosition(NPC, 1, 2, 244)
        end""")
    assert scene.hail(guard) == [("Guard", "1.0 2.0 243.0")]
    assert guard.position == guard.origin == (1.0, 2.0, 244.0, 45.0, 0)


def test_a_player_is_put_elsewhere_and_its_client_is_sent_the_opposite_heading(
    scene: ScriptScene,
) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetPosition(Spawn, 4, -7, 243, heading)
            heading = 90
        end
        function targeted(NPC, Spawn) SetHeading(Spawn, 10) end""")
    before = scene.player.position.heading
    scene.hail(guard)
    assert scene.player.position == (4.0, -7.0, 243.0, before, scene.player.position.grid)
    scene.hail(guard)
    assert scene.player.position.heading == 90.0
    # EQ2Emulator adds 180 (eq2-lua.md 3, and a place with heading 180 that it sends as 360 in the
    # recording real-entry-1208-start-fighter-priest).
    assert scene.client.decoded("WS_MoveClient")[-1]["heading"] == 270.0
    scene.target(guard)
    assert scene.player.position.heading == 10.0
    assert scene.client.decoded("WS_MoveClient")[-1]["heading"] == 190.0


def test_headings_cells_and_moves_of_a_spawn(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetHeading(NPC, 450)
            SetGridID(NPC, 77)
            Say(NPC, GetHeading(NPC) .. tostring(HasMoved(NPC)) .. tostring(HasMoved(NPC)))
        end""")
    assert scene.hail(guard) == [("Guard", "90.0falsefalse")]
    assert guard.position.grid == 77
    guard.move(guard.position._replace(x=PLACE.x + 1.0))
    assert scene.hail(guard) == [("Guard", "90.0truefalse")]


def test_speeds_and_what_slows_them(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            SetSpeed(NPC, 8) SetSpeedMultiplier(NPC, 0.5)
            first = GetSpeed(NPC)
            SetSpeedMultiplier(NPC, 75)
            Say(NPC, first .. " " .. GetSpeed(NPC))
            SetSpeed(Spawn, 30)
        end""")
    assert scene.hail(guard) == [("Guard", "4.0 2.0")]
    assert scene.client.decoded("WS_SetControlGhost")[-1]["speed"] == 30.0


@pytest.mark.parametrize(
    ("away", "sides"),
    [
        ((-1.0, 0.0), "true false false"),
        ((0.0, 1.0), "false false true"),
        ((1.0, 0.0), "false true true"),
    ],
)
def test_sides(scene: ScriptScene, away: tuple[float, float], sides: str) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            Say(NPC, tostring(InFront(Spawn, NPC)) .. " " .. tostring(IsBehind(Spawn, NPC)) .. " "
                .. tostring(IsFlanking(Spawn, NPC)))
        end""")
    guard.move(PLACE._replace(heading=90.0))
    at = PLACE._replace(x=PLACE.x + away[0], z=PLACE.z + away[1])
    scene.player.teleport(at, scene.harness.now)
    assert scene.hail(guard) == [("Guard", sides)]


@pytest.mark.parametrize(("version", "size"), [(546, 20), (1208, 26)])
def test_a_players_client_pushes_it(tmp_path: Path, version: int, size: int) -> None:
    """The client of 2006 reads five floats; EQ2Emulator's struct has six bytes more."""
    scene = ScriptScene(tmp_path, version)
    guard = scene.spawn("""
        function hailed(NPC, Spawn) Knockback(NPC, Spawn, 1000, 2, 5, 1) end""")
    at = guard.position
    scene.hail(guard)
    [body] = [body for name, body in scene.client.log if name == "OP_PerformPlayerKnockbackMsg"]
    assert len(body) == size
    shown = scene.client.decoded("WS_PlayerKnockback")[-1]
    names = ("target_x", "target_y", "target_z", "vertical_movement", "horizontal_movement")
    assert [shown[name] for name in names] == pytest.approx([*at[:3], 2.0, 5.0])
    assert shown.get("use_player_heading", 1) == 1
    strong = scene.spawn(
        "function hailed(NPC, Spawn) Knockback(NPC, Spawn, 1, 5000, -5000) end", "Other"
    )
    scene.hail(strong)
    shown = scene.client.decoded("WS_PlayerKnockback")[-1]
    assert (shown["vertical_movement"], shown["horizontal_movement"]) == (1000.0, -1000.0)


def test_a_creature_is_pushed_away_or_where_it_looks(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            Knockback(Spawn, NPC, 1000, 2, 5) Knockback(NPC, Spawn, 1000, 2, 5)
        end
        function targeted(NPC, Spawn) Knockback(Spawn, NPC, 1000, 2, 4, 1) end""")
    before = scene.player.position
    scene.hail(guard)
    assert guard.position.x == pytest.approx(PLACE.x - 5.0)
    assert scene.player.position == before
    guard.move(PLACE._replace(heading=270.0))
    scene.target(guard)
    assert guard.position[:3] == pytest.approx((PLACE.x + 4.0, PLACE.y, PLACE.z))
    assert guard.position.heading == 270.0


def test_missing_spawns_and_players_walk_nowhere(scene: ScriptScene) -> None:
    names = (
        "MovementLoopAddLocation", "MovementLoopAdd", "MoveToLocation", "ClearRunningLocations",
        "StopMovement", "PauseMovement", "IsRunning", "SetSpeed", "GetSpeed", "SetSpeedMultiplier",
        "SetPosition", "SetHeading", "SetGridID", "GetOrigX", "GetOrigY", "GetOrigZ", "HasMoved",
        "FaceTarget", "SetFollowTarget", "ToggleFollow", "IsFollowing", "GetFollowTarget",
        "Knockback", "InFront", "IsBehind", "IsFlanking",
    )  # fmt: skip
    missing = "\n".join(f"{name}(nil) {name}(nil, 1, 2, 3)" for name in names)
    ours = "\n".join(
        f"{name}(Spawn, 1, 2, 3, 4, 5)"
        for name in names
        if name not in ("SetPosition", "SetHeading", "SetSpeed")
    )
    guard = scene.spawn(f"function hailed(NPC, Spawn) {missing} {ours} Say(NPC, 'done') end")
    before = scene.player.position
    assert scene.hail(guard) == [("Guard", "done")]
    assert scene.player.position == before
    assert scene.lines == []


def test_points_are_cleared(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            MoveToLocation(NPC, GetX(NPC) + 4, GetY(NPC), GetZ(NPC), 4)
            ClearRunningLocations(NPC)
            Say(NPC, tostring(IsRunning(NPC)))
        end""")
    assert scene.hail(guard) == [("Guard", "false")]
    assert guard.speed == 0.0


WALKS = {
    "MoveToLocation(NPC, 22, 0, 2, 5, '', false, {mesh})": 8.0,
    "MovementLoopAdd(NPC, 10, 0, 2, 5, 0, '', 0, true, {mesh})"
    " MovementLoopAdd(NPC, 22, 0, 2, 5, 0, '', 0, true, {mesh})": 5.0,
}
"""Calls with an argument that asks for the mesh, and the seconds that the way to x = 22 takes."""


@pytest.mark.parametrize("call", WALKS)
@pytest.mark.parametrize("mesh", [True, False])
def test_the_last_argument_leads_around_the_fence(
    scene: ScriptScene, tmp_path: Path, call: str, mesh: bool
) -> None:
    """The fence of the small map leaves a gap in the north: z from 8 on."""
    grounds = scene.harness.parts.grounds
    import_maps(write_maps(tmp_path / "source", scene.zone.definition.file), tmp_path / "maps")
    grounds._list_maps = lambda: MapFolder(tmp_path / "maps")
    grounds.reload()
    guard = scene.spawn("function hailed(NPC) " + call.format(mesh=str(mesh).lower()) + " end")
    guard.position = guard.origin = Position(10.0, 0.0, 2.0)
    scene.player.spawn.position = guard.position
    scene.hail(guard)
    walk = scene.scripts.moves.walks.get(guard, scene.zone)
    assert walk is not None
    north = 0.0
    scene.harness.run(5.0)  # the pause after the hail
    for _ in range(round(WALKS[call] / 0.2)):
        scene.harness.run(0.2)
        north = max(north, walk.place(scene.harness.now).z)
    assert (north > 7.4) is mesh
    assert scene.lines == []


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), MOVEMENT) == []
