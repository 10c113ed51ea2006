from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.cli.console_socket import ConsoleSocket, NoServer
from emu.errors import CommandError
from tests.cli.consoles.test_admin import server


def test_lines_are_run_one_after_the_other(tmp_path: Path) -> None:
    with server(tmp_path / "c") as lines, ConsoleSocket(tmp_path / "c") as console:
        assert console.run("status").lines == ("did status", "twice")
        assert not console.run("kick Bob").ok
    assert lines == ["status", "kick Bob"]


@pytest.mark.parametrize(
    ("said", "reported"), [(b"", "has closed the console"), (b"220 hi\r\n", "another program")]
)
def test_something_else_is_reported(tmp_path: Path, said: bytes, reported: str) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "c"))
        listening.listen()

        def serve() -> None:
            peer, _ = listening.accept()
            with peer:
                peer.recv(4096)
                peer.sendall(said)

        thread = threading.Thread(target=serve)
        thread.start()
        with ConsoleSocket(tmp_path / "c") as console, pytest.raises(CommandError, match=reported):
            console.run("status")
        thread.join(5)


def test_one_that_is_not_there_is_distinguished_from_one_that_says_nothing(tmp_path: Path) -> None:
    with pytest.raises(NoServer, match="is it running"):
        ConsoleSocket(tmp_path / "c")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "c"))
        listening.listen()
        with (
            ConsoleSocket(tmp_path / "c", timeout=0.05) as console,
            pytest.raises(CommandError, match="does not answer") as found,
        ):
            console.run("status")
    assert not isinstance(found.value, NoServer)


@pytest.fixture
def unknown_peer(tmp_path: Path) -> Iterator[Path]:
    """A folder that this process may not look into."""
    tmp_path.chmod(0)
    if os.geteuid() == 0:
        os.seteuid(65534)
        yield tmp_path
        os.seteuid(0)
    else:
        yield tmp_path
    tmp_path.chmod(0o700)


def test_another_user_s_server_is_sent_from_none(unknown_peer: Path) -> None:
    with pytest.raises(CommandError, match="belongs to another user") as found:
        ConsoleSocket(unknown_peer / "c")
    assert not isinstance(found.value, NoServer)
