"""No single operation of a script takes long: every text is short, wherever it comes from.

The guard looks each `STEP` instructions. What one instruction or one C function does in between
depends on the length of texts, so these tests assert lengths and refusals, and measure no time.
"""

from pathlib import Path
from typing import Any

import pytest

from emu.errors import ScriptError
from emu.scripts.folder import ScriptFolder
from emu.scripts.forms import LONGEST_TEXT
from emu.scripts.runtime import STEP, Environment, Runtime, ScriptLimits
from emu.scripts.signatures import FunctionTable, Handle, HandleKind, bind

pytest.importorskip("lupa", reason="the package lupa is not installed")

FUNCTIONS = FunctionTable()
TEXT = (
    "local big = ('x'):rep(4096) for i = 1, 4 do big = big .. big end "
    "local one, get = '\\1', function() return big end "
)
"""The longest text that a script can have."""


@FUNCTIONS("Take", "t text, ...")
def take(taken: list[int], text: str, *_more: Any) -> str:
    """Take texts; return one that is too long, with zero bytes."""
    taken.append(len(text))
    return "a\0" * LONGEST_TEXT


@pytest.fixture
def taken() -> list[int]:
    return []


@pytest.fixture
def runtime(tmp_path: Path, taken: list[int]) -> Runtime:
    return Runtime(ScriptFolder(tmp_path), {"Take": bind(FUNCTIONS.functions["Take"], taken)})


def loaded(runtime: Runtime, source: str) -> Environment:
    (runtime.folder.root / "npc.lua").write_text(source)
    runtime.forget("npc.lua")
    return runtime.load("npc.lua")


def result(runtime: Runtime, source: str) -> Any:
    return runtime.call(loaded(runtime, f"function f() {source} end"), "f")[1]


LONGER = {
    "a concatenation": "local x = big .. 'x'",
    "a concatenation of three": "return 'x' .. big .. ''",
    "a concatenation with a number": "local x = big .. 1",
    "a text that doubles": "local s = 'x' while true do s = s .. s end",
    "a text that grows over several variables": (
        "local s, t = 'x', 'y' while true do s, t = t .. s, s .. t end"
    ),
    "table.concat": "local x = table.concat({big, 'x'})",
    "table.concat with separators": "local t = {} for i = 1, 9 do t[i] = i end "
    "local x = table.concat(t, big)",
    "table.concat of many": "local t = {} for i = 1, 9 do t[i] = big end local x = table.concat(t)",
    "string.format": "local x = string.format('%s%s', big, 'x')",
    "string.format with quotes": "local x = string.format('%q', one:rep(4096) .. big:sub(5000))",
    "a format of many": "local t = {} for i = 1, 101 do t[i] = big end "
    "local x = string.format('x', table.unpack(t))",
    "string.gsub": "local x = (('x'):rep(4096):gsub('', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'))",
    "string.gsub with a long text": "local x = (('x'):rep(4096):gsub('', big))",
    "string.gsub with a table": "local x = (('x'):rep(4096):gsub('x', {x = big}))",
    "string.gsub with a function": "local x = (('x'):rep(4096):gsub('x', get))",
    "string.rep": "local x = big:rep(2)",
    "a long literal": "return Take",
}


@pytest.mark.parametrize("source", LONGER.values(), ids=LONGER)
def test_no_text_becomes_longer_than_the_limit(
    runtime: Runtime, taken: list[int], source: str
) -> None:
    if source == "return Take":
        with pytest.raises(ScriptError, match="more than 65536 bytes"):
            loaded(runtime, f"x = '{'x' * LONGEST_TEXT}'")
        return
    with pytest.raises(ScriptError, match=r"too long|too many|than 4096") as caught:
        result(runtime, TEXT + source)
    assert "the call took" not in caught.value.text
    assert (caught.value.path, caught.value.line) == ("npc.lua", 1)


def test_the_longest_text_can_be_used(runtime: Runtime, taken: list[int]) -> None:
    assert result(runtime, TEXT + "local t = {[big] = 7} Take(big) return t[big]") == 7
    assert taken == [LONGEST_TEXT]
    assert result(runtime, TEXT + "return #(string.format('%s', big) .. '')") == LONGEST_TEXT
    assert result(runtime, TEXT + "return #table.concat({big:sub(2), 'y'})") == LONGEST_TEXT
    assert result(runtime, TEXT + "return big == big:upper():lower()") is True


ZEROS = {
    "a literal": r"'a\0\00\000\x00\u{0}b'",
    "string.char": "string.char(97, 0, 0, 0, 0, 0, 98)",
    "string.format": "string.format('a%c%c%c%c%cb', 0, 0, 0, 0, 0)",
    "string.gsub": "(('a-----b'):gsub('-', string.char(0)))",
    "a text of the server": "Take(''):sub(1, 1) .. '     b'",
}


@pytest.mark.parametrize("source", ZEROS.values(), ids=ZEROS)
def test_no_text_has_a_zero_byte(runtime: Runtime, source: str) -> None:
    """Lua compares a text with zero bytes a hundred times more slowly."""
    assert result(runtime, f"return {source}") == "a     b"


def test_texts_of_the_server_are_bounded(runtime: Runtime) -> None:
    assert result(runtime, "return Take('')") == ("a " * LONGEST_TEXT)[:LONGEST_TEXT]
    env = loaded(runtime, "function f(text) return #text end")
    assert runtime.call(env, "f", "x" * 1_000_000) == (True, LONGEST_TEXT)
    env = loaded(runtime, "function f(list) return #list[1] end")
    assert runtime.call(env, "f", runtime.table(["x" * 1_000_000])) == (True, LONGEST_TEXT)


def test_many_long_arguments_are_refused(runtime: Runtime) -> None:
    """A function of the server reads each argument, whether it uses it or not."""
    many = TEXT + "local t = {} for i = 1, 9 do t[i] = big end "
    with pytest.raises(ScriptError, match="more than 65536 bytes together") as caught:
        result(runtime, many + "Take(table.unpack(t))")
    assert caught.value.path == "npc.lua"
    # `require` and `dofile` get their first argument only.
    (runtime.folder.root / "module.lua").write_text("")
    assert result(runtime, many + "require('module', table.unpack(t)) return 1") == 1
    assert result(runtime, many + "dofile('module.lua', table.unpack(t)) return 1") == 1


@pytest.mark.parametrize(
    "call", ["Take", "math.max", "math.min", "string.char", "string.format"], ids=str
)
def test_a_call_reads_a_limited_number_of_arguments(runtime: Runtime, call: str) -> None:
    source = f"local t = ('x'):rep(4096) {call}(t:byte(1, -1)) return 1"
    with pytest.raises(ScriptError, match=r"too many arguments|number expected|bad argument"):
        result(runtime, source)


GROWING = (
    "local depth = 0 local function grow(...) depth = depth + 1 if depth == 20 then return {} end "
    "return grow(" + "1, " * 200 + "...) end grow()"
)
"""A function that passes itself 4,000 values in the end: no single list of a script has so many."""


@pytest.mark.parametrize("call", ["Take(...)", "handle(...)", "require(1)"], ids=str)
def test_many_values_never_reach_the_server(runtime: Runtime, taken: list[int], call: str) -> None:
    """Passing values to Python takes time by the square of their number: a second for 24,000."""
    handle = Handle(HandleKind.SPAWN, None)
    source = "function f(handle) " + GROWING.format(call) + " end"
    env = loaded(runtime, source)
    with pytest.raises(ScriptError) as caught:
        runtime.call(env, "f", handle)
    wanted = "there is no module" if call == "require(1)" else "too many arguments"
    assert caught.value.text.startswith(wanted)
    assert (caught.value.path, taken) == ("npc.lua", [])


TAIL = "a" * 50 + "b"
"""The end of a pattern that is compared behind each length that a repetition tries."""


@pytest.mark.parametrize("pattern", [".*", "a-", "^.-.-", "^a*%a-"], ids=str)
def test_the_end_of_a_pattern_counts_for_each_length_that_is_tried(
    runtime: Runtime, pattern: str
) -> None:
    source = "local text = ('a'):rep({}) return text:find('{}')"
    with pytest.raises(ScriptError, match="pattern would take too long"):
        result(runtime, source.format(256, pattern + TAIL))
    assert result(runtime, source.format(60, pattern + TAIL)) is None
    assert result(runtime, source.format(256, pattern + "ab")) is None


def test_functions_call_each_other_only_so_deeply(runtime: Runtime) -> None:
    depth = ScriptLimits().depth
    source = "local function r(n) if n == 0 then return 0 end return 1 + r(n - 1) end "
    assert result(runtime, source + f"return r({depth // 2})") == depth // 2
    with pytest.raises(ScriptError, match="too deeply"):
        result(runtime, source + f"return r({depth + 8 * STEP})")


def test_empty_elements_count_too(runtime: Runtime) -> None:
    """The loop over the elements is one of Lua: the guard counts it."""
    source = "for i = 1, 60000 do t[#t + 1] = '' end"
    env = loaded(
        runtime, f"t = {{}} function f() {source} end function g() return table.concat(t) end"
    )
    for _ in range(2):
        with pytest.raises(ScriptError, match="took too long"):
            runtime.call(env, "f")
    with pytest.raises(ScriptError, match="took too long"):
        runtime.call(env, "g")


def test_memory_is_limited_before_the_allocator_refuses_it(tmp_path: Path) -> None:
    """Where the allocator refuses memory, Lua collects all garbage at once, for a long time."""
    limits = ScriptLimits(growth=256 * 1024)
    runtime = Runtime(ScriptFolder(tmp_path), {}, limits=limits)
    env = loaded(runtime, "function f() local t = {} while true do t[#t + 1] = {} end end")
    before = runtime.memory
    with pytest.raises(ScriptError, match="too much memory") as caught:
        runtime.call(env, "f")
    assert caught.value.line == 1, "the guard knows the line, the allocator does not"
    assert runtime.memory < before + 2 * limits.growth
