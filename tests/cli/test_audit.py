"""`emu audit` lists what operators have changed, and chooses among the acts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.running.command_line import CommandLine


@pytest.fixture
def commands(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def test_the_audit_has_old_and_new_values(commands: CommandLine) -> None:
    commands.good("account", "add", "alice", "--password", "secret")
    commands.good("account", "disable", "alice")
    stored = commands.rows("audit", "account", "ALICE", "--command", "account dis")[0]
    assert (stored["before"], stored["after"]) == ("enabled", "disabled")
    assert commands.rows("audit", "account", "bob") == []
    assert commands.rows("audit", "--who", "nobody-") == []
    assert len(commands.rows("audit", "alice", "--last", "1h", "--limit", "1")) == 1
