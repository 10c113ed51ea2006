"""What a change of state does beyond the function that a script calls."""

from pathlib import Path

import pytest

from tests.support.times import waiting
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_a_player_who_has_left_is_sent_no_sheet(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    body = scene.scripts.player_body(scene.player)
    scene.scripts.states.sheet_changed(body)
    assert "character sheets" in waiting(scene.harness.timetable)
    scene.harness.departures.leave(scene.player, "quit", scene.harness.now)
    assert "character sheets" not in waiting(scene.harness.timetable)


def test_what_is_dead_does_not_walk_on(tmp_path: Path) -> None:
    scene = ScriptScene(tmp_path)
    guard = scene.spawn("""
        function hailed(NPC, Spawn) MoveToLocation(NPC, 60, 0, 240, 2) KillSpawn(NPC) end""")
    scene.hail(guard)
    at = guard.position
    scene.harness.run(2.0)
    assert guard.position == at
