"""The world's clients on a session, and its time on the scheduler."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.task import Clock
from twisted.logger import Logger, LogLevel

from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler
from emu.net.world.sessions import WorldClientHandler, WorldTimer, report_to, report_world
from emu.session import Message, SessionClosed, SessionEstablished, Writable
from emu.times import Monotonic
from emu.world.entry.zone_entry import Entered, Left, ZoneEntryRefused
from emu.world.events import PlayerRefused


class Service:
    def __init__(self) -> None:
        self.due: float | None = None
        self.handled: list[float] = []

    def get_timer(self) -> Any:
        return self.due

    def handle_timer(self, now: Monotonic) -> None:
        self.handled.append(now)
        self.due = None


def test_the_world_is_called_when_it_wants_and_not_after_the_end() -> None:
    clock = Clock()
    service: Any = Service()
    timer = WorldTimer(Scheduler(clock), lambda: service)
    service.due = 2.0
    timer.wake(Monotonic(2.0))
    clock.advance(1.5)
    assert service.handled == []
    service.due = 1.75
    timer.wake(Monotonic(1.75))
    clock.advance(0.3)
    assert len(service.handled) == 1
    service.due = 9.0
    timer.wake(Monotonic(9.0))
    timer.stop()
    clock.advance(20.0)
    assert len(service.handled) == 1
    assert clock.getDelayedCalls() == []


class Calls:
    """Whatever is called is noted by its name."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *_: self.names.append(name)


def test_each_event_of_a_session_has_its_call() -> None:
    calls = Calls()
    port: Any = SimpleNamespace(address=("127.0.0.1", 9000))
    listener: Any = SimpleNamespace(connect=lambda *_: calls)
    handler = WorldClientHandler(port, listener, Monotonic(0.0))
    for event in (Message(4, b"x"), Writable(), SessionEstablished(1), SessionClosed("done")):
        handler.handle_event(event, Monotonic(1.0))
    assert calls.names == ["message", "drained", "closed"]


def test_a_mistake_with_a_message_makes_nobody_play_on() -> None:
    class Failing(Calls):
        def message(self, *_: Any) -> None:
            raise RuntimeError("a mistake")

    calls = Failing()
    port: Any = SimpleNamespace(address=("127.0.0.1", 9000))
    listener: Any = SimpleNamespace(connect=lambda *_: calls)
    handler = WorldClientHandler(port, listener, Monotonic(0.0))
    with pytest.raises(RuntimeError):
        handler.handle_event(Message(4, b"x"), Monotonic(1.0))
    assert calls.names == ["closing"]


def test_a_session_that_we_end_is_over_for_its_visitor_at_once() -> None:
    calls = Calls()
    port: Any = SimpleNamespace(address=("127.0.0.1", 9000))
    listener: Any = SimpleNamespace(connect=lambda *_: calls)
    handler = WorldClientHandler(port, listener, Monotonic(0.0))
    port.closing()
    assert calls.names == ["closing"]
    handler.handle_event(SessionClosed("done"), Monotonic(1.0))
    port.closing()
    assert calls.names == ["closing", "closed"]


def observed() -> tuple[Logger, list[dict[str, Any]]]:
    entries: list[dict[str, Any]] = []
    return Logger("test", observer=entries.append), entries  # type: ignore[arg-type]


def test_what_happens_is_written() -> None:
    log, entries = observed()
    refusals = RefusalLog(log, Scheduler(Clock()))
    for _ in range(100):
        report_world(log, refusals)(PlayerRefused("Aldana", "::1", "too fast"))
    listener = report_to(log, refusals)
    listener(Entered("Aldana", 1, 2, "::1", 546))
    listener(ZoneEntryRefused("::1", "no such key"))
    listener(Left("Aldana", "::1", "closed"))
    assert [entry["log_level"] for entry in entries] == [
        LogLevel.warn, LogLevel.info, LogLevel.info, LogLevel.info
    ]  # fmt: skip
    assert entries[0]["line"] == "Aldana from ::1: too fast"
    refusals.stop()
    assert entries[-1]["count"] == 99, "the rest is summed up"
