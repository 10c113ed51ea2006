"""The console's socket: who may use it, and what becomes of one that was left behind."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.endpoints import UNIXClientEndpoint, connectProtocol
from twisted.internet.protocol import Protocol

from emu.commands import Call, Command, Registry, Use
from emu.errors import StoreError
from emu.net.admin.console import ConsoleServer
from emu.net.scheduler import Scheduler
from tests.support.running.whole_server import reactor, until


@pytest.fixture
def path() -> Iterator[Path]:
    """A short name: a socket's may have 107 bytes."""
    folder = Path(tempfile.mkdtemp())
    yield folder / "console"
    shutil.rmtree(folder)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def console() -> tuple[ConsoleServer, list[Use]]:
    uses: list[Use] = []
    registry = Registry(uses.append)

    async def hello(call: Call) -> str:
        return f"hello {call.caller.name}"

    registry.add(Command("hello", "x", hello, rank=1000))
    return ConsoleServer(registry, reactor, Scheduler(reactor)), uses


class Peer(Protocol):
    def __init__(self) -> None:
        self.data = b""
        self.lost = False

    def dataReceived(self, data: bytes) -> None:
        self.data += data

    def connectionLost(self, reason: object = None) -> None:
        self.lost = True


async def test_a_command_runs_in_the_name_of_the_user(path: Path) -> None:
    server, uses = console()
    server.listen(path)
    assert mode(path) == 0o600
    peer: Any = await connectProtocol(UNIXClientEndpoint(reactor, str(path)), Peer())
    peer.transport.write(b"hello\n")
    await until(lambda: peer.data, "a reply")
    assert json.loads(peer.data)["lines"] == [f"hello {getpass.getuser()}"]
    assert [(use.caller, use.origin) for use in uses] == [(getpass.getuser(), "console")]
    await server.stop()
    await until(lambda: peer.lost, "the end")
    assert path.name not in os.listdir(path.parent)  # noqa: PTH208


async def test_a_socket_that_was_left_behind_is_taken_over(path: Path) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    server, _ = console()
    server.listen(path)
    await server.stop()


async def test_a_server_that_listens_is_left_alone(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        server, _ = console()
        with pytest.raises(StoreError, match="another server listens there"):
            server.listen(path)
        assert mode(path)


def test_a_file_is_no_socket(path: Path) -> None:
    path.write_text("mine")
    with pytest.raises(StoreError, match="is no socket"):
        console()[0].listen(path)
    assert path.read_text() == "mine"


# Twisted leaves the socket that could not be bound to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_folder_that_is_not_there_is_told(path: Path) -> None:
    before = os.umask(0o022)
    os.umask(before)
    with pytest.raises(StoreError, match=r"cannot listen there .* set console\.path"):
        console()[0].listen(path / "x" / "console")
    assert os.umask(before) == before
