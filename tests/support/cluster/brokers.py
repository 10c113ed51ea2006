"""Buses of several processes over a broker in memory, on a clock in the test's hand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

from twisted.internet.defer import Deferred

from emu.processes.exchange import BusTimes, Exchange, OwnProcess, Shell
from tests.support.times import ManualClock

NAMES = ("west", "east", "north", "south")


def start(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine whose result nobody awaits."""
    Deferred.fromCoroutine(work)


class MemoryTransport:
    """The connection of one process to a `MemoryBroker`."""

    def __init__(self, broker: MemoryBroker) -> None:
        self.broker = broker
        self.subjects: set[str] = set()
        self.is_connected = False
        self.lose: Callable[[str], bool] = lambda _subject: False
        """Whether a message of a subject is lost on its way to this process."""
        self.received: Callable[[str, bytes], None] = lambda _subject, _data: None

    def send(self, subject: str, data: bytes) -> None:
        if self.is_connected:
            self.broker.queue.append((self, subject, data))
            self.broker.deliver()

    def listen(self, subject: str) -> None:
        self.subjects.add(subject)

    def ignore(self, subject: str) -> None:
        self.subjects.discard(subject)


class MemoryBroker:
    """Delivers what is sent at once, in order, unless `is_held`."""

    def __init__(self) -> None:
        self.queue: deque[tuple[MemoryTransport, str, bytes]] = deque()
        self.transports: list[MemoryTransport] = []
        self.is_held = False
        self._is_delivering = False

    def transport(self) -> MemoryTransport:
        made = MemoryTransport(self)
        self.transports.append(made)
        return made

    def deliver(self) -> None:
        if self._is_delivering:
            return
        self._is_delivering = True
        try:
            while self.queue and not self.is_held:
                sender, subject, data = self.queue.popleft()
                for one in self.transports:
                    hears = one is not sender and one.is_connected and subject in one.subjects
                    if hears and not one.lose(subject):
                        one.received(subject, data)
        finally:
            self._is_delivering = False


class MemoryCluster:
    """The buses of several processes, by name."""

    def __init__(self, times: BusTimes | None = None) -> None:
        self.clock = ManualClock()
        self.broker = MemoryBroker()
        self.errors: list[Exception] = []
        self.buses: dict[str, Exchange] = {}
        self.transports: dict[str, MemoryTransport] = {}
        self._times = times
        self._terms = count(1)

    def add(self, name: str = "") -> Exchange:
        """Return the bus of one more process, connected."""
        name = name or NAMES[len(self.buses)]
        transport = self.transports[name] = self.broker.transport()
        own = OwnProcess(name, next(self._terms), lambda: {"host": f"{name}.test", "port": 9001})
        shell = Shell(self.clock, Deferred, start, self.errors.append)
        bus = self.buses[name] = Exchange(own, transport, shell, self._times)
        transport.received = bus.received
        self.restore(name)
        return bus

    def kill(self, name: str) -> None:
        """End a process without a word."""
        self.broker.transports.remove(self.transports.pop(name))
        del self.buses[name]

    def cut(self, name: str) -> None:
        """Take a process its connection."""
        self.transports[name].is_connected = False
        self.buses[name].disconnected()

    def restore(self, name: str) -> None:
        """Give a process its connection again."""
        self.transports[name].is_connected = True
        self.buses[name].connected()

    def hold(self) -> None:
        """Let the broker stand still."""
        self.broker.is_held = True

    def release(self) -> None:
        """Let the broker deliver what it was sent meanwhile."""
        self.broker.is_held = False
        self.broker.deliver()

    def run(self, seconds: float) -> None:
        """Let time pass, with all timers in their order."""
        end = self.clock.seconds + seconds
        while True:
            due = [
                (at, name)
                for name, bus in self.buses.items()
                if (at := bus.get_timer()) is not None and at <= end
            ]
            if not due:
                break
            at, name = min(due)
            self.clock.seconds = max(self.clock.seconds, at)
            self.buses[name].handle_timer(self.clock.now())
        self.clock.seconds = end


class InMemory:
    """`tests.processes.contracts.cluster_bus.Nodes` over a broker in memory."""

    def __init__(self, cluster: MemoryCluster) -> None:
        self.cluster = cluster
        self.add = cluster.add

    async def settle(self) -> None:
        self.cluster.run(2.0)

    async def cut(self, name: str) -> None:
        self.cluster.cut(name)

    async def restore(self, name: str) -> None:
        self.cluster.restore(name)

    async def leave(self, name: str) -> None:
        self.cluster.buses[name].stop()
        self.cluster.kill(name)

    async def kill(self, name: str) -> None:
        self.cluster.kill(name)
        self.cluster.run(7.0)

    async def pass_silence(self) -> None:
        self.cluster.run(7.0)
