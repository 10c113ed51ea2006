"""Lua and the server mean the same object by a handle, whatever was collected meanwhile.

Lupa numbers the objects that Lua has, in a weak table. An object that Lua has lost keeps its number
until its finalizer has run, and the next new object could get the same number: a script then got
somebody else's handle. Found by the walk through all quests of the public content.
"""

import gc
import weakref
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from emu.scripts.folder import ScriptFolder
from emu.scripts.own_time import OwnTime
from emu.scripts.runtime import FREE_NUMBERS, Environment, Runtime
from emu.scripts.signatures import FunctionTable, Handle, HandleKind, bind

pytest.importorskip("lupa", reason="the package lupa is not installed")

SOURCE = """
much = {}
function grow() for at = 1, 5000 do much[#much + 1] = {} end end
function see(handle, number) check(handle, number) end
function keep(handle) kept = handle end
function show(number) check(kept, number) end
function make(number) check(find(number), number) end
function same(handle) return handle == kept end
"""
MANY = 200


class Scene:
    """A script that shows the server which subjects the handles have that it is passed."""

    def __init__(self, folder: Path) -> None:
        self.wrong: list[tuple[object, object]] = []
        self.handles: dict[int, Handle] = {}
        wrong, handle, table = self.wrong, partial(_handle, self.handles), FunctionTable()
        runtimes: list[weakref.ref[Runtime]] = []  # Weak: Lua has the functions.

        @table("check", "v handle, n number")
        def check(_context: object, handle: Any, number: int) -> None:
            found = handle.subject if type(handle) is Handle else handle
            if found != number:
                wrong.append((found, number))

        @table("find", "n number")
        def find(_context: object, number: int) -> Handle:
            return handle(number)

        def hold(handle: Handle) -> None:
            runtime = runtimes[0]()
            assert runtime is not None
            runtime.hold(handle)

        (folder / "npc.lua").write_text(SOURCE)
        self.runtime = Runtime(
            ScriptFolder(folder),
            {name: bind(one, None, hold) for name, one in table.functions.items()},
            spent=OwnTime(lambda: 0.0),
        )
        runtimes.append(weakref.ref(self.runtime))
        self.env: Environment = self.runtime.load("npc.lua")
        for _ in range(4):
            self.call("grow")  # so that a collection takes several steps

    def handle(self, number: int) -> Handle:
        return _handle(self.handles, number)

    def call(self, name: str, *values: Any) -> Any:
        return self.runtime.call(self.env, name, *values)[1]

    def see(self, numbers: range, name: str = "see") -> None:
        for number in numbers:
            values = (self.handle(number), number) if name == "see" else (number,)
            self.call(name, *values)


def _handle(handles: dict[int, Handle], number: int) -> Handle:
    if number not in handles:
        handles[number] = Handle(HandleKind.NPC, number)
    return handles[number]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.mark.parametrize("name", ["see", "make"])
def test_a_handle_stays_the_same_while_lost_objects_wait_for_their_finalizers(
    tmp_path: Path, name: str
) -> None:
    older, newer = range(MANY), range(MANY, 2 * MANY)
    for steps in range(16):
        scene = Scene(tmp_path)
        scene.runtime._collect("collect")
        scene.see(older, name)
        for _ in range(steps):
            scene.runtime._collect("step", 0)
        scene.see(newer, name)
        scene.see(older, name)
        scene.see(newer, name)
        assert scene.wrong == [], steps


def test_a_script_has_one_value_for_a_handle(scene: Scene) -> None:
    """It can compare handles, and use them as keys of tables."""
    scene.call("keep", scene.handle(1))
    scene.runtime._collect("collect")
    assert scene.call("same", scene.handle(1)) is True
    assert scene.call("same", scene.handle(2)) is False


@pytest.mark.usefixtures("collect_garbage")
def test_a_handle_that_has_ended_is_let_go(scene: Scene) -> None:
    def known() -> int:
        scene.runtime._collect("collect")
        gc.collect()
        return sum(type(one) is Handle for one in gc.get_objects())

    before = known()
    for number in range(MANY):
        scene.call("see", scene.handle(number), number)
    for one in scene.handles.values():
        one.end()
    scene.handles.clear()
    del one
    assert known() == before


def test_a_handle_that_has_ended_is_nobody_s(scene: Scene) -> None:
    one = scene.handle(1)
    scene.call("keep", one)
    one.end()
    scene.call("show", None)
    scene.call("see", one, None)
    assert scene.wrong == [(None, 0), (None, 0)]


@pytest.mark.usefixtures("collect_garbage")
def test_a_runtime_that_has_ended_is_not_kept_by_handles(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    one = scene.handle(1)
    scene.call("see", one, 1)
    runtime = weakref.ref(scene.runtime)
    del scene
    gc.collect()
    assert runtime() is None
    one.end()


def test_there_are_always_free_numbers(scene: Scene) -> None:
    """More objects than the runtime begins with, none of which is lost."""
    scene.see(range(FREE_NUMBERS + MANY))
    scene.runtime._collect("collect")
    scene.see(range(FREE_NUMBERS + MANY))
    assert scene.wrong == []
    assert scene.runtime._free() > FREE_NUMBERS // 2
