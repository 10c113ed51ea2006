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
from twisted.internet.endpoints import (
    TCP4ClientEndpoint,
    UNIXClientEndpoint,
    connectProtocol,
)
from twisted.internet.protocol import Protocol

from emu.admin.console import ConsoleFile
from emu.commands import Call, Command, Registry, Use
from emu.errors import StoreError
from emu.net.admin import commands
from emu.net.admin.commands import ConsoleConnection, ConsoleServer
from emu.net.scheduler import Scheduler
from tests.support.running.whole_server import reactor, until
from tools.ports import free_port


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


class Stub(ConsoleConnection):
    """A connection that remembers whether it was closed."""

    is_cut = False

    def cut_off(self, reason: str) -> None:
        self.is_cut = True


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


# Twisted leaves a socket whose file is gone to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_a_removed_socket_file_keeps_no_connection_from_being_closed(path: Path) -> None:
    server, _ = console()
    server.listen(path)
    peer: Any = await connectProtocol(UNIXClientEndpoint(reactor, str(path)), Peer())
    await until(lambda: len(server.connections), "the connection")
    path.unlink()  # noqa: ASYNC240
    await server.stop()
    await until(lambda: peer.lost, "the end")


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
def test_a_folder_that_is_not_there_is_reported(path: Path) -> None:
    before = os.umask(0o022)
    os.umask(before)
    with pytest.raises(StoreError, match=r"cannot listen there .* set console\.path"):
        console()[0].listen(path / "x" / "console")
    assert os.umask(before) == before


async def test_idle_consoles_make_space_and_one_that_is_used_stays(path: Path) -> None:
    server, _ = console()
    server.most = 5
    server.listen(path)
    peers: list[Any] = []
    for _ in range(12):
        peer: Any = await connectProtocol(UNIXClientEndpoint(reactor, str(path)), Peer())
        peer.transport.write(b"hello\n")
        await until(lambda: peer.data or peer.lost, "a reply")  # noqa: B023
        assert peer.data
        peers.append(peer)
    assert len(server.connections) == 5
    await until(lambda: sum(one.lost for one in peers) == 7, "the oldest to go")
    assert [one.lost for one in peers] == [True] * 7 + [False] * 5
    assert server.uses.ended == {"idle and replaced": 7}
    peers[7].transport.write(b"hello\n")
    await until(lambda: peers[7].data.count(b"\n") == 2, "another reply")
    await connectProtocol(UNIXClientEndpoint(reactor, str(path)), Peer())
    await until(lambda: peers[8].lost, "the one that was idle for longest")
    await server.stop()
    await until(lambda: all(one.lost for one in peers), "the end")
    await until(lambda: not len(server.connections), "the last one")


def test_another_user_has_a_quarter_of_the_places_and_none_of_the_owners() -> None:
    server, _ = console()
    server.most = 8
    own, others = [], []
    for _ in range(4):
        own.append(Stub(server))
        assert server.takes(own[-1], os.geteuid())
    for _ in range(9):
        others.append(Stub(server))
        assert server.takes(others[-1], 4_000_000)
    assert not any(one.is_cut for one in own)
    assert [one.is_cut for one in others] == [True] * 7 + [False] * 2
    for _ in range(2):
        assert server.takes(Stub(server), os.geteuid())
    assert len(server.connections) == 8
    assert server.takes(Stub(server), os.geteuid())
    assert len(server.connections) == 8


@pytest.fixture
def without_socket_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "HAS_SOCKET_FILES", False)


def write(path: Path, text: str) -> None:
    path.write_text(text)


def file_at(path: Path) -> ConsoleFile | None:
    return ConsoleFile.parse(path.read_text()) if path.exists() else None


@pytest.mark.usefixtures("without_socket_files")
async def test_without_socket_files_a_port_asks_for_what_the_file_says(path: Path) -> None:
    server, uses = console()
    server.listen(path)
    assert mode(path) == 0o600
    file = file_at(path)
    assert file is not None
    at = TCP4ClientEndpoint(reactor, "127.0.0.1", file.port)
    peer: Any = await connectProtocol(at, Peer())
    peer.transport.write(f"{file.token}\nhello\n".encode())
    await until(lambda: peer.data, "a reply")
    assert json.loads(peer.data)["lines"] == [f"hello {getpass.getuser()}"]
    other: Any = await connectProtocol(at, Peer())
    other.transport.write(b"hello\n")
    await until(lambda: other.lost, "the end of who has no token")
    assert other.data == b""
    assert server.uses.ended == {"wrong token": 1}
    with pytest.raises(StoreError, match="another server listens there"):
        console()[0].listen(path)
    await server.stop()
    await until(lambda: peer.lost and not len(server.connections), "the end")
    assert file_at(path) is None
    assert len(uses) == 1


@pytest.mark.usefixtures("without_socket_files")
async def test_the_file_of_a_server_that_is_gone_is_replaced(path: Path) -> None:
    write(path, ConsoleFile(free_port(), "old").written())
    server, _ = console()
    server.listen(path)
    found = file_at(path)
    assert found is not None
    assert found.token != "old"
    await server.stop()


@pytest.mark.usefixtures("without_socket_files")
def test_the_file_of_something_else_stays(path: Path) -> None:
    write(path, "mine")
    with pytest.raises(StoreError, match="is no socket"):
        console()[0].listen(path)
    assert path.read_text() == "mine"
