"""Commands that moderate report what they have done to the server that runs, or print it."""

from __future__ import annotations

import getpass
import json
from pathlib import Path

import pytest

from tests.cli.consoles.test_admin import commands, server
from tests.support.running.command_line import CommandLine

__all__ = ["commands"]

CHANGES = [
    ("account ban alice --for 7d --reason gold", "account alice", "alice' is banned until", "gold"),
    ("account unban alice", "account alice", "alice' is not banned", ""),
    ("account password alice --password new", "account alice", "new password", ""),
    ("account disable alice", "account alice", "alice' is disabled", ""),
    ("account enable alice", "account alice", "alice' is enabled", ""),
    ("account remove alice", "account alice", "removed account 'alice'", ""),
    (
        "account address ban 192.0.2 --reason bots",
        "address 192.0.2",
        "is banned until",
        "bots",
    ),
]


@pytest.mark.parametrize(("words", "subject", "result", "reason"), CHANGES)
def test_the_server_that_runs_and_the_audit_get_the_change_with_its_reason(
    commands: CommandLine, tmp_path: Path, words: str, subject: str, *, result: str, reason: str
) -> None:  # fmt: skip
    commands.good("account", "add", "alice", "--password", "secret")
    commands.notice = 60.0  # a thread may wait long on a busy machine
    with server(tmp_path / "c") as lines:
        assert result in commands.good(*words.split()).stderr
    assert lines[1] == "reload accounts"
    name, _, value = lines[0].partition(" ")
    assert name == "changed"
    change = json.loads(value)
    assert (change["subject"], change["reason"]) == (subject, reason)
    assert result in change["result"]
    assert words.startswith(change["command"])
    assert "--password" not in change["line"]
    stored = commands.rows("audit")[0]
    assert (stored["who"], stored["way"]) == (getpass.getuser(), "emu")
    assert stored["subject"] == subject
    assert stored["reason"] == reason


def test_a_change_that_fails_is_not_in_the_audit(commands: CommandLine) -> None:
    commands.good("account", "add", "alice", "--password", "secret")
    before = commands.rows("audit")
    assert "is not banned" in commands.refused("account", "address", "unban", "10.0")
    assert commands.rows("audit") == before
