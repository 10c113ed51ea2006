import io
import socket
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import reactor as _reactor
from twisted.internet.error import CannotListenError
from twisted.logger import globalLogPublisher

from emu.errors import CommandError, LocalProtocolError
from emu.net import logs
from emu.net.login.service import LoginEndpoint, drained
from emu.net.scheduler import Scheduler
from emu.net.store import Storage
from emu.opcodes import shipped_tables
from emu.times import Monotonic
from tests.support.running.clients import connect
from tests.support.running.configs import small_config

reactor: Any = _reactor
pytestmark = pytest.mark.usefixtures("collect_garbage")


class Running:
    """A login part without a world."""

    def __init__(
        self, folder: Path, *overrides: str, clock: Any = reactor, listen: bool = True
    ) -> None:
        config = small_config(folder, "login.auto_create_accounts=yes", *overrides)
        self.storage = Storage(config.database.path, reactor, Scheduler(reactor))
        self.scheduler = Scheduler(clock)
        self.part = LoginEndpoint(config, self.storage, shipped_tables, clock, self.scheduler)
        if listen:
            self.part.listen()
            self.port = self.part._port.getHost().port

    async def stop(self) -> None:
        await self.part.stop(Monotonic(self.scheduler.now() + 5.0))
        await self.storage.close()


async def test_udp_and_tcp_share_one_port_number(tmp_path: Path) -> None:
    harness = Running(tmp_path)
    assert harness.part.links._ports[0].getHost().port == harness.port  # type: ignore[attr-defined]
    await harness.stop()


async def test_ipv6_serves_as_well_and_stands_in_brackets_in_the_log(tmp_path: Path) -> None:
    stream = io.StringIO()
    observer = logs.observer("text", stream)
    globalLogPublisher.addObserver(observer)
    harness = Running(tmp_path, "login.listen=[::1]:0", listen=False)
    try:
        harness.part.listen()
        port = harness.part._port.getHost().port
        client = await connect(reactor, "::1", port, "bob", "secret")
        await client.login()
        await client.close()
    except CannotListenError:
        pytest.skip("no IPv6 on this machine")
    finally:
        globalLogPublisher.removeObserver(observer)
        await harness.stop()
    assert f"login: clients on UDP [::1]:{port}\n" in stream.getvalue()
    assert f"link: worlds on TCP [::1]:{port}\n" in stream.getvalue()
    assert "login: login of bob from ::1, client 546\n" in stream.getvalue()


class Steered:
    """The reactor, but the first TCP ports it chooses are given ones."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = list(numbers)

    def __getattr__(self, name: str) -> Any:
        return getattr(reactor, name)

    def listenTCP(self, port: int, *arguments: Any, **more: Any) -> Any:
        number = self._numbers.pop(0) if self._numbers and not port else port
        return reactor.listenTCP(number, *arguments, **more)


LEAK = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""Twisted leaves it to the garbage collector to close a UDP socket that could not be bound."""


@LEAK
async def test_port_0_is_a_number_that_is_free_for_both(tmp_path: Path) -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as holder:
        holder.bind(("127.0.0.1", 0))
        taken = holder.getsockname()[1]
        harness = Running(tmp_path, clock=Steered(taken))
        assert harness.port != taken
        assert harness.part.links._ports[-1].getHost().port == harness.port  # type: ignore[attr-defined]
        client = await connect(reactor, "127.0.0.1", harness.port, "bob", "secret")
        await client.login()
        await client.close()
        await harness.stop()


@LEAK
async def test_a_given_port_that_is_taken_is_not_changed_for_another(tmp_path: Path) -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as holder:
        holder.bind(("127.0.0.1", 0))
        taken = holder.getsockname()[1]
        harness = Running(tmp_path, f"login.listen=127.0.0.1:{taken}", listen=False)
        with pytest.raises(CannotListenError):
            harness.part.listen()
        await harness.stop()


async def test_stopping_ends_sessions_and_keeps_their_changes(tmp_path: Path) -> None:
    harness = Running(tmp_path)
    client = await connect(reactor, "127.0.0.1", harness.port, "bob", "secret")
    await client.login()
    await harness.stop()
    assert harness.part.dispatcher.session_count == 0
    with pytest.raises((CommandError, LocalProtocolError)):
        await client.worlds()
    await client.close()


async def test_a_wrong_password_is_denied(tmp_path: Path) -> None:
    harness = Running(tmp_path)
    async with await connect(reactor, "127.0.0.1", harness.port, "bob", "secret") as client:
        await client.login()
    with pytest.raises(CommandError, match="password"):
        async with await connect(reactor, "127.0.0.1", harness.port, "bob", "wrong") as client:
            await client.login()
    await harness.stop()


async def test_draining_ends_when_patience_does() -> None:
    class Stuck:
        session_count = 1
        abandoned = False

        def abandon(self) -> None:
            self.abandoned = True

    shell = Stuck()
    await drained(shell, Scheduler(reactor), reactor.seconds() + 0.05)
    assert shell.abandoned


async def test_a_reload_changes_the_minimum_length_of_passwords(tmp_path: Path) -> None:
    harness = Running(tmp_path, "login.password_min_length=6")
    try:
        assert (await harness.part.hash_password("sixsix")).startswith("$argon2id$")
        harness.part.configure(small_config(tmp_path, "login.password_min_length=7"))
        with pytest.raises(ValueError, match="at least 7 characters"):
            await harness.part.hash_password("sixsix")
    finally:
        await harness.stop()
