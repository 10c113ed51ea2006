"""Commands under test find no configuration and no database but those of their test."""

from pathlib import Path

import pytest

from tests.support.running.command_line import CommandLine


@pytest.fixture(autouse=True)
def nothing_of_ones_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Keep the developer's own settings out: those that `make run` made, and the home folder's."""
    monkeypatch.delenv("EMU_CONFIG", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))


@pytest.fixture
def emu(tmp_path: Path) -> CommandLine:
    """The commands, on a database of the test's own."""
    return CommandLine(tmp_path)
