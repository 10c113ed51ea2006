"""The blocking client against a session of ours in a thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from emu.cli.consoles.rcon_socket import RconSocket
from emu.config import Address
from emu.errors import CommandError
from emu.limits.failures import FailureRules, Failures
from tests.admin.rcon.test_session import LETTERS, Door


@contextmanager
def server(said: bytes | None = None) -> Iterator[Address]:
    """Serve one connection: by a session, or with bytes that are something else."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            peer, _ = listening.accept()
            door = Door(failures=Failures(FailureRules(delay=0.0)))
            with peer:
                while data := peer.recv(4096):
                    if said is not None:
                        peer.sendall(said)
                        return
                    peer.sendall(b"".join(door.send(data) + door.wait(0.0)))

        thread = threading.Thread(target=serve)
        thread.start()
        yield Address("127.0.0.1", listening.getsockname()[1])
        thread.join(5)


def test_long_answers_and_letters() -> None:
    with server() as address, RconSocket(address, "sekret", 5.0) as rcon:
        assert rcon.run("big10000") == (LETTERS * 385)[:10_000]
        assert rcon.run("echo ünter") == "ünter"


def test_a_wrong_password() -> None:
    with server() as address, pytest.raises(CommandError, match="the password is refused"):
        RconSocket(address, "wrong", 5.0)


@pytest.mark.parametrize(
    ("said", "told"), [(b"HTTP/1.1 400 Bad\r\n", "is that RCON"), (b"", "closed the connection")]
)
def test_something_else_is_told(said: bytes, told: str) -> None:
    with server(said) as address, pytest.raises(CommandError, match=told):
        RconSocket(address, "sekret", 5.0)


def test_nobody_there() -> None:
    with pytest.raises(CommandError, match="cannot connect"):
        RconSocket(Address("127.0.0.1", 1), "sekret", 1.0)
