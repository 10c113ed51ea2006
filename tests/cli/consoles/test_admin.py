"""Commands on a server that runs: a registry behind a socket, in a thread of its own."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from emu.admin.console import ConsoleSession
from emu.admin.ports import CommandGiven
from emu.cli.consoles.admin import command_line
from emu.commands import Caller, Reply
from tests.support.running.command_line import CommandLine


def answer(line: str) -> Reply:
    if line.startswith("kick"):
        return Reply((f"there is no player {line.partition(' ')[2]}",), ok=False)
    if line == "complete st":
        return Reply(("status", "stop"), ["status", "stop"])
    return Reply((f"did {line}", "twice"), {"line": line})


@contextmanager
def server(path: Path, answer: Callable[[str], Reply] = answer) -> Iterator[list[str]]:
    """Answer consoles at a socket; yields the lines that were run."""
    lines: list[str] = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            while True:
                try:
                    peer, _ = listening.accept()
                except OSError:
                    return
                with peer:
                    session = ConsoleSession(Caller("root", 1000, "console"))
                    while data := peer.recv(4096):
                        session.receive_data(data, 0.0)
                        while isinstance(event := session.next_event(), CommandGiven):
                            lines.append(event.line)
                            session.answered(answer(event.line), 0.0)
                        peer.sendall(b"".join(session.data_to_send()))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield lines
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@pytest.fixture
def commands(tmp_path: Path) -> CommandLine:
    made = CommandLine(tmp_path)
    made.config.write_text(made.config.read_text() + f'[console]\npath = "{tmp_path}/c"\n')
    return made


def test_a_command_and_its_reply(commands: CommandLine, tmp_path: Path) -> None:
    with server(tmp_path / "c") as lines:
        assert commands.good("admin", "account", "ban", "bob", "7d", "gold selling").stdout == (
            "did account ban bob 7d gold selling\ntwice\n"
        )
        assert json.loads(commands.good("admin", "--json", "status").stdout) == {"line": "status"}
    assert lines == ["account ban bob 7d gold selling", "status"]


def test_one_that_cannot_be_done_is_reported_on_stderr_with_status_1(
    commands: CommandLine, tmp_path: Path
) -> None:
    with server(tmp_path / "c"):
        result = commands.run("admin", "kick", "Bob")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "there is no player Bob\n"


def test_without_a_server_it_says_so(commands: CommandLine) -> None:
    assert "no server can be reached" in commands.refused("admin", "status")


def test_options_of_commands_are_words(commands: CommandLine, tmp_path: Path) -> None:
    with server(tmp_path / "c") as lines:
        commands.good("admin", "move", "-1.5", "2", "3")
    assert lines == ["move -1.5 2 3"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("status",), "status"),
        (("broadcast", "hello world"), "broadcast hello world"),
        (("spawn", "A Rat", "131"), 'spawn "A Rat" 131'),
    ],
)
def test_blanks_in_words(words: tuple[str, ...], line: str) -> None:
    assert command_line(words) == line
