"""The bus in a running server keeps its deadlines, is measured, and ends in order."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from emu.metrics import MetricRegistry
from emu.net.bus.service import JoinedBus
from emu.net.bus.transport import TransportState
from emu.net.scheduler import Scheduler
from emu.processes.exchange import BusTimes, OwnProcess
from tests.support.cluster.brokers import MemoryBroker, MemoryTransport, start


class Connected(MemoryTransport):
    """A transport in memory that connects at once."""

    receiver: Any

    def __init__(self, broker: MemoryBroker) -> None:
        super().__init__(broker)
        self.state = TransportState("memory")

    def start(self) -> None:
        self.is_connected = True
        self.received = self.receiver.received
        self.broker.transports.append(self)
        self.receiver.connected()

    async def stop(self) -> None:
        self.is_connected = False


def test_processes_meet_stay_and_leave() -> None:
    clock, broker = Clock(), MemoryBroker()
    buses = [
        JoinedBus(
            OwnProcess(name, 1), Connected(broker), Scheduler(clock), start=start, failed=[].append
        )
        for name in ("west", "east")
    ]
    measures = MetricRegistry()
    buses[0].measure(measures)
    assert measures.value("bus_connected") == 0
    for bus in buses:
        bus.start()
    for _ in range(200):
        clock.advance(0.1)
    west, east = buses
    assert west.exchange.others.keys() == {"east"}
    west.transport.state.dropped(3)
    west.transport.state.heard_beat(0.0)
    west.exchange.counters["gaps"] += 2
    for name, expected in (
        ("connected", 1), ("processes", 1), ("delay_seconds", west.transport.state.delay),
        ("lag_seconds", west.exchange.lag), ("messages_dropped", 3), ("gaps", 2), ("reconnects", 0),
        ("messages_sent", west.exchange.counters["sent"]),
        ("messages_received", west.exchange.counters["received"]),
    ):  # fmt: skip
        assert measures.value(f"bus_{name}") == expected, name
    assert measures.value("bus_messages_received") > 0
    Deferred.fromCoroutine(east.stop())
    assert west.exchange.others == {}
    assert measures.value("bus_events", "gone: bye") == 1
    assert measures.value("bus_events", "dropped") == 0, "it has a metric of its own"
    Deferred.fromCoroutine(west.stop())
    assert not clock.getDelayedCalls()


class Counted(Clock):
    """A clock that notes when it makes a call."""

    def __init__(self) -> None:
        super().__init__()
        self.woken: list[float] = []

    def callLater(self, delay: float, callable: Any, *args: object, **kw: object) -> Any:  # noqa: A002
        def made() -> None:
            self.woken.append(self.seconds())
            callable(*args, **kw)

        return super().callLater(delay, made)


def test_a_bus_without_messages_wakes_for_its_beats_alone() -> None:
    """A process sends a beat every two seconds (`BusTimes`) and has nothing to do in between."""
    clock, broker = Counted(), MemoryBroker()
    bus = JoinedBus(
        OwnProcess("west", 1), Connected(broker), Scheduler(clock), start=start, failed=[].append
    )
    bus.start()
    beats = []
    for _ in range(80):
        before = bus.exchange.counters["sent"]
        clock.advance(0.125)
        if bus.exchange.counters["sent"] > before:
            beats.append(clock.seconds())
    assert beats == [2.0, 4.0, 6.0, 8.0, 10.0]
    assert len(clock.woken) <= len(beats) + 1, clock.woken
    Deferred.fromCoroutine(bus.stop())


def test_a_question_that_is_not_answered_ends_in_time() -> None:
    """A question ends after `BusTimes.patience`, also if that is shorter than a beat."""
    clock, broker = Clock(), MemoryBroker()
    times = BusTimes(beat=2.0, patience=0.5)
    west, east = (
        JoinedBus(
            OwnProcess(name, 1), Connected(broker), Scheduler(clock), start=start,
            failed=[].append, times=times,
        )
        for name in ("west", "east")
    )  # fmt: skip
    for bus in (west, east):
        bus.start()
    east.exchange.answer("weather", lambda _note: Deferred())
    clock.pump([0.1] * 4)
    failed: list[Any] = []
    Deferred.fromCoroutine(west.exchange.request("weather", {})).addErrback(failed.append)
    clock.pump([0.1] * 4)
    assert not failed
    clock.pump([0.05] * 4)
    assert "no answer about weather in 0.5 seconds" in str(failed[0])
    for bus in (west, east):
        Deferred.fromCoroutine(bus.stop())
