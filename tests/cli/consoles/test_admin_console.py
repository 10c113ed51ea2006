from __future__ import annotations

from pathlib import Path

from tests.cli.consoles.test_admin import commands, server
from tests.support.running.command_line import CommandLine

__all__ = ["commands"]


def test_lines_from_a_pipe_are_run_until_the_end(commands: CommandLine, tmp_path: Path) -> None:
    with server(tmp_path / "c") as lines:
        result = commands.good("world", "console", stdin="status\n\n who all \nexit\nnever\n")
    assert lines == ["status", "who all"]
    assert result.stdout == "did status\ntwice\ndid who all\ntwice\n"


def test_one_that_fails_makes_the_status_1_and_does_not_end_it(
    commands: CommandLine, tmp_path: Path
) -> None:
    with server(tmp_path / "c") as lines:
        result = commands.run("world", "console", stdin="kick Bob\nstatus\n")
    assert lines == ["kick Bob", "status"]
    assert result.exit_code == 1
    assert result.stderr == "there is no player Bob\n"
