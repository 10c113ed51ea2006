"""Commands that moderate report what they have done to the server that runs, or print it."""

from __future__ import annotations

import getpass
import json
from pathlib import Path

import pytest

from emu.commands import Reply
from tests.cli.consoles.test_admin import commands, server
from tests.support.running.command_line import CommandLine

__all__ = ["commands"]

CHANGES = [
    ("account ban alice --for 7d --reason gold", "account ban alice gold", "alice is banned until"),
    ("account unban alice", "account unban alice", "alice is not banned"),
    ("account password alice --password new", "account password alice ***", "new password"),
    ("account disable alice", "account disable alice", "alice is disabled"),
    ("account enable alice", "account enable alice", "alice is enabled"),
    ("account remove alice", "account remove alice", "removed account alice"),
    ("account address ban 192.0.2 --reason bots", "address ban 192.0.2 bots", "is banned until"),
]


@pytest.mark.parametrize(("words", "act", "result"), CHANGES)
def test_the_server_that_runs_gets_the_change_with_its_reason(
    commands: CommandLine, tmp_path: Path, words: str, act: str, result: str
) -> None:
    commands.good("account", "add", "alice", "--password", "secret")
    with server(tmp_path / "c") as lines:
        printed = commands.good(*words.split()).stderr
    assert lines[0] == "reload accounts"
    name, _, value = lines[1].partition(" ")
    assert name == "changed"
    change = json.loads(value)
    assert change["command"] == act
    assert result in change["result"]
    assert "no running server" not in printed


def test_without_a_server_the_line_is_printed(commands: CommandLine) -> None:
    commands.good("account", "add", "alice", "--password", "secret")
    printed = commands.good("account", "ban", "alice", "--reason", "gold selling").stderr
    who = f"command of {getpass.getuser()} (emu): account ban alice gold selling: account alice"
    assert f"no running server has this in its log: {who} is banned" in printed


def test_a_server_that_refuses_the_report_has_not_heard_it(
    commands: CommandLine, tmp_path: Path
) -> None:
    commands.good("account", "add", "alice", "--password", "secret")
    with server(tmp_path / "c", lambda line: Reply(ok=not line.startswith("changed"))):
        printed = commands.good("account", "disable", "alice").stderr
    assert "no running server has this in its log" in printed
