"""Who is let connect; what is said is tested in tests/admin/rcon and tests/server."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from emu.admin.rcon import RconPacket, UserCame, WrongPassword
from emu.commands import Registry
from emu.config import RconConfig
from emu.errors import ConfigError
from emu.net.admin.commands import RconConnection, RconServer, rcon_users
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch
from tests.support.running.whole_server import captured_log


class Transport(StringTransport):
    def setTcpNoDelay(self, enabled: bool) -> None: ...

    def setTcpKeepAlive(self, enabled: bool) -> None: ...

    def abortConnection(self) -> None:
        self.disconnecting = True


class Port:
    def __init__(self, **settings: Any) -> None:
        self.clock = Clock()
        config = RconConfig(**{"password": "sekret"} | settings)
        self.watch = Watch()
        self.server = RconServer(config, Registry(), self.clock, Scheduler(self.clock), self.watch)

    def connect(self, host: str = "192.0.2.1") -> RconConnection | None:
        connection = self.server.buildProtocol(SimpleNamespace(host=host))  # type: ignore[arg-type]
        if connection is not None:
            connection.makeConnection(Transport())
        return connection


def test_users_are_the_password_and_those_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text("bert guide other\n")
    users = rcon_users(RconConfig(password="sekret", users_file=file))
    assert [users.find(word).name for word in (b"sekret", b"other")] == ["rcon", "bert"]  # type: ignore[union-attr]
    assert len(rcon_users(RconConfig())) == 0


@pytest.mark.parametrize("text", [None, "bert king other"])
def test_a_file_that_cannot_be_used_is_a_problem_of_the_configuration(
    tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / "users"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ConfigError, match=r"rcon\.users_file"):
        rcon_users(RconConfig(users_file=file))


def test_a_guessing_address_is_not_let_connect() -> None:
    port = Port(banned_after=2)
    connection = port.connect()
    assert connection is not None
    with captured_log("text") as log:
        for delay in (1.0, 2.0):
            connection.dataReceived(RconPacket(1, 3, b"wrong").encode())
            port.clock.advance(delay)
    text = "192.0.2.1 is banned for 600 s after 2 wrong passwords; emu admin needs no password"
    assert [line.split("rcon: ")[1] for line in log.text.splitlines()] == [
        "wrong password from 192.0.2.1",
        text,
    ]
    assert port.connect() is None
    assert port.connect("192.0.2.2") is not None
    assert port.server.uses.counted() == {"logins refused": 2, "banned": 1}
    port.clock.advance(601.0)
    assert port.connect() is not None


def test_who_logs_in_and_who_guesses_is_reported() -> None:
    port = Port()
    reported: list[object] = []
    port.watch.reports.subscribe(lambda report: reported.append(report.event), "rcon")
    first, second = port.connect(), port.connect("192.0.2.2")
    assert first is not None
    assert second is not None
    first.dataReceived(RconPacket(1, 3, b"sekret").encode())
    second.dataReceived(RconPacket(1, 3, b"wrong").encode())
    assert reported == [UserCame("rcon", "192.0.2.1"), WrongPassword("192.0.2.2")]


def test_silent_ones_make_space_and_those_who_logged_in_stay() -> None:
    port = Port(max_connections=2)
    first, second = port.connect(), port.connect("192.0.2.2")
    assert first is not None
    assert second is not None
    first.dataReceived(RconPacket(1, 3, b"sekret").encode())
    assert port.connect("192.0.2.3") is not None
    assert second.closed
    assert not first.closed
    assert port.server.uses.ended == {"replaced before login": 1}


def test_packets_ahead_of_a_login_are_few() -> None:
    port = Port()
    connection = port.connect()
    assert connection is not None
    early = RconPacket(1, 2, b"status").encode()
    connection.dataReceived(early * 16)
    assert len(connection.transport.value()) == 16 * 14
    assert not connection.closed
    connection.dataReceived(early)
    assert connection.closed
    assert port.server.uses.ended == {"not logged in": 1}
    many = port.connect()
    assert many is not None
    many.dataReceived(early * 4000)
    assert len(many.transport.value()) == 16 * 14


def test_an_address_that_logged_in_before_is_not_kept_out_by_guesses() -> None:
    port = Port(banned_after=2)

    def attempt(password: bytes, host: str) -> RconConnection | None:
        connection = port.connect(host)
        if connection is not None:
            connection.dataReceived(RconPacket(7, 3, password).encode())
            port.clock.advance(30.0)
        return connection

    for host, is_let_in in (("192.0.2.1", True), ("192.0.2.2", False)):
        if is_let_in:
            attempt(b"sekret", host)
        for _ in range(2):
            attempt(b"wrong", host)
        again = attempt(b"sekret", host)
        assert (again is not None) is is_let_in
    assert port.server.uses.logins == {"accepted": 2, "refused": 4}
