import json
from pathlib import Path

from emu.commands import Reply
from tests.cli.consoles.test_admin import server
from tests.support.admin.snapshots import Measured
from tests.support.running.command_line import CommandLine


def test_one_screen_for_people_and_all_for_programs(emu: CommandLine) -> None:
    measured = Measured()
    measured.drops.add("login", "bad checksum", by=3)
    value = measured.value()
    with server(Path(f"{emu.database}.console"), lambda _line: Reply((), value)):
        shown = emu.good("status").stdout
        assert json.loads(emu.good("status", "--json").stdout) == value
    assert "up 16:40" in shown
    for word in ("login.listen", "Norrath", "Qeynos Harbor", "bad checksum", "passwords 4"):
        assert word in shown
    assert len(shown.splitlines()) <= 40


def test_without_a_server_scripts_see_a_status_of_its_own(emu: CommandLine) -> None:
    result = emu.run("status")
    assert result.exit_code == 3
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("emu: ")
    assert "emu run" in line
