"""RCON on a running server: many commands, silence, and what is not allowed."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.endpoints import TCP4ClientEndpoint, connectProtocol
from twisted.internet.protocol import Protocol

from emu.admin.rcon import Answered, LoginAnswered, PacketType, RconClient, RconPacket
from tests.support.running.whole_server import HOST, Harness, find_port, harness, reactor, until

SETTINGS = {"rcon.listen": f"{HOST}:0", "rcon.password": "sekret"}


def rcon_port(server: Harness) -> int:
    return find_port(server.log.text, "rcon", "administrators on TCP")


class Connection(Protocol):
    """Our client on a real connection."""

    def __init__(self) -> None:
        self.client = RconClient()
        self.events: list[Any] = []
        self.lost = False

    def dataReceived(self, data: bytes) -> None:
        self.events += self.client.receive_data(data)

    def connectionLost(self, reason: object = None) -> None:
        self.lost = True

    def write(self, data: bytes) -> None:
        transport: Any = self.transport
        transport.write(data)

    async def run(self, line: str) -> str:
        done = len(self.events)
        self.write(self.client.command(line))
        await until(lambda: len(self.events) > done, f"the answer to {line}")
        answered = self.events[-1]
        assert isinstance(answered, Answered)
        return answered.text


async def connected(port: int) -> Connection:
    connection: Connection = await connectProtocol(
        TCP4ClientEndpoint(reactor, HOST, port), Connection()
    )
    return connection


async def logged_in(port: int, password: str = "sekret") -> Connection:
    connection = await connected(port)
    connection.write(connection.client.log_in(password))
    await until(lambda: connection.events, "the login")
    assert connection.events == [LoginAnswered(ok=True)]
    return connection


async def test_without_a_password_it_is_closed_and_says_so(tmp_path: Path) -> None:
    async with harness(tmp_path) as server:
        await server.log.line(r"rcon: closed: rcon.password and rcon.users_file are not set")
        with pytest.raises(AssertionError):
            rcon_port(server)


async def test_users_have_roles_and_every_use_is_logged(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text("bert guide other\n")
    async with harness(tmp_path, {**SETTINGS, "rcon.users_file": users}) as server:
        guide = await logged_in(rcon_port(server), "other")
        assert await guide.run("shutdown 5") == "shutdown needs rank 200; yours is 10"
        assert (await guide.run("status")).startswith("hostname: Norrath")
        admin = await logged_in(rcon_port(server))
        assert await admin.run("account add carol s3cret") == "added account carol with the id 2"
        await server.log.line(
            r"admin: command of bert \(rcon 127.0.0.1\): shutdown 5: shutdown needs"
        )
        await server.log.line(
            r"command of rcon \(rcon 127.0.0.1\): account add carol \*\*\*: added"
        )
        assert "s3cret" not in server.log.text
        client = await server.logged_in("carol", "s3cret")
        await admin.run("account ban carol 1h spam")
        await until(
            lambda: not server.service.server.login.service.logged_in, "carol to be sent away"
        )
        await client.stop()


@pytest.fixture
def _many_files() -> Iterator[None]:
    """Let this process hold both sides of a thousand connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("too few file descriptors may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("_many_files")
async def test_a_thousand_connections_of_which_ten_speak(tmp_path: Path) -> None:
    async with harness(tmp_path, SETTINGS) as server:
        port = rcon_port(server)
        silent = []
        try:
            for _ in range(990):
                silent.append(socket.create_connection((HOST, port)))
            rcon = server.service.server.admin.rcon
            await until(lambda: len(rcon.connections) == 990, "all to be taken")
            ten = [await logged_in(port) for _ in range(10)]
            for one in ten:
                assert await one.run("echo here") == "here"
            assert len(rcon.connections) == 1000
        finally:
            for each in silent:
                each.close()


async def test_silence_half_a_packet_and_garbage_are_closed(tmp_path: Path) -> None:
    async with harness(tmp_path, SETTINGS, speed=40.0) as server:
        port = rcon_port(server)
        silent, half, garbage = [await connected(port) for _ in range(3)]
        half.write(b"\x10\0\0\0\1")
        garbage.write(b"GET / HTTP/1.1\r\n\r\n")
        await until(lambda: garbage.lost, "garbage to be closed")
        await until(lambda: silent.lost and half.lost, "the others to be closed")
        ended = server.service.server.admin.rcon.uses.ended
        assert ended == {"packet too large": 1, "not logged in in time": 2}


async def test_one_that_does_not_read_is_cut_off(tmp_path: Path) -> None:
    async with harness(tmp_path, SETTINGS) as server:
        port = rcon_port(server)
        deaf = socket.create_connection((HOST, port))
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(RconPacket(1, PacketType.AUTH, b"sekret").encode())
        deaf.setblocking(False)
        command = RconPacket(2, PacketType.EXECCOMMAND, b"cvarlist").encode() * 500
        rcon = server.service.server.admin.rcon

        def more() -> bool:
            try:
                deaf.send(command)
            except BlockingIOError:
                pass
            except OSError:
                return True
            return bool(rcon.uses.ended["peer does not read"])

        await until(more, "it to be cut off", 20)
        assert rcon.uses.ended["peer does not read"] == 1
        deaf.close()
        assert await (await logged_in(port)).run("echo on") == "on"


async def test_pipelined_commands_are_answered_in_order(tmp_path: Path) -> None:
    async with harness(tmp_path, SETTINGS) as server:
        connection = await logged_in(rcon_port(server))
        lines = [f"echo {number}" for number in range(2000)]
        connection.write(b"".join(connection.client.command(line) for line in lines))
        await until(lambda: len(connection.events) == 2001, "all answers", 20)
        assert [one.text for one in connection.events[1:]] == [str(n) for n in range(2000)]


async def test_a_reload_lets_other_users_in(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text("bert guide other\n")
    async with harness(tmp_path, {"rcon.listen": f"{HOST}:0", "rcon.users_file": users}) as server:
        rcon = server.service.server.admin.rcon
        users.write_text("bert guide another\n")
        rcon.configure(server.service.config.rcon)
        assert await (await logged_in(rcon_port(server), "another")).run("echo a") == "a"


async def test_what_is_asked_here_is_measured(tmp_path: Path) -> None:
    async with harness(tmp_path, SETTINGS) as server:
        port = rcon_port(server)
        refused = await connected(port)
        refused.write(refused.client.log_in("wrong"))
        await until(lambda: refused.events, "the refusal")
        admin = await logged_in(port)
        for line in ("echo a", "nonsense", "status"):
            await admin.run(line)
        value = server.service.watch.measures.value
        assert value("authentications", "rcon", "refused") == 1
        assert value("authentications", "rcon", "accepted") == 1
        assert value("requests", "rcon", "done") == 2
        assert value("requests", "rcon", "refused") == 1
        assert value("connections", "rcon") == 2
        assert value("connections", "console") == 0
