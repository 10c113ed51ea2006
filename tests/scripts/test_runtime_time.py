"""The time of a call of a script: what counts as its own, and what it is asked for."""

import time
from pathlib import Path
from typing import Any

import pytest

from emu.errors import ScriptError
from emu.scripts.folder import ScriptFolder
from emu.scripts.own_time import OwnTime, own_time
from emu.scripts.runtime import Environment, Runtime

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> ScriptFolder:
    return ScriptFolder(tmp_path)


class Scene:
    """A runtime with a clock, whose scripts are written by a test."""

    def __init__(self, folder: ScriptFolder, *, spent: OwnTime, **functions: Any) -> None:
        self.folder = folder
        self.runtime = Runtime(folder, functions, spent=spent)

    def script(self, source: str, name: str = "npc.lua") -> Environment:
        (self.folder.root / name).write_text(source)
        return self.runtime.load(name)


@pytest.mark.parametrize("is_collection", [True, False])
def test_a_call_does_not_pay_for_garbage_collections(
    folder: ScriptFolder, is_collection: bool
) -> None:
    def work() -> None:
        own_time().collected("start", {})
        end = time.thread_time() + 0.005
        while time.thread_time() < end:
            pass
        if is_collection:
            own_time().collected("stop", {})

    scene = Scene(folder, spent=own_time(), work=work)
    env = scene.script(
        "function f() for i = 1, 700 do if i % 100 == 0 then work() end end return 7 end"
    )
    if is_collection:
        assert scene.runtime.call(env, "f") == (True, 7)
    else:
        with pytest.raises(ScriptError, match="took too long"):
            scene.runtime.call(env, "f")


def test_short_calls_do_not_ask_for_processor_time(folder: ScriptFolder) -> None:
    readings: list[float] = []

    def clock() -> float:
        readings.append(0.0)
        return 0.0

    scene = Scene(folder, spent=OwnTime(clock))
    env = scene.script("function f() for i = 1, 1000 do end return 7 end")

    def asked() -> int:
        readings.clear()
        assert scene.runtime.call(env, "f") == (True, 7)
        return len(readings)

    # The machine may pause in one of them.
    assert min(asked() for _ in range(20)) == 0


def test_one_pause_of_the_machine_does_not_end_a_call(folder: ScriptFolder) -> None:
    """A host that gives a processor to another machine charges that time to the thread."""

    def pause(seconds: float) -> None:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    scene = Scene(folder, spent=own_time(), pause=pause)
    env = scene.script("""
        function f(times, seconds)
            for i = 1, times * 100 do if i % 100 == 0 then pause(seconds) end end
            for i = 1, 100 do end
            return 7
        end""")
    assert scene.runtime.call(env, "f", 1, 0.04) == (True, 7)
    assert scene.runtime.call(env, "f", 2, 0.02) == (True, 7)
    with pytest.raises(ScriptError, match="took too long"):
        scene.runtime.call(env, "f", 8, 0.005)


@pytest.mark.parametrize(("events", "ends"), [(30, False), (150, True)])
def test_events_inside_of_a_call_add_to_its_time(
    folder: ScriptFolder, events: int, *, ends: bool
) -> None:
    """A script of the community makes 30 spawns, each with its own file and events."""

    def work() -> None:
        end = time.thread_time() + 0.0009
        while time.thread_time() < end:
            pass

    def event() -> None:
        scene.runtime.call(made[0], "spawn")

    made: list[Environment] = []
    scene: Scene = Scene(folder, spent=own_time(), work=work, event=event)
    made.append(scene.script("function spawn() work() for i = 1, 50 do end end", "made.lua"))
    env = scene.script("function f(n) for i = 1, n do event() end return 7 end")
    if ends:
        with pytest.raises(ScriptError, match="took too long"):
            scene.runtime.call(env, "f", events)
    else:
        assert scene.runtime.call(env, "f", events) == (True, 7)
