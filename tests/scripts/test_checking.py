"""Checks of scripts: what is found, and how many are complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.scripts.checking import Checker, endless
from emu.scripts.folder import ScriptFolder
from emu.scripts.runtime import Runtime, ScriptLimits
from emu.scripts.signatures import parse

pytest.importorskip("lupa", reason="the package lupa is not installed")

KNOWN = {
    "Say": parse("S speaker, t text, P player?"),
    "AddTimer": parse("S spawn, u milliseconds, t function"),
    "SetLevel": parse("S spawn, n level"),
    "AddStep": parse("Q quest, u step, ..."),
    "CastSpell": parse("S spawn, u spell"),
}


def checker(folder: Path, **files: str) -> Checker:
    for name, source in files.items():
        (folder / f"{name}.lua").write_text(source, encoding="utf-8")
    return Checker(ScriptFolder(folder), KNOWN, {"Say", "AddTimer"})


def findings(folder: Path, source: str, **files: str) -> list[str]:
    one = checker(folder, script=source, **files)
    runtime = Runtime(one.folder, {name: lambda *_: None for name in KNOWN})
    return [f"{found.line} {found.kind} {found.text}" for found in one.check("script.lua", runtime)]


SAY = "Say takes speaker, text, player?"
TIMER = "AddTimer takes spawn, milliseconds, function"
WRONG_TIMER = f"1 arguments {TIMER}: the text 'soon' is no milliseconds"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Say(NPC, 'Hm')", []),
        ("Sey(NPC, 'Hm')", ["1 unknown there is no function Sey; is it Say?"]),
        ("\nqqqqqqq()", ["2 unknown there is no function qqqqqqq"]),
        ("pcall(f)", ["1 unknown scripts have no pcall"]),
        ("print(tostring(1)) math.floor(1) NPC:Sey()", []),
        ("Say()", [f"1 arguments {SAY}: 0 arguments are too few"]),
        ("Say(f())", []),
        ("Say(1, 2, 3, 4)", [
            f"1 arguments {SAY}: 4 arguments are too many",
            f"1 arguments {SAY}: the number 1 is no speaker",
            f"1 arguments {SAY}: the number 3 is no player",
        ]),
        ("AddTimer(NPC, 'soon', 'go')", [WRONG_TIMER]),
        ("AddTimer(NPC, '1000', 'go')", []),
        ("AddTimer(NPC, true, 'go')", [f"1 arguments {TIMER}: the truth true is no milliseconds"]),
        ("SetLevel(NPC, 1.5)", [
            "1 arguments SetLevel takes spawn, level: the fraction 1.5 is no level",
        ]),
        ("SetLevel(NPC, 2.0)", []),
        ("AddStep(Quest, 1, 2, 3, 'a')", []),
        ("require 'gone'", ["1 module there is no module 'gone.lua'"]),
        ("function f()\n x = 1 end", ["2 global x is set in a function and is not local"]),
        ("x", ["1 compile syntax error near <eof>"]),
    ],
)  # fmt: skip
def test_what_is_found(tmp_path: Path, source: str, expected: list[str]) -> None:
    assert findings(tmp_path, f"local NPC, Quest, f = 1, 2, 3 {source}") == expected


def test_functions_of_modules_are_known(tmp_path: Path) -> None:
    source = "require 'one' greet() deeper()"
    files = {"one": "require 'two' function greet() end", "two": "function deeper() end"}
    assert findings(tmp_path, source, **files) == []


def test_the_share_of_complete_scripts(tmp_path: Path) -> None:
    one = checker(
        tmp_path,
        empty="-- nothing", good="Say(NPC, 'a') Unknown()", bad="SetLevel(NPC, 1)",
        own="function SetLevel() end SetLevel(NPC, 1)", module="require 'bad' Say(NPC, 'a')",
    )  # fmt: skip
    coverage = one.count(f"{name}.lua" for name in ("empty", "good", "bad", "own", "module"))
    assert (coverage.files, coverage.own, coverage.with_modules) == (5, 4, 3)
    assert coverage.shares() == (pytest.approx(80.0), pytest.approx(60.0))
    assert coverage.missing == {"SetLevel": 2}
    assert coverage.alone == {"SetLevel": 2}


def test_a_function_hinders_alone_if_nothing_else_is_missing(tmp_path: Path) -> None:
    one = checker(
        tmp_path, both="SetLevel(NPC, 1) CastSpell(NPC, 1)", one="CastSpell(NPC, 1) CastSpell()"
    )
    coverage = one.count(["both.lua", "one.lua"])
    assert coverage.missing == {"CastSpell": 2, "SetLevel": 1}
    assert coverage.alone == {"CastSpell": 1}


def test_files_are_sorted_by_their_first_folder(tmp_path: Path) -> None:
    one = checker(tmp_path)
    for name in ("b/one.lua", "a/two.lua", "a/broken.lua"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    assert one.by_kind({"a/broken.lua"}) == {"a": ["a/two.lua"], "b": ["b/one.lua"]}


def test_loops_without_an_end(tmp_path: Path) -> None:
    one = checker(tmp_path, script="""
        function spawn(NPC) while true do Say(NPC, 'a') end end
        function hailed(NPC) error('no loop') end""")  # fmt: skip
    limits = ScriptLimits(instructions=2000)
    runtime = Runtime(one.folder, {"Say": lambda *_: None}, limits=limits)
    found = list(endless(runtime, runtime.load("script.lua"), ()))
    assert [str(one) for one in found] == ["script.lua:2: spawn does not end"]
