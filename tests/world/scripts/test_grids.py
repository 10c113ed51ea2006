"""Grids that players and walking creatures enter and leave.

Rules: enter_location and leave_location of the C++ server: grid 0 is left out.
"""

from __future__ import annotations

import pytest

from emu.world.events import Entered
from emu.world.minds.walks import Waypoint
from emu.world.scripts.grids import PAUSE
from tests.support.times import waiting
from tests.support.world.script_scenes import PLACE, ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

SCRIPT = """
    Player = nil
    function player_entry(Zone, P) Player = P SendMessage(P, "entry") end
    function enter_location(Zone, Spawn, grid)
        SendMessage(Player, GetName(Spawn) .. " in " .. grid)
    end
    function leave_location(Zone, Spawn, grid)
        SendMessage(Player, GetName(Spawn) .. " out of " .. grid)
    end"""


def ready(scene: ScriptScene, source: str = SCRIPT) -> None:
    """Give the zone a script, and let the player enter it."""
    scene.zone_script(source)
    scene.harness.world.events.publish(Entered(scene.player, scene.harness.now))


def step(scene: ScriptScene, grid: int) -> None:
    """Let the player's client say that it is in a grid."""
    x, y, z = scene.player.position[:3]
    scene.client.walk(x, y, z, grid_location=grid)


def test_a_player_enters_and_leaves_the_grids_of_its_steps(scene: ScriptScene) -> None:
    scene.player.spawn.position = scene.player.position._replace(grid=5)
    ready(scene)
    assert scene.shown() == ["entry", "Aldana in 5"]
    step(scene, 5)
    step(scene, 6)
    assert scene.shown() == ["Aldana out of 5", "Aldana in 6"]
    step(scene, 0)
    assert scene.shown() == ["Aldana out of 6"]
    step(scene, 5)
    assert scene.shown() == ["Aldana in 5"]


def test_a_walker_is_looked_at_once_a_second(scene: ScriptScene) -> None:
    ready(scene)
    guard = scene.spawn("function spawn(NPC) end")
    scene.shown()
    walks = scene.scripts.moves.walks
    walk = walks.of(guard, scene.zone, lambda _mark: None)
    walk.queue.append(Waypoint(PLACE._replace(x=PLACE.x + 30.0), 2.0))
    walks.changed(walk, scene.harness.now)
    scene.harness.run(PAUSE)
    guard.position = guard.position._replace(grid=7)
    walk._from = walk._from._replace(grid=7)
    scene.harness.run(2 * PAUSE)
    assert scene.shown() == ["Guard in 7"]
    scene.harness.run(3 * PAUSE)
    assert scene.shown() == []


def test_a_zone_whose_script_has_no_function_is_not_looked_at(scene: ScriptScene) -> None:
    scene.player.spawn.position = scene.player.position._replace(grid=5)
    ready(scene, "function player_entry(Zone, P) end")
    assert "the grids of those who walk" not in waiting(scene.harness.timetable)
