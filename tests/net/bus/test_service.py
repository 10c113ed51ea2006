"""The bus in a running server keeps its deadlines, and ends in order."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from emu.net.bus.service import JoinedBus
from emu.net.bus.transport import TransportState
from emu.net.scheduler import Scheduler
from emu.processes.exchange import OwnProcess
from tests.support.cluster.brokers import MemoryBroker, MemoryTransport, start


class Connected(MemoryTransport):
    """A transport in memory that connects at once."""

    receiver: Any
    state = TransportState("memory")

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
    for bus in buses:
        bus.start()
    for _ in range(200):
        clock.advance(0.1)
    west, east = buses
    assert west.exchange.others.keys() == {"east"}
    Deferred.fromCoroutine(east.stop())
    assert west.exchange.others == {}
    Deferred.fromCoroutine(west.stop())
    assert not clock.getDelayedCalls()
