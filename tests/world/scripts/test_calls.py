"""Calls into scripts: errors and limits."""

import pytest

from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def test_carriage_returns_and_bytes_of_windows(scene: ScriptScene) -> None:
    guard = scene.spawn(b"function hailed(NPC, Spawn)\r\nSay(NPC, 'Caf\xe9')\r\nend\r\n")
    # The bytes on the wire are UTF-8; a byte of Windows becomes the letter that it means.
    assert scene.hail(guard) == [("Guard", "Caf\xc3\xa9")]


def test_an_error_is_reported_once_and_the_spawn_keeps_its_script(scene: ScriptScene) -> None:
    """In EQ2Emulator an error ends one call alone (eq2-lua.md 1.3).

    A player could silence a spawn for all others if errors in a row ended its file.
    """
    guard = scene.spawn("""
        function hailed(NPC, Spawn) if is_well then Say(NPC, "Yes?") else Say(NPC, 1 + nil) end end
        function targeted(NPC, Spawn) is_well = true end""")
    for _ in range(5):
        scene.hail(guard)
    (line,) = scene.lines
    assert line.startswith("Guard.lua:2: ")
    assert line.endswith("(in hailed of Guard)")
    assert scene.scripts.files.switched_off() == []
    assert scene.scripts.counters["errors"] == 5
    scene.target(guard)
    assert scene.hail(guard) == [("Guard", "Yes?")]


def test_three_calls_in_a_row_that_take_too_long_end_the_file(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn)\nwhile true do end\nend")
    for _ in range(5):
        scene.hail(guard)
    assert len(scene.lines) == 2
    assert scene.lines[0].startswith("Guard.lua:2: ")
    assert scene.lines[1] == "Guard.lua needed too much 3 times in a row and is switched off"
    assert scene.scripts.files.switched_off() == ["Guard.lua"]
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
            local sum = GetAAInfo(Spawn, "x") + GetAAInfo(NPC, "y")
            if not SetAAInfo(NPC, 5) and sum == 0 then
                Say(NPC, "No quest" .. GetServerVariable("x"))
            end
        end""")
    assert scene.hail(guard) == [("Guard", "No quest")]
    assert scene.hail(guard) == [("Guard", "No quest")]
    assert scene.scripts.stubs == {"SetAAInfo": 2, "GetAAInfo": 4, "GetServerVariable": 2}
    assert len(scene.lines) == 3


def test_a_call_sends_a_limited_number_of_messages(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn) for i = 1, 300 do Say(NPC, i) end end")
    assert len(scene.hail(guard)) == 200
    assert scene.scripts.counters["messages dropped"] == 100


def test_calls_that_wait_for_their_share_are_counted_with_the_others(scene: ScriptScene) -> None:
    """An operator sees them in the metric script_events, which reads these counters."""
    shares = scene.scripts.shares
    shares.used("slow.lua", 60.0)
    shares.do("slow.lua", lambda: None)
    assert scene.scripts.counters["calls delayed"] == 1
