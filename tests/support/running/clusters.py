"""Processes that are joined, in one test: over a simulated connection, or over real TCP."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from emu.config import Address
from emu.net.cluster.connection import HubLink, HubPort
from emu.net.scheduler import Scheduler
from emu.processes.bus import ClusterBus, Shell
from emu.processes.connection import (
    NUMBER_SIZE,
    Ended,
    Frame,
    HubGreeting,
    MemberGreeting,
    OwnProcess,
    ProcessJoined,
    ProcessLink,
    Received,
)
from emu.times import Monotonic

reactor: Any = _reactor
SECRET = b"known to all of them"
NAMES = ("hub", "east", "west")
NOW = Monotonic(100.0)


def shell(failed: Callable[[Exception], None]) -> Shell:
    """Return a shell on the test's reactor."""
    return Shell(Deferred, reactor.callLater, _start, failed)


def _start(work: Any) -> None:
    Deferred.fromCoroutine(work)


class Side:
    """One side of a simulated connection: an end, and the bus' link to the other."""

    def __init__(self, bus: ClusterBus, end: ProcessLink) -> None:
        self.bus = bus
        self.end = end
        self.other: Side | None = None
        self.reasons: list[str] = []
        self.is_over = False
        self._chance = random.Random(7)
        self._soon: Any = None

    def send(self, frame: Frame) -> None:
        self.end.send(frame, NOW)
        self.soon()

    def soon(self) -> None:
        """Pump when whoever calls is done."""
        if not self.is_over and (self._soon is None or not self._soon.active()):
            self._soon = reactor.callLater(0, self.pump)

    def close(self) -> None:
        """Pump no more: the test is over."""
        self.is_over = True
        if self._soon is not None and self._soon.active():
            self._soon.cancel()

    def cut_off(self, reason: str) -> None:
        self.end.close(reason, NOW)
        self.pump()

    def pump(self) -> None:
        """Take events, and let the other side have what is to be sent, in pieces of any size."""
        while (event := self.end.next_event()) is not None:
            if isinstance(event, ProcessJoined):
                self.bus.joined(self, event)
            elif isinstance(event, Received):
                self.bus.received(self, event.frame)
            elif isinstance(event, Ended):
                self.reasons.append(event.reason)
                self.bus.ended(self)
        data = b"".join(self.end.data_to_send())
        assert self.other is not None
        while data:
            size = self._chance.choice((1, 3, 50, 5000))
            self.other.end.receive_data(data[:size], NOW)
            data = data[size:]
        if self.other.end._events or self.other.end._output:
            self.other.soon()
        if self.end.closed and not self.other.end.closed:
            self.other.end.connection_lost(NOW)
            self.other.pump()


class Simulated:
    """A hub and its members over simulated connections."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.buses: dict[str, ClusterBus] = {}
        self.sides: dict[str, tuple[Side, Side]] = {}
        """The hub's and the member's side, by the member."""
        self._chance = random.Random(1)

    def add(self) -> ClusterBus:
        """Return the bus of one more process; the first is the hub."""
        name = NAMES[len(self.buses)]
        bus = self.buses[name] = ClusterBus(name, shell(self.errors.append))
        if name != "hub":
            self.join(name)
        return bus

    def join(self, name: str, secret: bytes = SECRET) -> tuple[Side, Side]:
        """Connect a member to the hub, anew."""
        hub, bus = self.buses["hub"], self.buses[name]
        mine = OwnProcess("hub", SECRET, lambda: {"host": "192.0.2.1", "port": 9001})
        theirs = OwnProcess(name, secret, lambda: {"host": "192.0.2.2", "port": 9002})
        numbers = [self._chance.randbytes(NUMBER_SIZE) for _ in range(2)]
        greeting = HubGreeting(mine, numbers[0], lambda who: "taken" if who in hub.others else "")
        sides = (
            Side(hub, ProcessLink(greeting, NOW)),
            Side(bus, ProcessLink(MemberGreeting(theirs, numbers[1]), NOW)),
        )
        sides[0].other, sides[1].other = sides[1], sides[0]
        self.sides[name] = sides
        for _ in range(4):
            for side in sides:
                side.pump()
        return sides

    def close(self) -> None:
        """Leave nothing on its way."""
        for sides in self.sides.values():
            for side in sides:
                side.close()

    async def settle(self) -> None:
        """Wait until nothing is on its way."""
        for _ in range(6):
            await deferLater(reactor, 0.001)


class OverTcp:
    """A hub and two members over TCP on this machine, joined."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.scheduler = Scheduler(reactor)
        self.buses = {name: ClusterBus(name, shell(self.errors.append)) for name in NAMES}
        self._left = list(self.buses.values())
        own = OwnProcess("hub", SECRET, lambda: {"host": "192.0.2.1", "port": 9001})
        names = set(NAMES[1:])
        self.hub = HubPort(own, names, self.buses["hub"], reactor, self.scheduler)
        self.links: list[HubLink] = []

    async def start(self) -> None:
        self.hub.listen(Address("127.0.0.1", 0), None)
        for name in NAMES[1:]:
            self.links.append(self.link(name, self.buses[name]))
            self.links[-1].start()
        for _ in range(500):
            if all(len(bus.others) == len(NAMES) - 1 for bus in self.buses.values()):
                return
            await deferLater(reactor, 0.01)
        raise AssertionError("they have not joined")

    def link(self, name: str, bus: ClusterBus, secret: bytes = SECRET) -> HubLink:
        own = OwnProcess(name, secret, lambda: {"host": "192.0.2.2", "port": 9002})
        at = Address("127.0.0.1", self.hub.port)
        return HubLink(own, at, fingerprint="", bus=bus, reactor=reactor, scheduler=self.scheduler)

    def add(self) -> ClusterBus:
        """Return the bus of one more process; the first is the hub."""
        return self._left.pop(0)

    async def settle(self) -> None:
        """Wait until what was said has arrived."""
        await deferLater(reactor, 0.03)

    async def stop(self) -> None:
        for link in self.links:
            await link.stop()
        await self.hub.stop()
