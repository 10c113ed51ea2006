"""Scripts that are compiled apart from the runtime that runs them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from emu.errors import ScriptError
from emu.scripts import compiling
from emu.scripts.compiling import Compiler, NotCompiled
from emu.scripts.folder import LARGEST_SOURCE, ScriptFolder
from emu.scripts.runtime import AT_ONCE, Runtime, new_runtime

LONG = "-- long\n" * (AT_ONCE // 8)


class Scene:
    """A folder, a compiler, and a runtime that takes files from it."""

    def __init__(self, root: Path) -> None:
        self.folder = ScriptFolder(root)
        self.compiler = Compiler(self.folder, partial(new_runtime, encoding=None))
        self.runtime = Runtime(self.folder, {}, compiler=self.compiler)

    def write(self, name: str, source: str) -> str:
        (self.folder.root / name).write_text(source, encoding="latin-1")
        return name

    def compile(self, *names: str) -> None:
        self.compiler.compile(names, self.runtime.has_compiled)

    def result(self, name: str) -> object:
        return self.runtime.call(self.runtime.load(name), "f")[1]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_long_file_runs_when_it_is_compiled_and_a_short_one_at_once(scene: Scene) -> None:
    scene.write("short.lua", "function f() return 'a' .. 1 end")
    assert scene.result("short.lua") == "a1"
    scene.write("long.lua", LONG + "function f() return 'caf\xe9' .. 2 end")
    with pytest.raises(NotCompiled):
        scene.runtime.load("long.lua")
    scene.compile("long.lua")
    assert scene.result("long.lua") == "caf\xe92"
    assert scene.result("long.lua") == "caf\xe92", "it is kept"


def test_the_modules_that_a_file_names_are_compiled_with_it(scene: Scene) -> None:
    scene.write(
        "one.lua", LONG + "require 'two'\ndofile(\"three.lua\")\nfunction f() return x + y end"
    )
    scene.write("two.lua", LONG + "require('one') x = 1")
    scene.write("three.lua", LONG + "require 'gone' y = 2")
    scene.compile("one.lua")
    with pytest.raises(ScriptError, match="there is no module 'gone'"):
        scene.runtime.load("one.lua")
    scene.write("three.lua", LONG + "y = 20")
    scene.runtime.forget("three.lua")
    scene.compile("three.lua")
    assert scene.result("one.lua") == 21


def test_a_file_that_has_changed_is_compiled_anew(scene: Scene) -> None:
    scene.write("one.lua", LONG + "function f() return 1 end")
    scene.compile("one.lua")
    scene.write("one.lua", LONG + "function f() return 1000 end")
    with pytest.raises(NotCompiled):
        scene.runtime.load("one.lua")
    scene.compile("one.lua")
    assert scene.result("one.lua") == 1000


def test_errors_have_their_line(scene: Scene) -> None:
    scene.write("bad.lua", LONG + "x = = 1")
    scene.compile("bad.lua")
    lines = LONG.count("\n") + 1
    with pytest.raises(ScriptError, match=f"bad.lua:{lines}: unexpected symbol near"):
        scene.runtime.load("bad.lua")
    scene.write("fails.lua", LONG + "function f() error('no') end")
    scene.compile("fails.lua")
    with pytest.raises(ScriptError, match=f"fails.lua:{lines}: no"):
        scene.result("fails.lua")


def test_a_file_that_compiles_for_long_is_ended(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Lua needs time by the square of the length for this: 40 seconds for a file of 1 MiB.
    monkeypatch.setattr(compiling, "MOST_SECONDS", 0.02)
    scene.write("slow.lua", "x = " + "a and " * 100_000 + "a")
    scene.compile("slow.lua")
    with pytest.raises(ScriptError, match=r"slow\.lua: takes too long to compile"):
        scene.runtime.load("slow.lua")
    scene.write("next.lua", LONG + "function f() return 7 end")
    scene.compile("next.lua")
    assert scene.result("next.lua") == 7


def test_a_file_that_needs_too_much_memory_does_not_end_the_next_one(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "MOST_MEMORY", 3 * 1024 * 1024)
    scene.write("large.lua", "x={" + "{}," * 300_000 + "}")
    scene.compile("large.lua")
    with pytest.raises(ScriptError, match=r"large\.lua: is too large to compile|not enough memory"):
        scene.runtime.load("large.lua")
    scene.write("next.lua", LONG + "function f() return 7 end")
    scene.compile("next.lua")
    assert scene.result("next.lua") == 7


def test_a_file_that_is_too_long_is_not_read(scene: Scene) -> None:
    scene.write("long.lua", " " * (LARGEST_SOURCE + 1))
    scene.compile("long.lua")
    with pytest.raises(ScriptError, match="is larger than 2097152 bytes"):
        scene.runtime.load("long.lua")


def test_a_runtime_takes_no_compiled_form_from_a_file(scene: Scene) -> None:
    scene.write("one.lua", LONG + "function f() end")
    scene.compile("one.lua")
    code = scene.compiler.take_compiled("one.lua", scene.folder.stamp("one.lua"))
    assert code is not None
    for name, data in (("code.lua", code), ("short.lua", code[:AT_ONCE])):
        (scene.folder.root / name).write_bytes(data)
        scene.compile(name)
        with pytest.raises(ScriptError):
            scene.runtime.load(name)
    (scene.folder.root / "tiny.lua").write_bytes(code[:2000])
    with pytest.raises(ScriptError, match=r"tiny\.lua"):
        scene.runtime.load("tiny.lua")


def test_what_nobody_needs_is_let_go(scene: Scene) -> None:
    for name in ("one.lua", "two.lua"):
        scene.write(name, LONG)
    scene.compile("one.lua", "two.lua")
    scene.compiler.keep({"two.lua"})
    stamp = scene.folder.stamp
    assert scene.compiler.take_compiled("one.lua", stamp("one.lua")) is None
    assert scene.compiler.take_compiled("two.lua", stamp("two.lua")) is not None
