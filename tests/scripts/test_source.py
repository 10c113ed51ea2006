"""What the source of a script says."""

from __future__ import annotations

import pytest

from emu.scripts.source import comments, constants, read_source, words


def test_words_have_their_lines() -> None:
    source = (
        'a = "x -- y" -- Say()\n--[[ long\nSay() ]] b = [==[ two\nlines ]] ]==] c = 0x1F .. 2.5'
    )
    found = [(word.kind, word.text, word.line) for word in words(source)]
    assert found == [
        ("name", "a", 1), ("sign", "=", 1), ("text", '"x -- y"', 1),
        ("name", "b", 3), ("sign", "=", 3), ("text", "[==[ two\nlines ]] ]==]", 3),
        ("name", "c", 4), ("sign", "=", 4), ("number", "0x1F", 4), ("sign", "..", 4),
        ("number", "2.5", 4),
    ]  # fmt: skip


def test_calls_of_global_names() -> None:
    facts = read_source("""
        local function own() end
        function hailed(NPC, Spawn)
            own() table.insert(t, 1) NPC:Say() Say(NPC, "a, b", f(1, 2), {1, 2}) print "x"
            local Say = 1
            Say(1)
        end
        Say(function(a, b) return a, b end, -5)
    """, {"Say"})  # fmt: skip
    assert [call.name for call in facts.calls] == ["Say", "f", "print", "Say"]
    first, last = facts.calls[0], facts.calls[-1]
    assert first.arguments is not None
    assert [word.text if word else None for word in first.arguments] == [
        "NPC", '"a, b"', None, None,
    ]  # fmt: skip
    assert last.arguments == (None, None)
    assert facts.calls[1].arguments is None


@pytest.mark.parametrize(
    ("source", "leaked"),
    [
        ("function f() x = 1 end", {"x": 1}),
        ("function f() local x = 1 x = 2 end", {}),
        ("x = 1 function f() x = 2 end", {}),
        ("function f(x) x = 2 end", {}),
        ("function f() for x = 1, 2 do x = 3 end y = 1 end", {"y": 1}),
        ("function f() local a, x x, y = 1, 2 end", {"y": 1}),
        ("function f() if a then x = 1 end end\nfunction g() return {y = 1}, a == 2 end", {"x": 1}),
        ("function f() t.x = 1 t[1] = 2 end", {}),
        ("function f() while true do local x = 1 end x = 2 end", {"x": 1}),
        ("function f() function g() end end", {"g": 1}),
        ("function f() repeat local x = 1 until x == 1 end", {}),
    ],
)
def test_globals_that_only_functions_set(source: str, leaked: dict[str, int]) -> None:
    assert read_source(source).leaked == leaked


def test_modules_and_definitions() -> None:
    facts = read_source("""require "Lib/One"
        require("Lib/Two")
        dofile("Lib/Three.lua")
        x, y = 1, 2
        function Lib.method() end
        function known() end""")
    assert facts.modules == [("Lib/One.lua", 1), ("Lib/Two.lua", 2), ("Lib/Three.lua", 3)]
    assert facts.defined == {"x", "y", "known"}


@pytest.mark.parametrize("source", ["function", "f(", "local", "for", '"', "[[", "end end", "x,"])
def test_a_broken_source_raises_nothing(source: str) -> None:
    read_source(source, {"f"})


def test_comments_of_one_line() -> None:
    source = (
        'a = "-- no" -- first \n--[[ long\n -- inside\n]] b = 1 --- second\n--[==[ three ]==]\n--\n'
    )
    assert comments(source) == {1: "first", 4: "second", 6: ""}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("local a = 1\nb = 0x1F; c = 2.5", {"a": "1", "b": "0x1F", "c": "2.5"}),
        ("if x then a = 1 end return", {"a": "1"}),
        ("a = 1 a = 1", {"a": "1"}),
        ("a = 1 a = 2 b = 1 b = nil", {}),
        ("a = 1 .. c b = 2 * 3 for d = 1, 2 do end e = f(1) g = -1", {}),
        ("t.a = 1 t:b() t = {c = 5}", {}),
    ],
)
def test_names_that_are_one_number(source: str, found: dict[str, str]) -> None:
    assert constants(source) == found
