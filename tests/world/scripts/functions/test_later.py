"""Timers and nearness as scripts ask for them; the host's tests have what they do in time."""

from pathlib import Path

import pytest

from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    return ScriptScene(tmp_path)


def test_players_and_missing_spawns_have_no_timers(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            AddTimer(Spawn, 10, "f") AddTimer(nil, 10, "f") AddTimer(NPC, 10) StopTimer(nil)
            SetPlayerProximityFunction(Spawn, 10, "f") SetPlayerProximityFunction(NPC, 0, "f")
            Despawn(Spawn) Despawn(nil)
        end""")
    scene.hail(guard)
    assert scene.scripts.get_timer() is None
    assert scene.lines == []


def test_a_timer_of_several_times_is_called_in_a_row(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn) AddTimer(NPC, 1000, "beat", 3) end
        function beat(NPC) Say(NPC, "beat") end""")
    scene.hail(guard)
    scene.harness.run(1.25)
    assert len(scene.heard()) == 3


def test_stop_without_a_function_stops_all(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn) AddTimer(NPC, 10, "a") AddTimer(NPC, 20, "b") StopTimer(NPC) end
        """)
    scene.hail(guard)
    assert scene.scripts.get_timer() is None
