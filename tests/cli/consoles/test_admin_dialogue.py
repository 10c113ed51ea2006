"""The prompt itself, typed at through a pipe that stands for a terminal."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from emu.cli.consoles.admin import CommandAnswer, ServerCompleter, converse
from emu.errors import CommandError


@pytest.fixture
def _wakeup() -> Iterator[None]:
    """Give the reactor back by what it learns of signals; the prompt's own loop takes it."""
    ours = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(ours, warn_on_full_buffer=False)
    yield
    signal.set_wakeup_fd(ours, warn_on_full_buffer=False)


@pytest.mark.usefixtures("_wakeup")
def test_a_prompt_with_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    asked: list[str] = []

    def ask(line: str) -> CommandAnswer:
        asked.append(line)
        return CommandAnswer(f"did {line}", ok=line != "kick")

    for typed in ("status\r\x03kick\r\x04", " save \r\rquit\r"):
        with create_pipe_input() as keys, create_app_session(keys, DummyOutput()):
            keys.send_text(typed)
            assert converse(ask, "emu> ")
    assert asked == ["status", "kick", "save"]
    assert "did kick" in capsys.readouterr().err
    history = tmp_path / "eq2emu" / "console_history"
    assert history.stat().st_mode & 0o077 == 0
    kept = [line[1:].strip() for line in history.read_text().splitlines() if line[:1] == "+"]
    assert kept == ["status", "kick", "save", "quit"]


@pytest.mark.parametrize(
    ("text", "asked", "found"),
    [
        ("st", "complete st", [("status", -2), ("stop", -2)]),
        ("", 'complete ""', [("kick", 0), ("status", 0), ("stop", 0)]),
        ("kick ", 'complete kick ""', [("kick", 0), ("status", 0), ("stop", 0)]),
    ],
)
def test_completion_asks_the_server(text: str, asked: str, found: list[tuple[str, int]]) -> None:
    lines: list[str] = []

    def ask(line: str) -> CommandAnswer:
        lines.append(line)
        return CommandAnswer("\n".join(word for word, _ in found))

    completions = ServerCompleter(ask).get_completions(Document(text), CompleteEvent())
    assert [(one.text, one.start_position) for one in completions] == found
    assert lines == [asked]


def test_a_server_that_cannot_complete_or_is_gone_says_nothing() -> None:
    def gone(_line: str) -> CommandAnswer:
        raise CommandError("gone")

    others = (
        CommandAnswer("no such command", ok=False),
        CommandAnswer("Unknown command"),
        CommandAnswer("status\nno list"),
    )
    for ask in (gone, *(lambda _line, reported=reported: reported for reported in others)):
        assert list(ServerCompleter(ask).get_completions(Document("st"), CompleteEvent())) == []
