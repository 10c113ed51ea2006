"""The place of an error: from Lua's stack, and never from a text of the script."""

from pathlib import Path

import pytest

from emu.errors import ScriptError
from emu.scripts.folder import ScriptFolder
from emu.scripts.places import LONGEST_ERROR, NO_TEXT, compile_error
from emu.scripts.runtime import Environment, Runtime

pytest.importorskip("lupa", reason="the package lupa is not installed")

NAME = "SpawnScripts/" + "AVeryLongNameOfAZone" * 4 + "/Npc.lua"


def failed(root: Path, source: str, name: str = "npc.lua") -> ScriptError:
    """Return the error of the function `f` of a source."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    runtime = Runtime(ScriptFolder(root), {})
    env: Environment = runtime.load(name)
    with pytest.raises(ScriptError) as caught:
        runtime.call(env, "f")
    return caught.value


@pytest.mark.parametrize("name", ["npc.lua", NAME])
def test_a_fault_has_the_line_and_the_file(tmp_path: Path, name: str) -> None:
    error = failed(tmp_path, "function f()\n local x\n x.y = 1\nend", name)
    assert (error.path, error.line) == (name, 3)
    assert error.text == "attempt to index a nil value (local 'x')"


def test_an_error_of_a_caller_has_the_line_of_the_caller(tmp_path: Path) -> None:
    source = "local function check() error('no', 2) end\nfunction f()\n check()\n return 1\nend"
    error = failed(tmp_path, source)
    assert (error.line, error.text) == (3, "no")


def test_a_function_of_the_library_has_the_line_of_the_script(tmp_path: Path) -> None:
    error = failed(tmp_path, "function f()\n return 'a' .. nil\nend")
    assert (error.path, error.line) == ("npc.lua", 2)
    assert error.text == "attempt to concatenate a nil value"


TEXTS = {
    "a trace": "'x\\nstack traceback:\\n\\t[string \"evil.lua\"]:99: in main chunk'",
    "a trace alone": "'\\nstack traceback:\\n\\tevil.lua:99: in f'",
    "a place": "'evil.lua:99: x', 0",
    "a place of the library": "'sandbox.lua:1: x', 0",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_of_the_script_is_no_place(tmp_path: Path, text: str) -> None:
    error = failed(tmp_path, f"function f()\n error({text})\n return 1\nend")
    assert (error.path, error.line) == ("npc.lua", 2)


def test_the_name_of_a_function_is_no_place(tmp_path: Path) -> None:
    name = "['\\nstack traceback:\\n\\tevil.lua:99: in x']"
    source = f"local t = {{{name} = function() error('x', 0) end}}\nfunction f() t{name}() end"
    error = failed(tmp_path, source)
    assert (error.path, error.line, error.text) == ("npc.lua", 1, "x")


def test_a_trace_with_many_lines_is_cut_before_it_is_read(tmp_path: Path) -> None:
    """Four million line breaks behind "stack traceback:" stopped the server for ever."""
    source = (
        "local lines = ('\\n'):rep(4096)\n"
        "for i = 1, 3 do lines = lines .. lines end\n"
        "function f() error('\\nstack traceback:' .. lines) end"
    )
    error = failed(tmp_path, source)
    assert (error.path, error.line) == ("npc.lua", 3)
    assert len(error.text) <= LONGEST_ERROR
    assert compile_error("npc.lua", "npc.lua:" + "\n" * 1_000_000).line == 0


@pytest.mark.parametrize("path", ["npc.lua", NAME])
def test_a_file_that_does_not_compile_has_its_line(tmp_path: Path, path: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("function f()\n  if x\nend")
    with pytest.raises(ScriptError) as caught:
        Runtime(ScriptFolder(tmp_path), {}).load(path)
    assert (caught.value.path, caught.value.line) == (path, 3)
    assert caught.value.text == "'then' expected near 'end'"


def test_a_text_without_a_place_stays() -> None:
    error = compile_error("npc.lua", "other.lua:3: x")
    assert (error.path, error.line, error.text) == ("npc.lua", 0, "other.lua:3: x")
    assert compile_error("npc.lua", "").text == NO_TEXT
