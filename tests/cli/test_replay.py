"""`emu replay`: events as lines, where it stops, and whether they are those that happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.net.client.world_connection import ClientWorldConnection
from tests.simulation.content import KEEPER_SCRIPT, SCRIPT, content_file, scripts_folder
from tests.support.running.command_line import CommandLine
from tests.support.world.recorded_play import RecordedPlay

pytestmark = pytest.mark.slow


async def speak(client: ClientWorldConnection) -> None:
    client.command("say good morning")
    await client.pause(46.0)  # until the keeper of the content has counted
    client.command("bug it rains")
    await client.pause(1.0)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    [path] = RecordedPlay(tmp_path_factory.mktemp("played")).play(70.0, speak)
    return path


@pytest.fixture
def emu(emu: CommandLine) -> CommandLine:
    with emu.config.open("a", encoding="utf-8") as file:
        file.write(f'[world]\ncontent = "{content_file()}"\nscripts = "{scripts_folder()}"\n')
    return emu


def test_the_events_are_printed_and_compared(emu: CommandLine, recording: Path) -> None:
    done = emu.good("replay", str(recording))
    assert done.stderr.startswith("IsleRefuge1: ")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["0.120", "ClientLoaded", "Simonea"]
    assert lines[-1].split()[1:] == ["FaultReported", "Simonea", "number=1"]
    assert done.stderr.splitlines()[-1] == f"the same as happened: {len(lines)} events"
    then = emu.good("replay", str(recording), "--as-recorded")
    assert then.stdout == done.stdout


def test_it_stops_at_a_time_and_at_a_type_of_event(emu: CommandLine, recording: Path) -> None:
    done = emu.good("replay", str(recording), "--until", "1")
    assert "Entered" in done.stdout
    assert "FaultReported" not in done.stdout
    assert "the same as happened" in done.stderr
    lines = emu.good("replay", str(recording), "--break", "Spoken").stdout.splitlines()
    assert lines[-3].endswith("Simonea text='good morning'")
    assert lines[-2].startswith("stopped at ")
    assert lines[-1].startswith("Simonea at ")
    refused = emu.refused("replay", str(recording), "--break", "Rain")
    assert refused == "there is no event Rain"


def test_the_first_difference_is_printed(emu: CommandLine, recording: Path, tmp_path: Path) -> None:
    path = tmp_path / SCRIPT
    path.parent.mkdir(parents=True)
    path.write_text(KEEPER_SCRIPT.replace("I count", "I lose"), encoding="utf-8")
    done = emu.run("replay", str(recording), "--scripts", str(tmp_path))
    assert done.exit_code == 1
    then, now = done.stderr.splitlines()[-2:]
    assert "I count" in then
    assert now.split() == [*["now"], *then.replace("I count", "I lose").split()[1:]]


def test_a_file_of_another_kind_is_refused(emu: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("a text", encoding="utf-8")
    assert emu.refused("replay", str(path)).endswith("this is no recording of a zone")
