from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.cli.doctor.findings import Finding, ok
from tests.support.running.command_line import CommandLine

CHECKS = {
    "configuration", "ports", "files", "database", "opcodes", "clock", "addresses", "limits",
    "secrets", "server",
}  # fmt: skip


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("emu.cli.doctor.commands.sleep", lambda _seconds: None)
    monkeypatch.setattr("emu.cli.doctor.commands.passing", lambda: 0.0)
    monkeypatch.setattr("emu.cli.doctor.commands.present", lambda: 1.9e9)
    commands = CommandLine(tmp_path)
    with commands.config.open("a") as file:
        file.write('listen = "127.0.0.1:0"\n[world]\nlisten = "127.0.0.1:0"\n')
    commands.config.chmod(0o600)
    return commands


@pytest.mark.slow
def test_every_subject_is_looked_at_and_nothing_is_made(commands: CommandLine) -> None:
    found = commands.rows("doctor")
    assert {one["check"] for one in found} == CHECKS
    assert not [one for one in found if one["level"] == "fail"]
    assert not commands.database.exists()
    assert len(json.loads(commands.good("doctor", "--json").stdout)) == len(found)


@pytest.mark.slow
def test_people_read_a_line_each_and_the_fix(commands: CommandLine) -> None:
    result = commands.good("doctor", "--problems")
    lines = result.stdout.splitlines()
    assert not [line for line in lines if line.startswith("ok")]
    at = next(index for index, line in enumerate(lines) if "no server listens" in line)
    assert lines[at].startswith("warn  server ")
    assert lines[at + 1].strip().startswith("-> start one: emu start")
    assert "fail 0" in result.stderr


def test_what_fails_is_the_exit_status(commands: CommandLine) -> None:
    commands.database.write_bytes(b"no database" * 1000)
    result = commands.run("doctor")
    assert result.exit_code == 1
    assert "fail  database" in result.stdout


@pytest.mark.slow
def test_what_the_system_does_not_show_is_reported_and_the_rest_is_looked_at(
    commands: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(path: Path) -> Iterator[Finding]:
        yield ok("database", "it is there")
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("emu.cli.doctor.commands.check_database", closed)
    result = commands.run("doctor")
    assert result.exit_code == 1
    assert "emu.sqlite: cannot be used (Permission denied)" in result.stdout
    assert "ok    opcodes" in result.stdout


def test_a_wrong_configuration_is_all_there_is_to_say(commands: CommandLine) -> None:
    commands.config.write_text('[login]\nlisten = "nowhere"\n[wrld]\n')
    result = commands.run("doctor", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert {one["check"] for one in found} == {"configuration"}
    assert len(found) == 2
    # No command that reads the same file: it would fail by the same fault.
    assert sorted(one["fix"].partition(":")[0] for one in found) == [
        "correct it; emu config reference lists every setting with its limits",
        "correct login.listen",
    ]


@pytest.mark.slow
def test_an_account_needs_a_server(commands: CommandLine) -> None:
    result = commands.run("doctor", "--login", "bob", "--password", "x")
    assert result.exit_code == 1
    assert "no server is running" in result.stdout
