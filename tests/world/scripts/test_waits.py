"""What scripts wait for: timers, and who comes near."""

import pytest

from emu.times import Monotonic
from emu.world.minds.shares import AT_ONCE
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_a_timer_has_the_other_spawn_until_it_is_gone(scene: ScriptScene) -> None:
    scene.spawn(
        "function go(NPC, Other) Say(NPC, GetName(Other) or 'nobody') end\n"
        "function hailed(NPC, Spawn) AddTimer(NPC, 1000, 'go', 1, other) end\n"
        "function spawn(NPC) other = NPC end",
        "First",
    )
    guard = scene.spawn("""
        function go(NPC, Other) Say(NPC, Other and GetName(Other) or "nobody") end
        function hailed(NPC, Spawn)
            AddTimer(NPC, 1000, "go", 1, GetSpawnByLocationID(GetZone(NPC), 71))
        end""")
    other = scene.spawn("", "Other", location=71)
    scene.hail(guard)
    scene.harness.run(0.9)
    assert scene.heard() == []
    scene.harness.run(0.2)
    assert scene.heard() == [("Guard", "Other")]
    scene.hail(guard)
    scene.scripts.vanished(scene.zone, other)
    scene.harness.run(1.2)
    assert scene.heard() == [("Guard", "nobody")]


def test_a_timer_that_sets_itself_again_is_stopped(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function spawn(NPC) AddTimer(NPC, 1000, "beat") end
        function beat(NPC) Say(NPC, "beat") AddTimer(NPC, 1000, "beat") end
        function hailed(NPC, Spawn) StopTimer(NPC, "beat") end""")
    scene.heard()
    scene.harness.run(3.0)
    assert len(scene.heard()) == 3
    scene.hail(guard)
    scene.harness.run(3.0)
    assert scene.heard() == []


def test_timers_of_an_empty_zone_wait_for_a_player(scene: ScriptScene) -> None:
    scene.spawn("""
        function spawn(NPC) AddTimer(NPC, 5000, "beat") end
        function beat(NPC) Say(NPC, "beat") end""")
    scene.harness.service.send_away(scene.player, "test", scene.harness.now)
    scene.harness.run(60.0)
    assert scene.scripts.counters["functions called"] == 0
    scene.harness.stand(6, name="Borvik")
    scene.harness.run(0.1)
    assert scene.scripts.counters["functions called"] == 1


def test_too_many_timers_of_a_spawn_are_left_out(scene: ScriptScene) -> None:
    scene.spawn("function spawn(NPC) for i = 1, 70 do AddTimer(NPC, 9000, 'f', 1) end end")
    assert scene.scripts.counters["timers left out"] == 6


def test_despawn_as_a_timer_removes_the_spawn(scene: ScriptScene) -> None:
    gone: list[object] = []
    scene.scripts.waits.despawn = lambda _zone, spawn: gone.append(spawn)
    guard = scene.spawn("function hailed(NPC, Spawn) AddTimer(NPC, 1000, 'Despawn') end")
    scene.hail(guard)
    scene.harness.run(0.9)
    assert gone == []
    scene.harness.run(0.3)
    assert gone == [guard]


def test_nearness_calls_at_entering_and_leaving(scene: ScriptScene) -> None:
    scene.go(30.0)
    scene.spawn("""
        function spawn(NPC) SetPlayerProximityFunction(NPC, 10, "InRange", "LeaveRange") end
        function InRange(NPC, Spawn) Say(NPC, "Hello") end
        function LeaveRange(NPC, Spawn) Say(NPC, "Off you go") end""")
    heard = []
    for away in (11.0, 9.0, 9.5, 12.0, 9.0):
        scene.go(away)
        scene.harness.run(2.1)
        heard.append([text for _, text in scene.heard()])
    assert heard == [[], ["Hello"], [], ["Off you go"], ["Hello"]]


def test_a_spawn_that_hides_itself_is_shown_to_who_comes_near(scene: ScriptScene) -> None:
    """Of the community's scripts 123 hide their spawn and let its nearness show it again."""
    scene.go(30.0)
    guard = scene.spawn("""
        function spawn(NPC)
            AddSpawnAccess(NPC, NPC)
            SetPlayerProximityFunction(NPC, 10, "InRange", "LeaveRange")
        end
        function InRange(NPC, Spawn) AddSpawnAccess(NPC, Spawn) end
        function LeaveRange(NPC, Spawn) RemoveSpawnAccess(NPC, Spawn) end""")
    assert scene.client.player is not None
    seen = []
    for away in (11.0, 9.0, 12.0, 9.0):
        scene.go(away)
        scene.harness.run(3.5)
        seen.append(scene.client.player.index_of(guard) is not None)
    assert seen == [False, True, False, True]


def test_a_turn_calls_some_of_many_timers(scene: ScriptScene) -> None:
    name = scene.script("""
        function spawn(NPC) for i = 1, 60 do AddTimer(NPC, 9000, "beat") end end
        function beat(NPC) end""")
    scene.place(name)
    scene.harness.now = Monotonic(scene.harness.now + 20.0)
    before = scene.scripts.counters["functions called"]
    scene.harness.timetable.handle_timer(scene.harness.now)
    assert scene.scripts.counters["functions called"] - before == AT_ONCE
    scene.harness.timetable.handle_timer(scene.harness.now)
    assert scene.scripts.counters["functions called"] - before == 60
