"""What a service does with its session, and coroutines that it runs for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from emu.net.udp.session_port import SessionPort
from emu.session import ConnectionState, Role
from emu.times import Monotonic
from tests.support.sessions.link import connected_link


class Server:
    """A dispatcher that counts what a port requests."""

    def __init__(self) -> None:
        self.touches = 0
        self.timed_calls = 0
        self.failures: list[Failure] = []

    def now(self) -> Monotonic:
        return Monotonic(1001.0)

    def touch(self, _port: SessionPort) -> None:
        self.touches += 1

    def charge_to(self, _port: SessionPort, _account: object) -> None:
        raise NotImplementedError

    def timed(self, _port: SessionPort, work: Callable[[], object]) -> None:
        self.timed_calls += 1
        work()

    def handle_timers(self, _port: SessionPort, _now: Monotonic) -> None:
        raise NotImplementedError

    def log_failure(self, failure: Failure) -> None:
        self.failures.append(failure)


def made() -> tuple[SessionPort, Server, Any]:
    server, link = Server(), connected_link()
    return SessionPort(server, link.server, ("192.0.2.1", 4000)), server, link


def test_what_is_sent_and_ended_is_served_in_this_turn() -> None:
    port, server, link = made()
    closed: list[str] = []
    port.closing = lambda: closed.append("closing")
    port.trust()
    assert port.round_trip() is not None
    assert server.touches == 0
    port.send(4, b"x")
    port.close("the service has logged it")
    port.wake()
    assert server.touches == 3
    assert closed == ["closing"]
    link.settle()
    assert link.messages(Role.CLIENT) == [(4, b"x")]
    assert port.session.state is not ConnectionState.ESTABLISHED


def test_an_error_in_a_coroutine_is_logged_and_ends_the_session() -> None:
    port, server, _ = made()
    gate: Deferred[None] = Deferred()

    async def work() -> None:
        await gate
        raise ZeroDivisionError

    port.start(work())
    assert port.session.state is ConnectionState.ESTABLISHED
    gate.callback(None)
    assert port.session.state is ConnectionState.CLOSING
    assert [failure.type for failure in server.failures] == [ZeroDivisionError]


def test_the_work_of_a_coroutine_after_a_wait_is_charged_to_its_session() -> None:
    port, server, _ = made()
    first, second = Deferred[None](), Deferred[None]()

    async def work() -> None:
        await first
        await second

    port.start(work())
    assert server.timed_calls == 0  # its start is part of the caller's time
    first.callback(None)
    second.callback(None)
    assert server.timed_calls == 2
