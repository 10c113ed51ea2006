import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emu.cli.installed import install_command
from emu.cli.watch import top
from emu.commands import Reply
from tests.cli.consoles.test_admin import server
from tests.support.admin.snapshots import Measured
from tests.support.running.command_line import CommandLine


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setattr(top.time, "sleep", lambda _seconds: None)  # type: ignore[attr-defined]
    return CommandLine(tmp_path)


def busier() -> Callable[[str], Reply]:
    """Return the answers of a server with five logins a second."""
    measured, times = Measured(), iter([10.0, 12.0])

    def answer(_line: str) -> Reply:
        measured.logins.add("accepted", by=10)
        return Reply((), measured.value(next(times)))

    return answer


@pytest.mark.parametrize("words", [["top", "--once"], ["top"]])
def test_behind_a_pipe_it_is_one_frame(commands: CommandLine, words: list[str]) -> None:
    with server(Path(f"{commands.database}.console"), busier()) as lines:
        shown = commands.good(*words).stdout
    assert lines == ["snapshot", "snapshot"]
    assert "logins 5/s" in shown
    assert "Qeynos Harbor" in shown
    assert "Zoë" in shown


def test_without_a_server_it_says_so(commands: CommandLine) -> None:
    assert "no server can be reached" in commands.refused("top", "--once")


def test_without_textual_it_says_what_to_install(
    commands: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(top, "is_terminal", lambda: True)
    found = importlib.util.find_spec

    def missing(name: str, *more: Any) -> Any:
        return None if name == "textual" else found(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", missing)
    assert f"install it with: {install_command('editor')}" in commands.refused("top")
