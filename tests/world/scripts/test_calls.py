"""Calls into scripts: files, errors and limits."""

from collections.abc import Callable
from pathlib import Path

import pytest

from emu.scripts.folder import ScriptFolder
from emu.scripts.runtime import AT_ONCE
from emu.world.scripts import calls
from emu.world.scripts.host import SEEN_AT_ONCE
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def renewed(scene: ScriptScene) -> int:
    """Return how many files have changed and were read anew."""
    scene.scripts.look_again()
    return scene.scripts.renew_some(1000)


def test_an_empty_file_and_one_that_is_missing_answer_nothing(scene: ScriptScene) -> None:
    assert scene.hail(scene.spawn("-- nothing", "Rat")) == []
    assert scene.lines == []
    assert scene.hail(scene.spawn(None)) == []
    scene.spawn(None, "Other")
    assert scene.lines == ["there is no script 'gone.lua'"]
    assert scene.scripts.counters["files missing"] == 1


def test_invented_names_of_files_fill_neither_memory_nor_log(
    scene: ScriptScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "MOST_UNLOADED", 20)
    monkeypatch.setattr(calls, "MOST_UNLOADED_LINES", 30)
    guard = scene.spawn("function hailed(NPC) Say(NPC, 'Hello.') end")
    for number in range(100):
        assert scene.scripts.has_file(f"invented{number}.lua") is False
    known = [one for one in scene.scripts._files if one.startswith("invented")]
    assert known == [f"invented{number}.lua" for number in range(80, 100)]
    reported = [one for one in scene.lines if "invented" in one]
    assert len(reported) == 30
    assert scene.lines[-1] == "further scripts that cannot run are only counted"
    assert scene.scripts.counters["files missing"] == 100
    # One of them that is there now runs, whether it is remembered or not.
    for number in (5, 99):
        scene.script("function hailed(NPC) end", f"invented{number}.lua")
        assert renewed(scene) == 0
        assert scene.scripts.has_file(f"invented{number}.lua")
    assert scene.hail(guard)
    scene.scripts.reload()
    scene.scripts.has_file("invented3.lua")
    assert scene.lines[-1] == "there is no script 'invented3.lua'"


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
    assert scene.scripts.switched_off() == []
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


LONG = "-- long\n" * (AT_ONCE // 8)


def worked(background: list[Callable[[], object]]) -> None:
    """Let the thread compile what waits."""
    while background:
        background.pop(0)()


def test_calls_wait_until_their_file_is_compiled(tmp_path: Path) -> None:
    background: list[Callable[[], object]] = []
    scene = ScriptScene(tmp_path, background=background)
    guard = scene.spawn(
        LONG + "function spawn(NPC) here = 1 end"
        " function hailed(NPC, Spawn) Say(NPC, 'here ' .. tostring(here)) end"
    )
    gone = scene.place("Guard.lua", "Gone")
    assert scene.hail(guard) == []
    scene.scripts.vanished(scene.zone, gone)
    worked(background)
    scene.harness.run(0.1)
    assert [text for _, text in scene.heard()] == ["here 1"]
    assert [text for _, text in scene.hail(guard)] == ["here 1"]
    assert scene.lines == []


def test_a_module_that_is_loaded_late_is_awaited(tmp_path: Path) -> None:
    background: list[Callable[[], object]] = []
    scene = ScriptScene(tmp_path, background=background)
    scene.script(LONG + "x = 5", "module.lua")
    guard = scene.spawn(
        LONG + "local name = 'mod' .. 'ule' require(name)"
        " function hailed(NPC, Spawn) Say(NPC, tostring(x)) end"
    )
    assert scene.hail(guard) == []
    while background:
        worked(background)
        scene.harness.run(0.1)
    assert [text for _, text in scene.heard()] == ["5"]


def test_a_changed_file_keeps_its_old_form_until_the_new_one_is_compiled(tmp_path: Path) -> None:
    background: list[Callable[[], object]] = []
    scene = ScriptScene(tmp_path, background=background)
    guard = scene.spawn(LONG + "function hailed(NPC, Spawn) Say(NPC, 'old') end")
    worked(background)
    scene.harness.run(0.1)
    scene.script(LONG + "function hailed(NPC, Spawn) Say(NPC, 'newer') end", "Guard.lua")
    assert renewed(scene) == 0
    assert [text for _, text in scene.hail(guard)] == ["old"]
    worked(background)
    assert renewed(scene) == 1
    assert [text for _, text in scene.hail(guard)] == ["newer"]


def test_a_turn_looks_at_few_files_whether_they_have_changed(
    scene: ScriptScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"SpawnScripts/Many/{number}.lua" for number in range(45)]
    for name in names:
        scene.script("function hailed(NPC) end", name)
        assert scene.scripts.has_file(name)
    seen: list[str] = []
    turns: list[int] = []
    stamp, renew_some = ScriptFolder.stamp, scene.scripts.renew_some

    def stamped(folder: ScriptFolder, path: str) -> tuple[int, int] | None:
        seen.append(path)
        return stamp(folder, path)

    def counted(most: int) -> int:
        before = len(seen)
        found = renew_some(most)
        turns.append(len(seen) - before)
        return found

    monkeypatch.setattr(ScriptFolder, "stamp", stamped)
    monkeypatch.setattr(scene.scripts, "renew_some", counted)
    scene.scripts.watch()
    scene.harness.run(1.9)
    assert sorted(seen) == sorted(names), "each of them once in a second"
    assert max(turns) == SEEN_AT_ONCE
