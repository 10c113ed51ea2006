"""The errors of scripts: kept, counted, shown in the game, and gone when they come no more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from emu.commands.registry import MASTER
from emu.errors import ScriptError
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.minds import errors as script_errors
from emu.world.minds.errors import ScriptErrors
from tests.support.world.script_scenes import PLACE, ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

WRONG = "function hailed(NPC, Spawn)\nSay(NPC, 1 + nil)\nend"
ENDLESS = "function hailed(NPC, Spawn)\nwhile true do end\nend"


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    return ScriptScene(tmp_path)


def test_an_error_has_file_line_event_and_spawn(scene: ScriptScene) -> None:
    guard = scene.spawn(WRONG)
    scene.hail(guard)
    scene.hail(guard)
    (fault,) = scene.harness.minds.errors.faults()
    assert fault.row() == {
        "file": "Guard.lua", "line": 2, "event": "hailed", "spawn": "Guard", "count": 2,
        "text": "attempt to perform arithmetic on a nil value", "before_reload": False,
    }  # fmt: skip
    assert str(fault) == (
        "Guard.lua:2: attempt to perform arithmetic on a nil value (in hailed of Guard)"
    )
    assert scene.lines == [str(fault)]


def test_places_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_errors, "MOST_PLACES", 2)
    errors = ScriptErrors()
    assert errors.summary() == ""
    first = [
        errors.count_error(ScriptError("a.lua", line, "x"), "hailed", "", "a.lua")[1]
        for line in (1, 2, 3, 1)
    ]
    assert first == [True, True, False, False]
    assert [(one.line, one.count) for one in errors.faults()] == [(1, 2), (2, 1)]
    assert errors.summary().startswith("scripts failed 4 times in 2 places;")
    errors.read_again()
    assert errors.summary().startswith("scripts failed 3 times in 2 places;")
    errors.ran("a.lua", "hailed")
    assert (errors.faults(), errors.summary(), errors.old) == ([], "", {})


def test_errors_stay_after_a_reload_until_their_function_has_run_well(scene: ScriptScene) -> None:
    source = """
        function spawn(NPC) end
        function targeted(NPC, Spawn) Say(NPC, "Hm") end
        function hailed(NPC, Spawn) {} end"""
    guard = scene.spawn(source.format("Say(NPC, 1 + nil)"))
    scene.hail(guard)
    scene.scripts.reload()
    master = scene.harness.stand(6, name="Borvik", admin_status=MASTER)
    fault = "Guard.lua:4: attempt to perform arithmetic on a nil value (in hailed of Guard"
    assert master.types("/script errors") == [f"1 times: {fault}, before the last reload)"]
    # Other functions of the script say nothing about this one, and it fails again.
    scene.target(guard)
    assert scene.heard() == [("Guard", "Hm")]
    scene.hail(guard)
    assert master.types("/script errors") == [f"2 times: {fault})"]
    assert scene.lines[-1] == f"{fault})"
    changed(scene, source.format("Say(NPC, 'Yes?')"))
    scene.scripts.reload()
    assert len(master.types("/script errors")) == 1
    assert scene.hail(guard) == [("Guard", "Yes?")]
    assert master.types("/script errors") == ["no script has failed"]


def test_errors_of_a_file_that_was_changed_go_when_their_function_runs_well(
    scene: ScriptScene,
) -> None:
    guard, other = scene.spawn(ENDLESS), scene.spawn(WRONG, "Other")
    for _ in range(3):
        scene.hail(guard)
    scene.hail(other)
    changed(scene, "function hailed(NPC, Spawn) Say(NPC, 'Better') end")
    scene.hail(guard)
    assert [one.file for one in scene.harness.minds.errors.faults()] == ["Other.lua"]


def test_a_game_master_is_shown_errors_for_a_minute(scene: ScriptScene) -> None:
    guard = scene.spawn(WRONG)
    other = scene.spawn(WRONG, "Other")
    scene.hail(guard)
    assert not any("arithmetic" in line for line in scene.shown())
    scene.harness.minds.errors.ask(scene.player.id, scene.harness.now)
    scene.hail(guard)
    assert [line for line in scene.shown() if "arithmetic" in line] == [
        "Guard.lua:2: attempt to perform arithmetic on a nil value (in hailed of Guard)"
    ]
    scene.harness.run(61.0)
    scene.hail(other)
    assert not any("arithmetic" in line for line in scene.shown())
    assert scene.harness.minds.errors.hearers(Monotonic(scene.harness.now)) == []


def test_the_errors_are_listed_by_a_command(scene: ScriptScene) -> None:
    guard = scene.spawn(ENDLESS)
    master = scene.harness.stand(6, name="Borvik", admin_status=MASTER)
    for _ in range(3):
        scene.hail(guard)
    lines = master.types("/script errors")
    assert lines == [
        "3 times: Guard.lua:2: the call took too long (in hailed of Guard)",
        "switched off: Guard.lua",
    ]


def changed(scene: ScriptScene, source: str, name: str = "Guard.lua") -> None:
    scene.script(source, name)
    path = scene.folder / name
    # A change within the resolution of the file system's times.
    later = path.stat().st_mtime_ns + 1_000_000_000
    os.utime(path, ns=(later, later))


def test_a_file_that_is_switched_off_runs_again_when_it_has_changed(scene: ScriptScene) -> None:
    guard = scene.spawn(ENDLESS)
    for _ in range(4):
        scene.hail(guard)
    assert scene.scripts.files.switched_off() == ["Guard.lua"]
    changed(scene, "function hailed(NPC, Spawn)")
    assert scene.hail(guard) == []
    assert "its old form stays" in scene.lines[-1]
    changed(scene, "function hailed(NPC, Spawn) Say(NPC, 'Better') end -- and longer")
    assert scene.hail(guard) == [("Guard", "Better")]
    assert scene.scripts.files.switched_off() == []
    assert scene.harness.minds.errors.switched_off == []


def test_a_watched_folder_takes_effect_at_once(scene: ScriptScene) -> None:
    scene.script("function word() return 'one' end", "Lib.lua")
    guard = scene.spawn("""
        require "Lib"
        function late(NPC) Say(NPC, "late " .. word()) end
        function hailed(NPC, Spawn) AddTimer(NPC, 5000, "late") Say(NPC, word()) end""")
    broken = scene.spawn("function", "Broken")
    scene.scripts.watch()
    assert scene.hail(guard) == [("Guard", "one")]
    changed(scene, "function word() return 'other' end", "Lib.lua")
    changed(scene, "function hailed(NPC, Spawn) Say(NPC, 'Whole') end", "Broken.lua")
    scene.harness.run(2.0)
    # The timer of before stays, and its function is that of the new file.
    scene.harness.run(5.0)
    assert scene.heard() == [("Guard", "late other")]
    assert scene.hail(broken) == [("Broken", "Whole")]
    assert scene.lines[-1] == "Guard.lua has changed and was read again"


def test_an_unchanged_folder_is_not_read_again(scene: ScriptScene) -> None:
    scene.hail(scene.spawn("count = 0 function hailed() count = count + 1 end"))
    scene.spawn("function", "Broken")
    before = list(scene.lines)
    scene.scripts.files.look_again()
    assert scene.scripts.files.renew_some(1000) == 0
    assert not scene.scripts.files.has_unseen
    assert scene.lines == before


class Fails:
    """A behavior whose hail fails."""

    def __init__(self, _me: Any, _options: Any) -> None:
        """Take what the server gives."""

    def on_hail(self, _visitor: Any) -> None:
        raise ValueError("no")


def test_errors_of_behaviors_are_in_the_same_list_until_their_method_runs_well(
    scene: ScriptScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = scene.harness
    monkeypatch.setitem(harness.library._classes, "fails", Fails)
    clerk = Spawn(harness.world.zones.next_spawn_id(), SpawnKind.NPC, "Clerk", PLACE)
    scene.zone.add_spawn(clerk, harness.now)
    harness.behaviors.start_behavior("fails", {}, scene.zone, clerk)
    scene.hail(clerk)
    errors = harness.minds.errors
    (fault,) = errors.faults()
    assert fault.file == __file__
    assert (fault.event, fault.spawn, fault.text) == ("on_hail", "Clerk", "ValueError: no")
    # Its line in the status is that of a behavior that is switched off.
    assert errors.summary() == ""
    harness.behaviors.restart()
    assert [one.is_old for one in errors.faults()] == [True]
    monkeypatch.setattr(Fails, "on_hail", lambda _self, _visitor: None)
    scene.hail(clerk)
    assert errors.faults() == []
