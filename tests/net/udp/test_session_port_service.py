"""What a service does with its session, and coroutines that it runs for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from emu.net.udp.session_port import MOST_LATER, SessionPort
from emu.session import ConnectionState, Role
from emu.times import Monotonic
from tests.support.sessions.link import connected_link


class Server:
    """A dispatcher that counts what a port requests."""

    def __init__(self) -> None:
        self.touches = 0
        self.releases = 0
        self.timed_calls = 0
        self.failures: list[Failure] = []

    def now(self) -> Monotonic:
        return Monotonic(1001.0)

    def touch(self, _port: SessionPort) -> None:
        self.touches += 1

    def release_later(self, _port: SessionPort) -> None:
        self.releases += 1

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


def test_messages_that_may_wait_leave_in_order_with_the_next_one() -> None:
    port, server, link = made()
    port.send_later(4, b"one")
    port.send_later(5, b"two")
    assert (server.touches, server.releases) == (0, 1)
    link.settle()
    assert link.messages(Role.CLIENT) == []
    port.send(6, b"three")
    assert server.touches == 1
    link.settle()
    assert link.messages(Role.CLIENT) == [(4, b"one"), (5, b"two"), (6, b"three")]
    port.release()
    assert server.touches == 1, "nothing is held back any more"


def test_a_datagram_full_of_messages_does_not_wait() -> None:
    port, server, _ = made()
    port.send_later(4, bytes(MOST_LATER - 1))
    assert server.touches == 0
    port.send_later(4, b"x")
    assert server.touches == 1
    port.send_later(4, b"y")
    assert server.touches == 1, "the next one waits again"


def test_what_is_held_back_leaves_before_the_end() -> None:
    port, _, link = made()
    port.send_later(4, b"last words")
    port.close()
    link.settle()
    assert link.messages(Role.CLIENT) == [(4, b"last words")]


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
