"""Buses of several processes on a real broker, each through a relay of its own."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from twisted.internet import reactor as _reactor

from emu.net.bus.service import JoinedBus
from emu.net.bus.transport import BrokerTransport
from emu.net.scheduler import Scheduler
from emu.processes.exchange import BusTimes, Exchange, OwnProcess
from emu.processes.ports import Note
from tests.support.cluster.brokers import NAMES, start
from tests.support.cluster.relay import Relay
from tests.support.running.whole_server import until

TIMES = BusTimes(beat=0.4, silence=1.6, grace=1.0, patience=2.0)
HEARTBEAT = 0.4
MakeTransport = Callable[[int, Scheduler], BrokerTransport]
"""Makes the transport to a broker at a port of this machine."""
_terms = count(1)


class Joined:
    """`tests.processes.contracts.cluster_bus.Nodes` over a real broker."""

    def __init__(self, port: int, make: MakeTransport) -> None:
        self.errors: list[Exception] = []
        self.nodes: dict[str, JoinedBus] = {}
        self.relays: dict[str, Relay] = {}
        self.scheduler = Scheduler(_reactor)
        self._cut: set[str] = set()
        self._port = port
        self._make = make
        self._rounds = count(1)
        self._heard: dict[tuple[str, str], int] = {}
        """The last round of a process that another one has heard of."""

    def add(self, name: str = "") -> Exchange:
        """Return the bus of one more process; it connects."""
        name = name or NAMES[len(self.nodes)]
        relay = self.relays[name] = Relay(self._port)
        node = self.nodes[name] = JoinedBus(
            OwnProcess(name, next(_terms), lambda: {"host": f"{name}.test", "port": 9001}),
            self._make(relay.port, self.scheduler), self.scheduler,
            start=start, failed=self.errors.append, times=TIMES,
        )  # fmt: skip

        def hear(note: Note) -> None:
            self._heard[name, str(note["process"])] = int(note["round"] or 0)

        node.exchange.subscribe("test.round", hear)
        node.start()
        return node.exchange

    async def settle(self) -> None:
        """Wait until all know each other and each has what all others have sent."""
        up = {
            name: node.exchange
            for name, node in self.nodes.items()
            if name not in self._cut and node.exchange.process
        }

        def is_joined() -> bool:
            return all(
                bus.is_connected and bus.others.keys() >= up.keys() - {name}
                for name, bus in up.items()
            )

        await until(is_joined, "all are joined", 5.0)
        # Several rounds: what arrives may be answered, and the answer may be asked about.
        for _ in range(3):
            number = next(self._rounds)
            for name, bus in up.items():
                bus.publish("test.round", {"process": name, "round": number})
            pairs = [(here, there) for here in up for there in up]
            await until(
                lambda: all(self._heard.get(pair) == number for pair in pairs),  # noqa: B023
                "what was sent is received", 5.0,
            )  # fmt: skip

    async def cut(self, name: str) -> None:
        """Break the connection of a process, and wait until it has noticed."""
        self._cut.add(name)
        await self.relays[name].close()
        bus = self.nodes[name].exchange
        await until(lambda: not bus.is_connected, "the lost connection is noticed", 5.0)

    async def restore(self, name: str) -> None:
        """Let a process connect again, and wait until it has."""
        self._cut.discard(name)
        self.relays[name].open()
        bus = self.nodes[name].exchange
        await until(lambda: bus.is_connected, "a new connection", 5.0)

    async def leave(self, name: str) -> None:
        """End a process in order."""
        await self.nodes.pop(name).stop()
        await self.relays.pop(name).close()

    async def kill(self, name: str) -> None:
        """End a process without a word."""
        node, relay = self.nodes.pop(name), self.relays.pop(name)
        await relay.close()
        await node.transport.stop()
        await node.stop()

    async def pass_silence(self) -> None:
        """Wait for as long as a process may be silent."""
        await self.scheduler.pause(TIMES.silence + 2 * TIMES.beat)

    async def stop(self) -> None:
        """End everything."""
        for name in list(self.nodes):
            await self.kill(name)
