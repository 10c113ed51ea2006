"""The Lua runtime: environments, modules, errors with their place, and a guard nothing escapes."""

import gc
import math
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from emu.errors import ScriptError
from emu.scripts.folder import ScriptFolder
from emu.scripts.own_time import OwnTime
from emu.scripts.places import LONGEST_ERROR
from emu.scripts.runtime import Environment, Runtime, ScriptLimits
from emu.scripts.signatures import Handle, HandleKind

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> ScriptFolder:
    return ScriptFolder(tmp_path)


def untimed() -> OwnTime:
    """Return a measure for calls that may take any time: the machine of a test may be slow."""
    return OwnTime(lambda: 0.0)


class Scene:
    """A runtime whose scripts are written by a test, and whose calls may take any time."""

    def __init__(
        self, folder: ScriptFolder, *, spent: OwnTime | None = None, **functions: Any
    ) -> None:
        self.printed: list[str] = []
        self.folder = folder
        self.runtime = Runtime(
            folder, functions, printed=self.printed.append, spent=spent or untimed()
        )

    def script(self, source: str | bytes, name: str = "npc.lua") -> Environment:
        path = self.folder.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source if isinstance(source, bytes) else source.encode())
        self.runtime.forget(name)
        return self.runtime.load(name)

    def result(self, source: str, *values: Any) -> Any:
        """Return what ``return ...`` gives in a function of a new script."""
        made, found = self.script(f"function f(...) {source} end"), True
        found, result = self.runtime.call(made, "f", *values)
        assert found
        return result


@pytest.fixture
def scene(folder: ScriptFolder) -> Scene:
    return Scene(folder)


def test_a_function_gets_its_arguments_and_returns_its_first_result(scene: Scene) -> None:
    env = scene.script("function add(a, b) return a + b, 'more' end")
    assert scene.runtime.call(env, "add", 2, 3) == (True, 5)


def test_a_function_that_is_missing_is_no_error(scene: Scene) -> None:
    env = scene.script("value = 1")
    assert scene.runtime.call(env, "hailed") == (False, None)
    assert scene.runtime.call(env, "value") == (False, None)
    assert not scene.runtime.has(env, "hailed")


def test_a_callback_may_be_a_function_of_the_server(folder: ScriptFolder) -> None:
    """The community's scripts name `Despawn` as a timer and `CloseConversation` as an answer."""
    seen: list[object] = []
    scene = Scene(folder, Despawn=seen.append)
    env = scene.script("")
    assert scene.runtime.call(env, "Despawn", 7) == (True, None)
    assert seen == [7]


def test_each_file_has_its_own_globals_and_all_its_calls_share_them(scene: Scene) -> None:
    source = "count = 0\nfunction next_number() count = count + 1 return count end"
    one, other = scene.script(source, "one.lua"), scene.script(source, "other.lua")
    calls = [scene.runtime.call(env, "next_number")[1] for env in (one, one, other)]
    assert calls == [1, 2, 1]


def test_a_script_that_changes_the_library_changes_it_for_itself(scene: Scene) -> None:
    scene.script("math.floor = function() return 'changed' end\nSay = 1", "bad.lua")
    own = "math.third = 1 / 3 math.abs = 5"
    read = "return math.third ~= nil, math.abs, math.ceil(1.5), #string.rep('x', 3)"
    assert scene.runtime.call_all(
        scene.script(f"{own} function f() {read} end", "own.lua"), "f"
    ) == (True, 5, 2, 3)
    assert scene.result("return math.third") is None
    assert scene.result("return math.floor(1.5)") == 1
    assert scene.result("return Say") is None


def test_texts_pass_byte_by_byte(scene: Scene) -> None:
    """Some of the community's scripts are Windows-1252, and most have CRLF."""
    env = scene.script(b"-- \xe9\r\nfunction f() return 'caf\xe9' end\r\n")
    assert scene.runtime.call(env, "f") == (True, "caf\xe9")


@pytest.mark.slow
def test_what_a_file_had_is_freed_step_by_step_when_it_has_ended(folder: ScriptFolder) -> None:
    class Thing:
        pass

    scene = Scene(folder, give=Thing)
    env = scene.script("kept = {} function f() for i = 1, 2000 do kept[i] = give() end end")
    scene.runtime.call(env, "f")
    things = [weakref.ref(one) for one in gc.get_objects() if type(one) is Thing]
    assert len(things) == 2000
    env.end()
    scene.runtime.begin_collection()
    steps = 1
    while not scene.runtime.collect_some(lambda: False):
        steps += 1
    assert steps > 2, "not all of it at once"
    assert not any(one() for one in things)
    assert scene.runtime.collect_some(lambda: False), "nothing is left to do"


def test_a_module_is_run_once_and_a_file_each_time(scene: Scene) -> None:
    module = "count = (count or 0) + 1"
    (scene.folder.root / "Generic").mkdir()
    (scene.folder.root / "Generic" / "Module.lua").write_text(module)
    twice = "require 'Generic/Module'\nrequire 'Generic/Module'\n"
    env = scene.script(twice + "function f() return count end")
    assert scene.runtime.call(env, "f") == (True, 1)
    env = scene.script(
        "dofile('Generic/Module.lua') dofile('Generic/Module.lua') function f() return count end"
    )
    assert scene.runtime.call(env, "f") == (True, 2)


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "", "missing", "a\0b", 7])
def test_a_module_outside_of_the_folder_does_not_exist(scene: Scene, name: object) -> None:
    (scene.folder.root.parent / "secret.lua").write_text("leaked = true")
    env = scene.script("function f(name) require(name) end")
    with pytest.raises(ScriptError, match="there is no module"):
        scene.runtime.call(env, "f", name)


def test_an_error_has_its_file_and_line(scene: Scene) -> None:
    env = scene.script("function f()\n  local x = nil\n  x.y = 1\nend")
    with pytest.raises(ScriptError) as caught:
        scene.runtime.call(env, "f")
    assert (caught.value.path, caught.value.line) == ("npc.lua", 3)
    assert str(caught.value).startswith("npc.lua:3: attempt to index a nil value")


def test_a_file_that_does_not_parse_has_its_line(scene: Scene) -> None:
    long = "SpawnScripts/" + "AVeryLongNameOfAZone" * 4 + "/Npc.lua"
    with pytest.raises(ScriptError) as caught:
        scene.script("function f()\n  if x\nend", long)
    assert (caught.value.path, caught.value.line) == (long, 3)


def test_an_error_of_the_server_is_no_error_of_the_script(folder: ScriptFolder) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    scene = Scene(folder, Fail=fail)
    with pytest.raises(ZeroDivisionError):
        scene.result("Fail()")
    assert scene.result("return 1") == 1


def test_what_a_script_prints_reaches_the_host(scene: Scene) -> None:
    scene.result("print('hello', 1, nil)")
    assert scene.printed == ["hello\t1\tnil"]


def test_a_seed_in_a_script_does_not_disturb_the_others(scene: Scene) -> None:
    drawn = {scene.result("math.randomseed(1) return math.random(1, 1000000)") for _ in range(5)}
    assert len(drawn) == 5


def test_an_event_inside_of_an_event_runs_in_the_same_globals(folder: ScriptFolder) -> None:
    def kill() -> None:
        scene.runtime.call(env, "death")

    scene = Scene(folder, Kill=kill)
    env = scene.script("function f() state = 'killing' Kill() return state end\n"
                       "function death() state = state .. ', dead' end")  # fmt: skip
    assert scene.runtime.call(env, "f") == (True, "killing, dead")


def test_events_inside_of_events_end(folder: ScriptFolder) -> None:
    def again() -> None:
        scene.runtime.call(env, "f")

    scene = Scene(folder, Again=again)
    env = scene.script("function f() Again() end")
    with pytest.raises(ScriptError, match="events inside of events"):
        scene.runtime.call(env, "f")
    assert scene.result("return 1") == 1


ENDLESS = {
    "a loop": "while true do end",
    "a loop that repeats": "repeat until false",
    "a jump": "::top:: goto top",
    "a loop in a function": "local function g() while true do end end g()",
    "deep recursion": "local function r() return 1 + r() end r()",
    "recursion without a stack": "local function r() return r() end r()",
    "a text that doubles": "local s = 'x' while true do s = s .. s end",
    "copies of a large text": (
        "local s = 'x' for i = 1, 20 do s = s .. s end while true do local t = s .. 'y' end"
    ),
    "a table that grows": "local t = {} while true do t[#t + 1] = {} end",
    "a closure that grows": "local f = print while true do local g = f f = function() g() end end",
    "a pattern that backtracks": ("return string.find(('a'):rep(4000), ('.-'):rep(20) .. 'b')"),
    "a balanced pattern": "return string.match(('('):rep(4000), ('%b()'):rep(20))",
    "a pattern by method": "return (('a'):rep(4000)):gsub(('a*'):rep(20) .. 'b', '')",
    "a text repeated": "return ('x'):rep(1e9)",
    "a text repeated with a separator": "return string.rep('', 1e9, 'xxxxxxxx')",
    "a large text in upper case": (
        "local s = 'x' for i = 1, 20 do s = s .. s end while true do s:upper() end"
    ),
    "a table with a wrong border": (
        "local t = {} for i = 0, 40 do t[2 ^ i // 1 | 0] = 1 end while true do "
        "table.insert(t, 1, 0) end"
    ),
    "a table moved": "return table.move({}, 1, 1e9, 2)",
    "too much unpacked": "return table.unpack({}, 1, 1e7)",
    "a sort whose order is wrong": (
        "local t = {} for i = 1, 5000 do t[i] = i end "
        "while true do table.sort(t, function() return true end) end"
    ),
    "an endless iterator": "for _ in function() return 1 end do end",
    "a caught error": "while true do pcall(function() while true do end end) end",
    "a caught error with a handler": (
        "xpcall(function() while true do end end, function() while true do end end)"
    ),
    "a coroutine": "coroutine.wrap(function() while true do end end)()",
    "a metatable": "setmetatable({}, {__index = function() while true do end end}).x()",
    "a finalizer": "setmetatable({}, {__gc = function() while true do end end})",
    "the hook removed": "debug.sethook() while true do end",
    "a chunk compiled": "load('while true do end')()",
    "a full collection": "while true do collectgarbage() end",
    "a format of great width": "return string.format('%999999999d', 1)",
    "a loop behind tostring": (
        "local t = {} while true do t[tostring(t)] = tostring({}) .. tostring(#t) end"
    ),
    "numbers without an end": "for i = 1, math.huge do end",
    "a walk over a table that is filled": (
        "local t = {1} for i in pairs(t) do t[i] = nil t[i] = 1 while true do next(t) end end"
    ),
    "two functions that call each other": (
        "local a, b function a() return 1 + b() end function b() return 1 + a() end a()"
    ),
    "an error in an error": "error(setmetatable({}, {}))",
    "a byte list of a large text": "return ('x'):rep(4000):byte(1, -1), error('end')",
    "a long chain of closures": (
        "local f = function() return 1 end for i = 1, 1e7 do local g = f "
        "f = function() return g() end end"
    ),
    "a pattern on a text that grows": (
        "local s = 'a' while true do s = s .. 'a' string.find(s, 'a-b') end"
    ),
    "a replacement that calls itself": (
        "local function r(x) return (x:gsub('a', r)) end r('a') while true do r('a') end"
    ),
    "the globals as a table": "while true do for name in pairs(_G) do _G[name .. 'x'] = 1 end end",
    "a text of many numbers": "local s = '' for i = 1, 1e7 do s = s .. i end",
    "a select of many": "return select('#', table.unpack({}, 1, 1e6))",
    "many concatenated": (
        "local t = {} for i = 1, 1e7 do t[i] = 'xxxxxxxx' end return table.concat(t)"
    ),
}


@pytest.mark.parametrize("source", ENDLESS.values(), ids=ENDLESS)
def test_a_call_that_would_not_end_is_stopped(scene: Scene, source: str) -> None:
    env = scene.script(f"function f() {source} end")
    with pytest.raises(ScriptError):
        scene.runtime.call(env, "f")
    # The next call of any script works as if nothing had happened.
    assert scene.result("local s = 0 for i = 1, 1000 do s = s + i end return s") == 500500


def test_patterns_that_trim_a_text_are_allowed(scene: Scene) -> None:
    trim = """string.gsub('  the Guild of the Long Name ', '^%s*(.-)%s*$', '%1')"""
    assert scene.result(f"return ({trim})") == "the Guild of the Long Name"
    assert scene.result("return select(2, string.find('a=b', '(%a+)=(%a+)'))") == 3


PATTERNS = {
    "that trims, on a long text": "(' '):rep(256):gsub('^%s*(.-)%s*$', '')",
    "with two repetitions": "('a'):rep(57):find('a*a*b')",
    "with one repetition": "('a'):rep(256):find('.-b')",
    "of a walk": "('a'):rep(57):gmatch('a-a-b')()",
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_costly_patterns_in_a_loop_are_stopped(scene: Scene, pattern: str) -> None:
    env = scene.script(f"function f() while true do local _ = {pattern} end end")
    with pytest.raises(ScriptError, match="too long"):
        scene.runtime.call(env, "f")


OUTSIDE = {
    "files": "return io",
    "programs": "return os.execute or os.remove or os.rename or os.exit or os.getenv",
    "modules of Lua": "return package",
    "the debug library": "return debug",
    "Python": "return python",
    "coroutines": "return coroutine",
    "compiled code": "return load or loadstring or loadfile or string.dump",
    "metatables": "return setmetatable or getmetatable or rawset",
    "collections": "return collectgarbage",
    "caught errors": "return pcall or xpcall",
    "the environment of a function": "return setfenv or getfenv",
    "a path of modules": "return module or (package and package.path)",
    "clocks that stop": "return os.setlocale or os.tmpname or os.difftime == nil or nil",
    "text compiled": "return string.dump or utf8",
    "the metatable of texts": "return rawget(string, '__index') or rawget(string, '__metatable')",
    "other globals": "return _ENV._G.debug or _G._G.io",
    "the table behind the globals": "return rawget(_G, '__index')",
}


@pytest.mark.parametrize("source", OUTSIDE.values(), ids=OUTSIDE)
def test_nothing_outside_of_the_scripts_can_be_reached(scene: Scene, source: str) -> None:
    assert scene.result(source) is None


LONG = "local s = '%c' for i = 1, 18 do s = s .. s end "
PATTERN = "local s = 'a' for i = 1, 20 do s = s .. s end "
SLOW = {
    "an empty text repeated": ("return string.rep('', 1 << 27)", False),
    "a format of dates": (LONG + "local x = os.date(s)", True),
    "a long pattern": (PATTERN + "local x = string.find('a', s)", True),
    "a long pattern replaced": (PATTERN + "local x = string.gsub('a', s, '')", True),
    "a long plain text": (
        (
            "local s = ('a'):rep(4096) for i = 1, 3 do s = s .. s end "
            "local x = string.find(s, s .. 'b', 1, true)"
        ),
        True,
    ),
    "a long number": ("local s = ('1'):rep(4096) local x = tonumber(s .. s)", True),
}  # fmt: skip


@contextmanager
def less_cpu_than(seconds: float, times: int = 20) -> Iterator[Callable[[], bool]]:
    """Fail if each of some rounds takes this CPU time; yields whether another round is needed.

    The system charges a thread for pauses of the machine, but not each time.
    """
    least, began, rounds = math.inf, 0.0, 0

    def is_measured() -> bool:
        nonlocal least, began, rounds
        if rounds:
            least = min(least, time.thread_time() - began)
        rounds += 1
        began = time.thread_time()
        return least >= seconds and rounds <= times

    yield is_measured
    assert least < seconds


@pytest.mark.parametrize(("source", "is_refused"), SLOW.values(), ids=SLOW)
def test_no_single_call_of_the_library_takes_long(
    scene: Scene, source: str, is_refused: bool
) -> None:
    env = scene.script(f"function f() {source} end")
    if not is_refused:
        # It took 0.7 s.
        with less_cpu_than(0.1) as is_measured:
            while is_measured():
                assert scene.runtime.call(env, "f") == (True, "")
        return
    with less_cpu_than(0.015) as is_measured:
        while is_measured():
            with pytest.raises(ScriptError, match=r"too long") as caught:
                scene.runtime.call(env, "f")
    # The function refuses the text: the guard would notice only when it is over.
    assert "the call took" not in caught.value.text
    assert (caught.value.path, caught.value.line) == (env.path, 1)


@pytest.mark.parametrize("value", ["{}", "nil", "true", "h", "print"])
def test_an_error_that_is_no_text_ends_the_call(scene: Scene, value: str) -> None:
    env = scene.script(f"function f(h) error({value}) end")
    with pytest.raises(ScriptError) as caught:
        scene.runtime.call(env, "f", Handle(HandleKind.SPAWN, object()))
    assert caught.value.text == "an error without a text"


def test_the_text_of_an_error_is_limited(scene: Scene) -> None:
    env = scene.script("function f() error(('x'):rep(4096)) end")
    with pytest.raises(ScriptError) as caught:
        scene.runtime.call(env, "f")
    assert caught.value.text == "x" * LONGEST_ERROR


@pytest.mark.parametrize(
    "source",
    ["string.format('%d', 'x')", "string.rep('a', {})", "while true do end", "print(h.name)",
     "h.name = 1"],
)  # fmt: skip
def test_each_error_has_the_line_of_the_script(scene: Scene, source: str) -> None:
    env = scene.script(f"function f(h)\n{source}\nend")
    with pytest.raises(ScriptError) as caught:
        scene.runtime.call(env, "f", Handle(HandleKind.SPAWN, object()))
    assert (caught.value.path, caught.value.line) == (env.path, 2)


@pytest.mark.parametrize("use", ["h()", "for _ in h do end"])
def test_a_handle_that_is_called_is_an_error_of_the_script(scene: Scene, use: str) -> None:
    env = scene.script(f"function f(h) {use} end")
    with pytest.raises(ScriptError, match="attempt to call a spawn") as caught:
        scene.runtime.call(env, "f", Handle(HandleKind.SPAWN, object()))
    assert caught.value.path == env.path


def test_a_name_that_is_too_long_for_a_file_names_no_module(scene: Scene) -> None:
    env = scene.script("function f() require(('a'):rep(4000)) end")
    with pytest.raises(ScriptError, match="there is no module"):
        scene.runtime.call(env, "f")


@pytest.mark.parametrize(
    "access", ["h.subject", "h.__class__", "h['__init__']", "h()", "#h", "h.x.y", "h[1]"]
)
def test_a_handle_shows_nothing_of_python(scene: Scene, access: str) -> None:
    handle = Handle(HandleKind.SPAWN, object())
    env = scene.script(f"function f(h) return {access} end")
    with pytest.raises(ScriptError):
        scene.runtime.call(env, "f", handle)
    env = scene.script("function f(h) h.subject = 1 end")
    with pytest.raises(ScriptError):
        scene.runtime.call(env, "f", handle)
    env = scene.script("function f(h) return tostring(h) end")
    assert scene.runtime.call(env, "f", handle) == (True, "spawn")


def test_the_whole_memory_is_limited(folder: ScriptFolder) -> None:
    limits = ScriptLimits(memory=4 * 1024 * 1024, growth=4 * 1024 * 1024)
    runtime = Runtime(folder, {}, limits=limits)
    (folder.root / "keep.lua").write_text(
        "kept = {} function f() for i = 1, 1000 do kept[#kept + 1] = {i} end end"
    )
    env = runtime.load("keep.lua")

    def fill() -> None:
        for _ in range(1000):
            runtime.call(env, "f")

    with pytest.raises(ScriptError, match="memory"):
        fill()
    assert runtime.memory <= limits.memory


def test_a_changed_file_is_read_when_it_was_forgotten(scene: Scene) -> None:
    scene.script("function f() return 1 end")
    (scene.folder.root / "npc.lua").write_text("function f() return 2 end")
    assert scene.runtime.call(scene.runtime.load("npc.lua"), "f") == (True, 1)
    scene.runtime.forget("npc.lua")
    assert scene.runtime.call(scene.runtime.load("npc.lua"), "f") == (True, 2)


@pytest.mark.slow
def test_the_memory_of_a_file_that_has_ended_is_used_again(folder: ScriptFolder) -> None:
    runtime = Runtime(folder, {}, spent=untimed())
    (folder.root / "large.lua").write_text("kept = {} for i = 1, 5000 do kept[i] = {i} end")
    runtime.load("large.lua").end()
    one = runtime.memory
    for _ in range(60):
        runtime.load("large.lua").end()
    assert runtime.memory < 8 * one


@pytest.mark.usefixtures("collect_garbage")
def test_a_handle_forgets_the_runtimes_that_have_ended(folder: ScriptFolder) -> None:
    handle = Handle(HandleKind.PLAYER, None)
    for _ in range(3):
        Scene(folder).result("return ...", handle)
        gc.collect()
    assert len(handle.holders or ()) == 1


@pytest.mark.slow
def test_environments_of_one_file_share_its_code_and_not_its_globals(scene: Scene) -> None:
    lines = "\n".join(f"  total = (total or 0) + {number} * {number}.5" for number in range(500))
    first = scene.script(
        "count = 0\nfunction add() count = count + 1 return count end\n"
        f"function large()\n{lines}\nend"
    )
    gc.collect()
    before = scene.runtime.memory
    others = [scene.runtime.load(first.path) for _ in range(20)]
    assert scene.runtime.memory - before < 20 * 10_000, "the code alone has more than 15,000 bytes"
    assert scene.runtime.call(first, "add") == (True, 1)
    assert scene.runtime.call(first, "add") == (True, 2)
    assert scene.runtime.call(others[0], "add") == (True, 1)


def test_an_error_in_the_first_line_has_its_place(scene: Scene) -> None:
    with pytest.raises(ScriptError) as error:
        scene.script("missing()")
    assert (error.value.path, error.value.line) == ("npc.lua", 1)
    assert "global 'missing'" in str(error.value)


def test_pairs_of_a_library_lists_it_with_what_the_script_has_changed(scene: Scene) -> None:
    env = scene.script(
        "math.third, math.abs = 3, 5 "
        "function f() local n, all = 0, {} "
        "for name, value in pairs(math) do n = n + 1 all[name] = value end "
        "return n, all.third, all.abs, all.floor == math.floor end"
    )
    count, *found = scene.runtime.call_all(env, "f") or ()
    assert count > 20
    assert found == [3, 5, True]
