"""The host of scripts: events, timers, nearness, errors, and what ends a handle."""

from pathlib import Path

import pytest

from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    return ScriptScene(tmp_path)


def test_a_hail_calls_the_script_with_spawn_and_player(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            FaceTarget(NPC, Spawn)
            Say(NPC, "Well met, " .. GetName(Spawn), Spawn)
        end""")
    assert scene.hail(guard) == [("Guard", "Well met, Aldana")]
    assert guard.position.heading == guard.position.heading_to(scene.player.position) != 180.0
    scene.harness.run(31.0)
    assert guard.position.heading == guard.origin.heading


@pytest.mark.parametrize(("away", "answers"), [(4.9, 1), (5.1, 0)])
def test_a_hail_reaches_five_units(scene: ScriptScene, away: float, answers: int) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn) Say(NPC, 'Yes?') end")
    scene.go(away)
    assert len(scene.hail(guard)) == answers


def test_an_empty_file_and_one_that_is_missing_answer_nothing(scene: ScriptScene) -> None:
    assert scene.hail(scene.spawn("-- nothing", "Rat")) == []
    assert scene.lines == []
    assert scene.hail(scene.spawn(None)) == []
    scene.spawn(None, "Other")
    assert scene.lines == ["there is no script 'gone.lua'"]
    assert scene.scripts.counters["files missing"] == 1


def test_a_file_that_does_not_parse_is_reported_once(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn)")
    assert scene.hail(guard) == scene.hail(guard) == []
    (line,) = scene.lines
    assert line.startswith("script not loaded: Guard.lua:1:")


def test_carriage_returns_and_bytes_of_windows(scene: ScriptScene) -> None:
    guard = scene.spawn(b"function hailed(NPC, Spawn)\r\nSay(NPC, 'Caf\xe9')\r\nend\r\n")
    # The bytes on the wire are UTF-8; a byte of Windows becomes the letter that it means.
    assert scene.hail(guard) == [("Guard", "Caf\xc3\xa9")]


def test_two_spawns_with_one_file_share_its_globals(scene: ScriptScene) -> None:
    name = scene.script("""
        count = 0
        function hailed(NPC, Spawn) count = count + 1 Say(NPC, count) end""")
    first, second = scene.place(name, "One"), scene.place(name, "Two")
    assert scene.hail(first) == [("One", "1")]
    assert scene.hail(second) == [("Two", "2")]


def test_an_error_is_reported_once_and_three_in_a_row_end_the_file(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn)\nSay(NPC, 1 + nil)\nend")
    for _ in range(5):
        scene.hail(guard)
    assert len(scene.lines) == 2
    assert scene.lines[0].startswith("Guard.lua:2: ")
    assert scene.lines[0].endswith("(in hailed of Guard)")
    assert scene.scripts.switched_off() == ["Guard.lua"]
    assert scene.scripts.counters["errors"] == 3
    scene.script("function hailed(NPC, Spawn) Say(NPC, 'Better') end", "Guard.lua")
    assert scene.scripts.reload() == "1 scripts will be read again"
    assert scene.hail(guard) == [("Guard", "Better")]


def test_an_endless_loop_ends_and_others_are_answered(scene: ScriptScene) -> None:
    loop = scene.spawn("function hailed(NPC, Spawn) while true do end end", "Loop")
    guard = scene.spawn("function hailed(NPC, Spawn) Say(NPC, 'Yes?') end")
    assert scene.hail(loop) == []
    assert "took too long" in scene.lines[0]
    assert scene.hail(guard) == [("Guard", "Yes?")]


def test_a_missing_function_returns_a_value_and_is_reported_once(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            if not HasQuest(Spawn, 5) and GetQuestStep(Spawn, 5) + GetQuestStep(Spawn, 6) == 0 then
                Say(NPC, "No quest" .. GetClassName(Spawn))
            end
        end""")
    assert scene.hail(guard) == [("Guard", "No quest")]
    assert scene.hail(guard) == [("Guard", "No quest")]
    assert scene.scripts.stubs == {"HasQuest": 2, "GetQuestStep": 4, "GetClassName": 2}
    assert len(scene.lines) == 3


def test_a_call_sends_a_limited_number_of_messages(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn) for i = 1, 300 do Say(NPC, i) end end")
    assert len(scene.hail(guard)) == 200
    assert scene.scripts.counters["messages dropped"] == 100


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
    scene.scripts.despawn = lambda _zone, spawn: gone.append(spawn)
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


def test_a_handle_ends_with_its_player(scene: ScriptScene) -> None:
    guard = scene.spawn("""
        function hailed(NPC, Spawn) last = Spawn AddTimer(NPC, 1000, "ask") end
        function ask(NPC) Say(NPC, IsPlayer(last) and "here" or "gone") end""")
    other = scene.harness.stand(6, name="Borvik")
    assert other.player is not None
    scene.hail(guard)
    scene.harness.service.send_away(scene.player, "test", scene.harness.now)
    other.player.teleport(guard.position, scene.harness.now)
    scene.harness.run(1.2)
    assert [text for _, name, text in other.hears() if name == "Guard"] == ["gone"]


def test_an_ended_zone_leaves_nothing(scene: ScriptScene) -> None:
    guard = scene.spawn("function spawn(NPC) AddTimer(NPC, 1000, 'beat') end")
    scene.scripts.ended(scene.zone)
    assert scene.scripts.get_timer() is None
    assert scene.scripts.body_of(guard, scene.zone) is None
