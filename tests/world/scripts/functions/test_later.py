"""Timers and nearness as scripts ask for them; the host's tests have what they do in time."""

from pathlib import Path

import pytest

from emu.world.scripts.functions.later import LATER
from tests.support.times import IDLE, waiting
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_missing_spawns_have_no_timers_and_players_no_nearness(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            AddTimer(nil, 10, "f") AddTimer(NPC, 10) AddTimer(NPC, 0, "f") StopTimer(nil)
            SetPlayerProximityFunction(Spawn, 10, "f") SetPlayerProximityFunction(NPC, 0, "f")
            Despawn(Spawn) Despawn(nil)
        end""")
    scene.hail(guard)
    assert waiting(scene.harness.timetable) <= IDLE
    assert scene.lines == []


def test_a_timer_of_several_times_is_called_each_time_after_the_same_pause(
    scene: ScriptScene,
) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn) AddTimer(NPC, 1000, "beat", 3) end
        function beat(NPC) Say(NPC, "beat") end""")
    scene.hail(guard)
    scene.harness.run(1.5)
    assert len(scene.heard()) == 1
    scene.harness.run(5.0)
    assert len(scene.heard()) == 2


def test_stop_without_a_function_stops_all(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn) AddTimer(NPC, 10, "a") AddTimer(NPC, 20, "b") StopTimer(NPC) end
        """)
    scene.hail(guard)
    assert waiting(scene.harness.timetable) <= IDLE


def test_a_timer_of_a_player_calls_the_script_of_players(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn) AddTimer(Spawn, 1000, 'go', 1, NPC) end")
    scene.script(
        "function go(Zone, Player, Other) Say(Other, GetZoneID(Zone) .. GetName(Player)) end",
        "PlayerScripts/global.lua",
    )
    scene.hail(guard)
    scene.harness.run(1.2)
    assert scene.heard() == [("Guard", "325Aldana")]


def test_a_spawn_watches_others_by_number_and_by_place(scene: ScriptScene) -> None:
    scene.spawn("""
        function spawn(NPC)
            AddSpawnProximity(NPC, 971, 0, 10, "near", "far")
            AddSpawnProximity(NPC, 71, 1, 10, "near", "far")
        end
        function near(NPC, Other) Say(NPC, "near " .. GetName(Other)) end
        function far(NPC, Other) Say(NPC, "far " .. GetName(Other)) end""")
    other = scene.spawn("", "Other", location=71)
    scene.harness.run(2.0)
    assert scene.heard() == [("Guard", "near Other")] * 2
    other.move(other.position._replace(x=other.position.x + 11.0))
    scene.harness.run(2.0)
    assert scene.heard() == [("Guard", "far Other")] * 2


def test_a_place_is_a_diamond_and_looked_at_each_second(scene: ScriptScene) -> None:
    scene.zone_script("""
        function init_zone_script(Zone)
            SetLocationProximityFunction(Zone, 3.0, -7.97, 243.45, 5, "come", "gone")
        end
        function come(Zone, Player) SendMessage(Player, "here") end
        function gone(Zone, Player) SendMessage(Player, "away") end""")
    scene.go(6.0)
    scene.shown()
    scene.harness.run(1.1)
    assert scene.shown() == []
    scene.go(4.0)
    scene.harness.run(1.1)
    assert scene.shown() == ["here"]
    at = scene.player.position
    scene.player.teleport(at._replace(y=at.y + 3.0), scene.harness.now)
    scene.harness.run(1.1)
    assert scene.shown() == ["away"]


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), LATER) == []
