"""The hub's TCP port, where the other processes of this world connect.

Owns who may connect and how many; who somebody is proves the greeting.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from twisted.internet.defer import Deferred, DeferredList, maybeDeferred
from twisted.internet.protocol import Factory, connectionDone
from twisted.internet.ssl import CertificateOptions
from twisted.python.failure import Failure

from emu.admin.status import OpenDoor
from emu.config import Address
from emu.limits.addresses import plain_host
from emu.limits.connections import ConnectionLimits, Connections
from emu.net.fleet.connection import FleetConnection
from emu.net.hosts import BACKLOG, door
from emu.net.logs import logger
from emu.net.refusals import RefusalLog
from emu.net.scheduler import Scheduler
from emu.processes.fleet.bus import FleetBus
from emu.processes.fleet.end import FleetEnd
from emu.processes.fleet.greeting import NUMBER_SIZE, HubGreeting, Joined, Self
from emu.processes.ports import CAME, Note
from emu.processes.zone_servers import address_of

_log = logger("processes")
LIMITS = ConnectionLimits(most=256, per_address=64, silent_per_address=8)


class MemberConnection(FleetConnection):
    """One connection of a member, or of somebody who would like to be one."""

    def __init__(self, hub: HubPort, address: str) -> None:
        super().__init__(hub.scheduler, hub.bus)
        self._hub = hub
        self.address = address

    def connectionMade(self) -> None:
        """Ask who it is."""
        self.transport.setTcpNoDelay(True)
        hub = self._hub
        greeting = HubGreeting(hub.own, os.urandom(NUMBER_SIZE), hub.reason_against)
        self.start(FleetEnd(greeting, hub.scheduler.now()))

    def joined(self, who: Joined) -> None:
        """Let it not make room for others any more."""
        del who
        self._hub.connections.introduced(self)

    def over(self, reason: str) -> None:
        """Say why it is gone."""
        self._hub.counters["lost" if self.name else "refused"] += 1
        if self.name:
            _log.warn("{name} is away: {reason}", name=self.name, reason=reason)
        elif self._hub.refusals.is_news("processes refused", "", self.address, reason):
            _log.warn("{address} did not join: {reason}", address=self.address, reason=reason)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Make room."""
        super().connectionLost(reason)
        self._hub.gone(self)


class HubPort(Factory):
    """Listens for members."""

    noisy = False

    def __init__(
        self, own: Self, names: set[str], bus: FleetBus, reactor: Any, scheduler: Scheduler
    ) -> None:
        """Take members of these names."""
        self.own = own
        self.bus = bus
        self.scheduler = scheduler
        self.connections: Connections[MemberConnection] = Connections(_evict)
        self.refusals = RefusalLog(_log, scheduler)
        self.counters: Counter[str] = Counter()
        """What became of connections that are over."""
        self._names = names
        self._reactor = reactor
        self._port: Any = None
        self._stopped: Deferred[None] | None = None
        bus.subscribe(CAME, _tell_of)

    @property
    def port(self) -> int:
        """The TCP port that is open."""
        return int(self._port.getHost().port)

    def listen(self, at: Address, tls: CertificateOptions | None) -> None:
        """Open the port and say where. Raises `CannotListenError`."""
        if tls is None:
            self._port = self._reactor.listenTCP(at.port, self, backlog=BACKLOG, interface=at.host)
        else:
            self._port = self._reactor.listenSSL(
                at.port, self, tls, backlog=BACKLOG, interface=at.host
            )
        host = self._port.getHost()
        self.refusals.start()
        _log.info(
            "hub {name}, members on {how} {at}",
            name=self.own.name, how="TLS" if tls else "TCP", at=Address(host.host, host.port),
        )  # fmt: skip

    def doors(self) -> Iterator[OpenDoor]:
        """Yield the port, while it is open."""
        if self._port is not None:
            members = {"members": sum(bool(one.name) for one in self.connections)}
            yield door("processes.listen", self._port, members | self.counters)

    def reason_against(self, name: str) -> str:
        """Return why a process of this name may not join; empty when it may."""
        if name not in self._names:
            return f"processes.zones of the hub gives {name} no zone"
        if name in self.bus.others:
            return f"a process {name} has joined already"
        return ""

    def buildProtocol(self, addr: Any) -> MemberConnection | None:
        """Take a connection, or None when there are too many."""
        address = plain_host(str(addr.host))
        if self._port is None or self.connections.make_room(address, LIMITS) is not None:
            return None
        connection = MemberConnection(self, address)
        self.connections.add(connection, address)
        return connection

    def gone(self, connection: MemberConnection) -> None:
        """Forget a connection."""
        self.connections.remove(connection)
        if not len(self.connections) and self._stopped is not None:
            stopped, self._stopped = self._stopped, None
            stopped.callback(None)

    async def stop(self) -> None:
        """Close the port and every connection."""
        self.refusals.stop()
        port, self._port = self._port, None
        if port is not None:
            await DeferredList([maybeDeferred(port.stopListening)])
        if len(self.connections):
            stopped = self._stopped = Deferred()
            for connection in self.connections:
                connection.close("the hub stops", self.scheduler.now())
            await stopped


def _evict(connection: MemberConnection) -> None:
    """Close a connection that says nothing, in favor of a new one."""
    connection.cut_off("nothing said when room was needed")


def _tell_of(note: Note) -> None:
    """Say that a member is there."""
    address = address_of(note)
    if address is None:
        _log.warn("{name} joined and tells no address for clients", name=note["process"])
    else:
        at = Address(*address)
        _log.info("{name} joined, its clients on UDP {at}", name=note["process"], at=at)
