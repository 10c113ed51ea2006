import json
from pathlib import Path

import pytest

from emu.commands import Reply
from tests.cli.consoles.test_admin import server
from tests.support.command_line import CommandLine
from tests.support.snapshots import Measured


@pytest.fixture
def commands(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def test_one_screen_for_people_and_all_for_programs(commands: CommandLine) -> None:
    measured = Measured()
    measured.drops.add("login", "bad checksum", by=3)
    value = measured.value()
    with server(Path(f"{commands.database}.console"), lambda _line: Reply((), value)):
        shown = commands.good("status").stdout
        assert json.loads(commands.good("status", "--json").stdout) == value
    assert "up 16:40" in shown
    for word in ("login.listen", "Norrath", "Qeynos Harbor", "bad checksum", "passwords 4"):
        assert word in shown
    assert len(shown.splitlines()) <= 40


def test_without_a_server_scripts_see_a_status_of_its_own(commands: CommandLine) -> None:
    result = commands.run("status")
    assert result.exit_code == 3
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("emu: ")
    assert "twistd emu" in line
