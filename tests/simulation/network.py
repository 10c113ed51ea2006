"""A network between simulated processes: UDP and TCP in memory, with faults.

UDP loses, doubles, delays and reorders datagrams. A cut of one direction loses all of them. TCP
keeps its order and loses nothing; a cut stops it, and the end of a process ends its connections.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import Any

from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import CannotListenError, ConnectionDone, ConnectionLost
from twisted.internet.error import ConnectionRefusedError as NothingListens
from twisted.internet.interfaces import (
    IHostnameResolver,
    IReactorPluggableNameResolver,
    IReactorTCP,
    IReactorUDP,
)
from twisted.python.failure import Failure
from zope.interface import implementer

from tests.simulation.threads import VirtualMachine
from tests.simulation.virtual_time import SimulatedProcess, Timeline

MOST_WAITING = 2000
"""Datagrams that the socket of a process that stands still keeps."""
CHUNK_DELAY = 0.001
"""Seconds that bytes need between two processes of a data center."""

HostPort = tuple[str, int]


@dataclass
class Weather:
    """The faults of the paths of one client; probabilities are for each datagram."""

    loss: float = 0.0
    doubled: float = 0.0
    late: float = 0.0
    delay: float = 0.02
    """One way, in seconds."""
    is_up_cut: bool = False
    is_down_cut: bool = False


class Network:
    """All ports of a simulation."""

    def __init__(self, timeline: Timeline, chance: random.Random) -> None:
        self.timeline = timeline
        self.chance = chance
        self.udp: dict[HostPort, SimulatedUdpPort] = {}
        self.tcp: dict[HostPort, SimulatedTcpPort] = {}
        self.connections: list[SimulatedTcp] = []
        self.weather: dict[str, Weather] = {}
        """By the address of the client."""
        self.usual = Weather()
        self.shut: set[HostPort] = set()
        """The address of a client, and a port to which none of its datagrams come."""
        self.carried = self.lost = 0
        self._next_port = 30_000
        self.translated: dict[HostPort, HostPort] = {}
        """The address that others see of a client's socket, after its router has chosen anew."""
        self.behind: dict[HostPort, HostPort] = {}

    def free_port(self) -> int:
        """Return a port that nobody has."""
        self._next_port += 1
        return self._next_port

    def change_port(self, host: str) -> None:
        """Let the router of a client choose other ports for all of its sockets."""
        for address in [one for one in self.udp if one[0] == host]:
            before = self.translated.pop(address, None)
            if before is not None:
                self.behind.pop(before, None)
            seen = (host, self.free_port())
            self.translated[address] = seen
            self.behind[seen] = address

    def carry(self, data: bytes, source: HostPort, to: HostPort) -> None:
        """Bring a datagram to its port, or lose it."""
        self.carried += 1
        seen = self.translated.get(source, source)
        target = self.behind.get(to, to)
        if target == to and to in self.translated:
            return  # the router has forgotten the old port
        self.timeline.note_bytes(b"u", data)
        up, down = self.weather.get(source[0]), self.weather.get(target[0])
        weather = up or down or self.usual
        is_shut = bool(self.shut) and (source[0], target[1]) in self.shut
        if is_shut or (up is not None and up.is_up_cut) or (down is not None and down.is_down_cut):
            self.lost += 1
            return
        chance = self.chance.random
        if weather.loss and chance() < weather.loss:
            self.lost += 1
            return
        copies = 2 if weather.doubled and chance() < weather.doubled else 1
        for _ in range(copies):
            late = 0.0
            if weather.late and chance() < weather.late:
                late = 3 * weather.delay * chance()
            self.timeline.call(None, weather.delay + late, self._arrive, data, seen, target)

    def _arrive(self, data: bytes, source: HostPort, to: HostPort) -> None:
        port = self.udp.get(to)
        if port is not None:
            port.arrive(data, source)

    def close_all(self, process: SimulatedProcess) -> None:
        """Close the sockets of a process that has ended."""
        for ports in (self.udp, self.tcp):
            for address in [one for one, port in ports.items() if port.process is process]:
                del ports[address]  # type: ignore[attr-defined]
        for one in [one for one in self.connections if one.process is process]:
            one.vanish()


class SimulatedUdpPort:
    """One UDP socket."""

    def __init__(
        self, network: Network, process: SimulatedProcess, address: HostPort, protocol: Any
    ) -> None:
        self.network = network
        self.process = process
        self.address = address
        self.protocol = protocol
        self.peer: HostPort | None = None
        self._waiting: deque[tuple[bytes, HostPort]] = deque(maxlen=MOST_WAITING)

    def connect(self, host: str, port: int) -> None:
        self.peer = (host, port)

    def write(self, data: bytes, to: HostPort | None = None) -> None:
        target = to or self.peer
        assert target is not None
        if not self.process.is_dead:
            self.network.carry(bytes(data), self.address, (target[0], target[1]))

    def arrive(self, data: bytes, source: HostPort) -> None:
        if self.peer is not None and self.peer != source:
            return
        process = self.process
        if process.is_still:
            # The socket keeps datagrams until the process reads them.
            if not self._waiting:
                process.timeline.call(process, 0.0, self._read)
            self._waiting.append((data, source))
            return
        if not process.is_dead:
            process.events += 1
            process.make(self.protocol.datagramReceived, (data, source), {})

    def _read(self) -> None:
        while self._waiting:
            data, source = self._waiting.popleft()
            self.protocol.datagramReceived(data, source)

    def getHost(self) -> IPv4Address:
        return IPv4Address("UDP", *self.address)

    def stopListening(self) -> Deferred[None]:
        self.network.udp.pop(self.address, None)
        seen = self.network.translated.pop(self.address, None)
        if seen is not None:
            self.network.behind.pop(seen, None)
        return succeed(None)


class SimulatedTcpPort:
    """One TCP port that listens."""

    def __init__(
        self, network: Network, process: SimulatedProcess, address: HostPort, factory: Any
    ) -> None:
        self.network = network
        self.process = process
        self.address = address
        self.factory = factory

    def getHost(self) -> IPv4Address:
        return IPv4Address("TCP", *self.address)

    def stopListening(self) -> Deferred[None]:
        self.network.tcp.pop(self.address, None)
        return succeed(None)


class SimulatedTcp:
    """One end of a TCP connection: the transport of a protocol."""

    disconnecting = False

    def __init__(
        self, network: Network, process: SimulatedProcess, own: HostPort, peer: HostPort
    ) -> None:
        self.network = network
        self.process = process
        self.own, self.peer = own, peer
        self.other: SimulatedTcp | None = None
        self.protocol: Any = None
        self._is_open = True
        self._is_paused = False
        self._waiting: list[bytes] = []
        self._end: Failure | None = None
        network.connections.append(self)

    def write(self, data: bytes) -> None:
        other = self.other
        if self._is_open and other is not None and not self.process.is_dead:
            self.network.timeline.note_bytes(b"t", bytes(data))
            self.network.timeline.call(other.process, CHUNK_DELAY, other.receive, bytes(data))

    def writeSequence(self, chunks: Any) -> None:
        self.write(b"".join(chunks))

    def receive(self, data: bytes) -> None:
        if not self._is_open:
            return
        if self._is_paused:
            self._waiting.append(data)
        else:
            self.protocol.dataReceived(data)

    def loseConnection(self) -> None:
        if not self.disconnecting:
            self.disconnecting = True
            self._close(ConnectionDone(), ConnectionDone())

    def abortConnection(self) -> None:
        self._close(ConnectionLost(), ConnectionLost())

    def vanish(self) -> None:
        """End with the process, whose kernel resets the connection."""
        self._is_open = False
        self._forget()
        self._end_other(ConnectionLost())

    def _close(self, own: Exception, others: Exception) -> None:
        if not self._is_open:
            return
        self._is_open = False
        self._forget()
        timeline = self.network.timeline
        timeline.call(self.process, 0.0, self._lost, own)
        self._end_other(others)

    def _end_other(self, reason: Exception) -> None:
        other, self.other = self.other, None
        if other is not None:
            self.network.timeline.call(other.process, CHUNK_DELAY, other.ended, reason)

    def ended(self, reason: Exception) -> None:
        if self._is_open:
            self._is_open = False
            self._forget()
            self._lost(reason)

    def _forget(self) -> None:
        if self in self.network.connections:
            self.network.connections.remove(self)

    def _lost(self, reason: Exception) -> None:
        self.protocol.connectionLost(Failure(reason))

    def getPeer(self) -> IPv4Address:
        return IPv4Address("TCP", *self.peer)

    def getHost(self) -> IPv4Address:
        return IPv4Address("TCP", *self.own)

    def setTcpNoDelay(self, _enabled: bool) -> None:
        pass

    def setTcpKeepAlive(self, _enabled: bool) -> None:
        pass

    def registerProducer(self, producer: Any, streaming: bool) -> None:
        pass

    def unregisterProducer(self) -> None:
        pass

    def pauseProducing(self) -> None:
        self._is_paused = True

    def resumeProducing(self) -> None:
        self._is_paused = False
        waiting, self._waiting = self._waiting, []
        for data in waiting:
            self.protocol.dataReceived(data)


@implementer(IHostnameResolver)
class _Resolver:
    def resolveHostName(  # type: ignore[override]
        self, receiver: Any, hostName: str, portNumber: int = 0, *_more: Any, **_kw: Any
    ) -> Any:
        receiver.resolutionBegan(self)
        receiver.addressResolved(IPv4Address("TCP", hostName, portNumber))
        receiver.resolutionComplete()
        return receiver

    def cancel(self) -> None:
        pass


class _Connector:
    """What `connectTCP` returns; the caller does not use it."""

    def __init__(self, address: IPv4Address) -> None:
        self._address = address

    def getDestination(self) -> IPv4Address:
        return self._address

    def stopConnecting(self) -> None:
        pass

    def disconnect(self) -> None:
        pass


@implementer(IReactorUDP, IReactorTCP, IReactorPluggableNameResolver)
class SimulatedReactor(SimulatedProcess):
    """The reactor of one simulated process; `host` is the address of its machine."""

    nameResolver = _Resolver()

    def __init__(
        self, network: Network, name: str, host: str, chance: random.Random | None = None
    ) -> None:
        super().__init__(network.timeline, name)
        self.network = network
        self.host = host
        self.machine = VirtualMachine(self, chance or random.Random(0))

    def callFromThread(self, function: Any, *args: Any, **kw: Any) -> None:
        held = self.machine.held
        if held is not None:
            held.append(partial(function, *args, **kw))
        else:
            super().callFromThread(function, *args, **kw)

    def installNameResolver(self, resolver: Any) -> Any:
        raise NotImplementedError

    def listenUDP(  # type: ignore[override]
        self, port: int, protocol: Any, interface: str = "", maxPacketSize: int = 8192
    ) -> SimulatedUdpPort:
        del maxPacketSize
        address = (interface or self.host, port or self.network.free_port())
        if address in self.network.udp:
            raise CannotListenError(interface, port, OSError("in use"))
        made = SimulatedUdpPort(self.network, self, address, protocol)
        self.network.udp[address] = made
        protocol.makeConnection(made)
        return made

    def listenTCP(  # type: ignore[override]
        self, port: int, factory: Any, backlog: int = 50, interface: str = ""
    ) -> SimulatedTcpPort:
        del backlog
        address = (interface or self.host, port or self.network.free_port())
        if address in self.network.tcp:
            raise CannotListenError(interface, port, OSError("in use"))
        made = SimulatedTcpPort(self.network, self, address, factory)
        self.network.tcp[address] = made
        factory.doStart()
        return made

    def connectTCP(  # type: ignore[override]
        self, host: str, port: int, factory: Any, timeout: float = 30, bindAddress: Any = None
    ) -> _Connector:
        del timeout, bindAddress
        own = (self.host, self.network.free_port())
        factory.doStart()
        connector = _Connector(IPv4Address("TCP", host, port))
        self.network.timeline.call(
            self, 2 * CHUNK_DELAY, self._connect, own, (host, port), factory, connector
        )
        return connector

    def _connect(self, own: HostPort, to: HostPort, factory: Any, connector: _Connector) -> None:
        listening = self.network.tcp.get(to)
        there = None
        if listening is not None and not listening.process.is_dead:
            there = listening.factory.buildProtocol(IPv4Address("TCP", *own))
        if listening is None or there is None:
            factory.clientConnectionFailed(connector, Failure(NothingListens()))
            return
        here = factory.buildProtocol(IPv4Address("TCP", *to))
        if here is None:
            return
        near = SimulatedTcp(self.network, self, own, to)
        far = SimulatedTcp(self.network, listening.process, to, own)
        near.other, far.other = far, near
        near.protocol, far.protocol = here, there
        self.timeline.call(listening.process, 0.0, there.makeConnection, far)
        here.makeConnection(near)

    def listenUNIX(self, *_address: Any, **_options: Any) -> Any:
        raise CannotListenError("unix", 0, OSError("a simulated machine has no such sockets"))

    def addSystemEventTrigger(self, *_event: Any, **_kw: Any) -> int:
        return 0

    def removeSystemEventTrigger(self, _number: int) -> None:
        pass

    def stop(self) -> None:
        """Do nothing: the simulation ends its processes itself."""
