"""What a handler asks of its session's port."""

from __future__ import annotations

from typing import Any

from twisted.python.failure import Failure

from emu.net.udp.session_port import BUSY, LATE, SessionPort
from emu.times import Monotonic
from tests.support.sessions.link import connected_link


class Asked:
    """A dispatcher that remembers what it is asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def now(self) -> Monotonic:
        return Monotonic(1001.0)

    def touch(self, port: SessionPort) -> None:
        port.touched = True
        self.calls.append(("touch",))

    def charge_to(self, _port: SessionPort, account: object) -> None:
        self.calls.append(("charge to", account))

    def timed(self, _port: SessionPort, work: Any) -> None:
        self.calls.append(("timed",))
        work()

    def handle_timers(self, _port: SessionPort, now: Monotonic) -> None:
        self.calls.append(("timers", now))

    def log_failure(self, failure: Failure) -> None:
        self.calls.append(("failure", failure))


def made() -> tuple[SessionPort, Asked]:
    asked = Asked()
    return SessionPort(asked, connected_link().server, ("192.0.2.1", 4000)), asked


def test_what_is_asked_reaches_the_dispatcher_once() -> None:
    port, asked = made()
    port.touch()
    port.touch()
    port.charge_to(7)
    port.timed(lambda: asked.calls.append(("work",)))
    port.handle_timer(Monotonic(5.0))
    assert asked.calls == [("touch",), ("charge to", 7), ("timed",), ("work",), ("timers", 5.0)]
    assert port.capacity() > 0


def test_a_handler_that_is_no_longer_busy_has_its_session_served() -> None:
    port, asked = made()
    port.set_busy(busy=False)
    assert asked.calls == []
    port.holds = LATE
    port.set_busy(busy=True)
    assert port.holds == BUSY | LATE
    port.set_busy(busy=False)
    assert port.holds == LATE
    assert asked.calls == [("touch",)]


def test_work_of_other_threads_waits_to_be_charged() -> None:
    port, _ = made()
    port.charge(0.001)
    port.charge(0.002)
    assert port.spent == 0.003
