"""`emu content check --scripts` and `emu content call`: what authors of scripts type and find."""

import json
from pathlib import Path
from typing import Any, Self

import pytest

from emu.cli import content_scripts
from emu.commands import Reply
from tests.support.content.dumps import meadow, write_dumps
from tests.support.running.command_line import CommandLine

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    folder = tmp_path / "server"
    files = {
        "SpawnScripts/good.lua": 'function hailed(NPC, Spawn) Say(NPC, "Yes?") end',
        "SpawnScripts/wrong.lua": "function hailed(NPC, Spawn)\nGetAAInfo(Spawn) Sya(NPC) end",
        "SpawnScripts/loop.lua": "function spawn(NPC) while true do end end",
        "ZoneScripts/broken.lua": "function",
    }
    for name, source in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(source, encoding="utf-8")
    return folder


def test_scripts_are_checked(emu: CommandLine, scripts: Path) -> None:
    result = emu.run(
        "content", "check", "--scripts", str(scripts), "--details", "", "--format", "json"
    )
    assert result.exit_code == 1
    found = [(row["file"], row["line"], row["kind"]) for row in json.loads(result.stdout)]
    assert found == [
        ("SpawnScripts/loop.lua", 1, "loop"),
        ("SpawnScripts/wrong.lua", 2, "arguments"),
        ("SpawnScripts/wrong.lua", 2, "unknown"),
        ("ZoneScripts/broken.lua", 1, "compile"),
    ]
    assert "SpawnScripts: 3 files, 66.7 % complete, 66.7 % with their modules" in result.stderr


def test_findings_are_counted_by_cause(emu: CommandLine, scripts: Path) -> None:
    leaking = "function hailed(NPC, Spawn)\nfirst = 1\nsecond = 2\nthird = 3 end"
    (scripts / "SpawnScripts" / "leak.lua").write_text(leaking, encoding="utf-8")
    check = ("content", "check", "--scripts", str(scripts), "--format", "json")
    result = emu.run(*check)
    assert result.exit_code == 1
    found = [
        (row["cause"], row["is_error"], row["findings"], row["files"])
        for row in json.loads(result.stdout)
    ]
    assert found == [
        ("arguments", True, 1, 1), ("compile", True, 1, 1), ("loop", True, 1, 1),
        ("unknown", True, 1, 1), ("global", False, 3, 1),
    ]  # fmt: skip
    one = emu.run(*check, "--details", "global")
    assert [row["line"] for row in json.loads(one.stdout)] == [2, 3, 4]
    assert "unknown: 1 finding in 1 file" in one.stderr


def test_what_is_only_doubtful_is_no_error(emu: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "server" / "SpawnScripts"
    folder.mkdir(parents=True)
    (folder / "leak.lua").write_text("function hailed(NPC)\nmine = 1 end", encoding="utf-8")
    rows = emu.rows("content", "check", "--scripts", str(tmp_path / "server"))
    assert [(row["cause"], row["is_error"]) for row in rows] == [("global", False)]


def test_functions_that_most_scripts_lack_are_listed(emu: CommandLine, scripts: Path) -> None:
    result = emu.run("content", "check", "--scripts", str(scripts), "--missing", "1")
    assert "  GetAAInfo: 1 file; nothing else is missing to 1 file" in result.stderr.splitlines()


def test_files_that_the_content_file_names_must_exist(
    emu: CommandLine, scripts: Path, tmp_path: Path
) -> None:
    emu.good("content", "import", str(write_dumps(tmp_path / "dumps", meadow())))
    result = emu.run(
        "content", "check", "--scripts", str(scripts), "--details", "missing", "--format", "json"
    )
    missing = [row for row in json.loads(result.stdout) if row["kind"] == "missing"]
    assert missing
    assert all("names it, and it is not there" in row["text"] for row in missing)


def test_an_event_is_called_with_stand_ins(emu: CommandLine, scripts: Path) -> None:
    result = emu.good(
        "content", "call", "SpawnScripts/good.lua", "hailed", "--scripts", str(scripts)
    )
    assert result.stdout == 'Say(NPC, "Yes?")\n'
    for arguments, said in (
        (("gone.lua", "hailed"), "there is no script 'gone.lua'"),
        (("SpawnScripts/good.lua", "gone"), "has no function 'gone'"),
        (("SpawnScripts/wrong.lua", "hailed"), "SpawnScripts/wrong.lua:2:"),
    ):
        assert said in emu.refused("content", "call", *arguments, "--scripts", str(scripts))


def test_a_folder_must_be_said(emu: CommandLine) -> None:
    assert "say which folder" in emu.refused("content", "check", "--scripts")


class Console:
    """The console of a running server, whose scripts have failed."""

    reply = Reply(("a line",), {
        "errors": [{"file": "a.lua", "line": 3, "event": "hailed", "spawn": "Guard",
                    "text": "no", "count": 2, "before_reload": True}],
        "switched_off": ["a.lua"],
    })  # fmt: skip

    def __init__(self, *_: object, **__: object) -> None:
        self.lines: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, line: str) -> Any:
        assert line == "script errors"
        return self.reply


def test_the_errors_of_a_running_server(emu: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no server can be reached" in emu.refused("content", "errors")
    monkeypatch.setattr(content_scripts, "ConsoleSocket", Console)
    result = emu.good("content", "errors", "--format", "json")
    assert json.loads(result.stdout) == Console.reply.data["errors"]  # type: ignore[index]
    assert result.stderr == "switched off: a.lua\n"
    monkeypatch.setattr(Console, "reply", Reply(("unknown command",), None, ok=False))
    assert "unknown command; is an older server running?" in emu.refused("content", "errors")
