"""The blocking client against a session of ours in a thread."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from emu.admin.rcon import RconPacket
from emu.cli.consoles import rcon as rcon_socket
from emu.cli.consoles.rcon import RconSocket
from emu.config import Address
from emu.errors import CommandError
from emu.limits.rates import FailureRules, Failures
from tests.admin.test_rcon_session import LETTERS, Listener


@contextmanager
def server(
    said: bytes | None = None, *, connections: int = 1, most: int = 1000
) -> Iterator[Address]:
    """Serve by a session, or with bytes that are something else.

    After `most` reads the server hangs up; after so many `connections` there are no more.
    """
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for _ in range(connections):
                peer, _ = listening.accept()
                with peer:
                    converse(peer)

        def converse(peer: socket.socket) -> None:
            listener = Listener(failures=Failures(FailureRules(delay=0.0)))
            for _ in range(most):
                data = peer.recv(4096)
                if not data or said is not None:
                    peer.sendall(said or b"")
                    return
                peer.sendall(b"".join(listener.send(data) + listener.wait(0.0)))

        thread = threading.Thread(target=serve)
        thread.start()
        yield Address("127.0.0.1", listening.getsockname()[1])
        thread.join(5)


def test_long_answers_and_letters() -> None:
    with server() as address, RconSocket(address, "sekret", 5.0) as rcon:
        assert rcon.run("big10000") == (LETTERS * 385)[:10_000]
        assert rcon.run("echo ünter") == "ünter"


def test_a_server_that_has_hung_up_is_called_again() -> None:
    with server(connections=3, most=2) as address, RconSocket(address, "sekret", 5.0) as rcon:
        for line in ("echo a", "echo b", "echo c"):
            assert rcon.run(line) == line[-1]
            time.sleep(0.05)  # until the end of the connection has come


def test_a_server_that_never_says_that_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rcon_socket, "NEXT_PACKET", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            peer, _ = listening.accept()
            with peer:
                for number, kind in ((1, 2), (2, 0), (4, 0)):
                    peer.recv(4096)
                    peer.sendall(RconPacket(number, kind, b"done" if kind == 0 else b"").encode())
                peer.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        address = Address("127.0.0.1", listening.getsockname()[1])
        with RconSocket(address, "sekret", 5.0) as rcon:
            assert [rcon.run("save"), rcon.run("save")] == ["done", "done"]
        thread.join(5)


def test_a_wrong_password() -> None:
    with server() as address, pytest.raises(CommandError, match="the server refuses the password"):
        RconSocket(address, "wrong", 5.0)


@pytest.mark.parametrize(
    ("said", "reported"),
    [(b"HTTP/1.1 400 Bad\r\n", "is that RCON"), (b"", "closed the connection")],
)
def test_something_else_is_reported(said: bytes, reported: str) -> None:
    with server(said) as address, pytest.raises(CommandError, match=reported):
        RconSocket(address, "sekret", 5.0)


def test_nobody_there() -> None:
    with pytest.raises(CommandError, match="cannot connect"):
        RconSocket(Address("127.0.0.1", 1), "sekret", 1.0)
