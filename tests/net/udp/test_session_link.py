"""What a service does with a session."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from twisted.internet.defer import Deferred
from twisted.logger import Logger

from emu.net.udp.session_link import SessionLink


class Session:
    """Remembers what is asked of it."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    def send(self, opcode: int, payload: bytes) -> None:
        self.asked.append((opcode, payload))

    def trust(self) -> None:
        self.asked.append("trust")

    def close(self) -> None:
        self.asked.append("close")

    def statistics(self) -> Any:
        return SimpleNamespace(smoothed_round_trip=0.25)


class Port:
    def __init__(self) -> None:
        self.session = Session()
        self.touches = 0
        self.timed_calls = 0
        self.busy = False

    def touch(self) -> None:
        self.touches += 1

    def room(self) -> int:
        return 77

    def timed(self, work: Callable[[], object]) -> None:
        self.timed_calls += 1
        work()

    def set_busy(self, *, busy: bool) -> None:
        self.busy = busy


def test_what_is_sent_and_ended_is_served_soon() -> None:
    port: Any = Port()
    link = SessionLink(port, Logger("test"), "failed")
    link.trust()
    assert (link.room(), link.round_trip(), port.touches) == (77, 0.25, 0)
    link.send(4, b"x")
    link.close("the service has said why")
    link.wake()
    assert port.session.asked == ["trust", (4, b"x"), "close"]
    assert port.touches == 3


def test_what_a_coroutine_raises_is_told_and_ends_the_session() -> None:
    port: Any = Port()
    told: list[Any] = []
    link = SessionLink(port, Logger("test", observer=told.append), "serving failed")  # type: ignore[arg-type]
    gate: Deferred[None] = Deferred()

    async def work() -> None:
        await gate
        raise ZeroDivisionError

    link.start(work())
    assert port.session.asked == []
    gate.callback(None)
    assert port.session.asked == ["close"]
    assert [event["log_format"] for event in told] == ["serving failed"]


def test_what_a_coroutine_does_after_waiting_is_charged_to_its_session() -> None:
    port: Any = Port()
    link = SessionLink(port, Logger("test"), "failed")
    first, second = Deferred[None](), Deferred[None]()

    async def work() -> None:
        await first
        await second

    link.start(work())
    assert port.timed_calls == 0  # whoever starts it measures that
    first.callback(None)
    second.callback(None)
    assert port.timed_calls == 2
    link.set_busy(busy=True)
    assert port.busy
