"""The shell's prompt: completion, history, and a real terminal."""

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from emu.cli.client.world import LineCompleter, history_file
from emu.client.world import ClientWorldMessages, WorldClientCore, WorldHandoff
from tests.support.running.emu_process import emu_on_terminal
from tests.support.running.whole_server import HOST, harness
from tests.support.world.ghost_views import dialect


def completed(text: str) -> list[tuple[str, int]]:
    core = WorldClientCore(ClientWorldMessages(dialect(546)), WorldHandoff(HOST, 1, 1, 2))
    core.commands = {"say": 7, "shout": 10, "who": 41}
    found = LineCompleter(core).get_completions(Document(text), CompleteEvent())
    return [(one.text, one.start_position) for one in found]


def test_words_and_the_worlds_commands_are_completed() -> None:
    assert completed("s") == [(w, -1) for w in ("say", "shout", "sit", "stand", "stop")]
    assert completed("/s") == [("/say", -2), ("/shout", -2)]
    assert completed("look B") == []


def test_history_has_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert history_file() == tmp_path / "state" / "eq2emu" / "client_history"
    assert history_file().parent.is_dir()


@pytest.mark.slow
async def test_a_person_types_on_a_terminal(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        await server.world_registered()
        shown = await emu_on_terminal(
            tmp_path, "client", "shell", f"{HOST}:{server.login_port}", "--user", "testlabs",
            "--password", "testpass", "--character", "Testa", "--create",
            keys=[("\x1b[?2004h", "say hello\r"), ("Testa: hello", "whe\t"), ("re", "\r"),
                  ("heading", "quit\r")],
        )  # fmt: skip
        assert "Isle of Refuge: " in shown
        await server.log.line("Testa from 127.0.0.1 left")
    history = (tmp_path / "eq2emu" / "client_history").read_text()
    assert "+say hello" in history
