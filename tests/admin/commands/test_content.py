"""The commands that show the content file and the sources of scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emu.admin.commands import content
from emu.admin.commands.content import ContentCommandContext
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.errors import ScriptError
from emu.world.minds.errors import ScriptErrors
from tests.support.admin.commanding import CommandBench
from tests.support.content.dumps import meadow, write_dumps

GUARD = "SpawnScripts/meadow/guard.lua"


async def at_once(call: Callable[[], Any]) -> Any:
    return call()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("content")
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", meadow())]), target)
    return target


@pytest.fixture
def errors() -> ScriptErrors:
    return ScriptErrors()


@pytest.fixture
def bench(file: Path, tmp_path: Path, errors: ScriptErrors) -> CommandBench:
    script = tmp_path / "SpawnScripts" / "meadow" / "guard.lua"
    script.parent.mkdir(parents=True)
    script.write_bytes(b"-- \xe9\nfunction hailed(NPC)\n  NPC()\nend\n")
    (tmp_path.parent / "secret.lua").write_text("secret")
    about = ContentCommandContext(
        at_once, file, tmp_path, lambda: [one.row() for one in errors.faults()]
    )
    return CommandBench(content.COMMANDS.commands(about))


def failed(errors: ScriptErrors, path: str = GUARD, line: int = 3) -> None:
    errors.count_error(ScriptError(path, line, "no function"), "hailed", "a guard", path)


def test_the_content_is_searched_and_shown(bench: CommandBench) -> None:
    assert bench.run("content find spawn guard").lines == ("1 found", "spawn 90001: a guard")
    assert len(bench.run("content find all a").data) > 3
    found = bench.run("content show spawn 90001")
    assert found.lines[0] == "spawn 90001: a guard"
    assert "spawns: id 90001, name a guard" in found.lines[1]
    assert found.data["name"] == "a guard"
    assert "spawn_id 90003 (a sign)" in bench.run("content show spawn 90003").lines[2]


def test_a_spawn_is_shown_with_the_errors_of_its_scripts(
    bench: CommandBench, errors: ScriptErrors
) -> None:
    failed(errors, "SpawnScripts/meadow/other.lua")
    assert bench.run("content show spawn 90001").data["errors"] == []
    # The row names the file in another case than the folder.
    failed(errors, GUARD.replace("meadow", "Meadow"))
    (row,) = bench.run("content show spawn 90001").data["errors"]
    assert (row["line"], row["text"]) == (3, "no function")


def test_a_source_is_shown_with_its_errors(bench: CommandBench, errors: ScriptErrors) -> None:
    failed(errors)
    found = bench.run(f"content source {GUARD}")
    assert found.lines[0] == f"{GUARD}: 4 lines, 1 error"
    assert found.lines[1:] == ("1: -- é", "2: function hailed(NPC)", "3:   NPC()", "4: end")
    assert found.data["lines"][2] == "  NPC()"
    assert [one["line"] for one in found.data["errors"]] == [3]
    assert bench.run(f"content source {GUARD.upper()}").data["file"] == GUARD


def test_the_source_of_a_behavior_is_found_by_its_path(
    file: Path, tmp_path: Path, errors: ScriptErrors
) -> None:
    (tmp_path / "behaviors").mkdir()
    guard, other = tmp_path / "behaviors" / "guard.py", tmp_path / "other.py"
    guard.write_text("def on_hail(me, player):\n    1 / 0\n")
    other.write_text("secret = 1\n")
    about = ContentCommandContext(
        at_once, file, None, lambda: [one.row() for one in errors.faults()], tmp_path / "behaviors"
    )
    bench = CommandBench(content.COMMANDS.commands(about))
    errors.count_error(
        ScriptError(str(guard), 2, "division"), "on_hail", "x", "guard", is_behavior=True
    )
    found = bench.run(f"content source {guard}").data
    assert (found["lines"][1], len(found["errors"])) == ("    1 / 0", 1)
    for path in (other, tmp_path / "behaviors" / ".." / "other.py", "guard.py"):
        assert not bench.run(f"content source {path}").ok


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("content show spawn 5", "there is no spawn 5; content find searches names"),
        ("content source nothing.lua", "the folder of scripts has no nothing.lua"),
        ("content source ../secret.lua", "the folder of scripts has no ../secret.lua"),
        ("content source /etc/passwd", "the folder of scripts has no /etc/passwd"),
    ],
)
def test_what_is_not_there_is_refused(bench: CommandBench, line: str, text: str) -> None:
    reply = bench.run(line)
    assert not reply.ok
    assert reply.text == text


def test_a_world_without_content_says_which_setting_is_missing() -> None:
    about = ContentCommandContext(at_once, None, None, list)
    bench = CommandBench(content.COMMANDS.commands(about))
    for line, setting in (("content find all a", "world.content"),
                          ("content show spawn 1", "world.content"),
                          ("content source a.lua", "world.scripts")):  # fmt: skip
        reply = bench.run(line)
        assert not reply.ok
        assert setting in reply.text


def test_only_guides_read_them(bench: CommandBench) -> None:
    assert not bench.run("content find all a", rank=9).ok
    assert bench.run("content find all a", rank=10).ok
