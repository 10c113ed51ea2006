"""Files of scripts: loaded when needed, compiled in the background, read anew when they change."""

from collections.abc import Callable
from pathlib import Path

import pytest

from emu.scripts.folder import ScriptFolder
from emu.scripts.runtime import AT_ONCE
from emu.world.scripts import script_files
from emu.world.scripts.host import SEEN_AT_ONCE
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

LONG = "-- long\n" * (AT_ONCE // 8)


def renewed(scene: ScriptScene) -> int:
    """Return how many files have changed and were read anew."""
    scene.scripts.files.look_again()
    return scene.scripts.files.renew_some(1000)


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
    monkeypatch.setattr(script_files, "MOST_UNLOADED", 20)
    monkeypatch.setattr(script_files, "MOST_UNLOADED_LINES", 30)
    guard = scene.spawn("function hailed(NPC) Say(NPC, 'Hello.') end")
    for number in range(100):
        assert scene.scripts.files.has_file(f"invented{number}.lua") is False
    known = [one for one in scene.scripts.files._files if one.startswith("invented")]
    assert known == [f"invented{number}.lua" for number in range(80, 100)]
    reported = [one for one in scene.lines if "invented" in one]
    assert len(reported) == 30
    assert scene.lines[-1] == "further scripts that cannot run are only counted"
    assert scene.scripts.counters["files missing"] == 100
    # One of them that is there now runs, whether it is remembered or not.
    for number in (5, 99):
        scene.script("function hailed(NPC) end", f"invented{number}.lua")
        assert renewed(scene) == 0
        assert scene.scripts.files.has_file(f"invented{number}.lua")
    assert scene.hail(guard)
    scene.scripts.reload()
    scene.scripts.files.has_file("invented3.lua")
    assert scene.lines[-1] == "there is no script 'invented3.lua'"


def test_a_file_that_does_not_parse_is_reported_once(scene: ScriptScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn)")
    assert scene.hail(guard) == scene.hail(guard) == []
    (line,) = scene.lines
    assert line.startswith("script not loaded: Guard.lua:1:")


def test_two_spawns_with_one_file_share_its_globals(scene: ScriptScene) -> None:
    name = scene.script("""
        count = 0
        function hailed(NPC, Spawn) count = count + 1 Say(NPC, count) end""")
    first, second = scene.place(name, "One"), scene.place(name, "Two")
    assert scene.hail(first) == [("One", "1")]
    assert scene.hail(second) == [("Two", "2")]


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
        assert scene.scripts.files.has_file(name)
    seen: list[str] = []
    turns: list[int] = []
    stamp, renew_some = ScriptFolder.stamp, scene.scripts.files.renew_some

    def stamped(folder: ScriptFolder, path: str) -> tuple[int, int] | None:
        seen.append(path)
        return stamp(folder, path)

    def counted(most: int) -> int:
        before = len(seen)
        found = renew_some(most)
        turns.append(len(seen) - before)
        return found

    monkeypatch.setattr(ScriptFolder, "stamp", stamped)
    monkeypatch.setattr(scene.scripts.files, "renew_some", counted)
    scene.scripts.watch()
    scene.harness.run(1.9)
    assert sorted(seen) == sorted(names), "each of them once in a second"
    assert max(turns) == SEEN_AT_ONCE
