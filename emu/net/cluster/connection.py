"""TCP connections between processes: the hub's port, and a member's connection to the hub.

This module limits connections and implements the bus' `Link`. The greeting proves the name of a
process.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, DeferredList, maybeDeferred
from twisted.internet.interfaces import IHandshakeListener
from twisted.internet.protocol import Factory, connectionDone
from twisted.internet.ssl import CertificateOptions
from twisted.python.failure import Failure
from zope.interface import implementer

from emu.admin.status import OpenPort
from emu.config import Address
from emu.limits.addresses import plain_host
from emu.limits.connections import ConnectionLimits, Connections, StreamLimits
from emu.net.link.tls import connect, peer_has_fingerprint
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.net.stream import BACKLOG, Stream, open_port
from emu.net.watch import RefusalLog
from emu.processes.bus import ClusterBus
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
from emu.processes.ports import CAME, Note
from emu.processes.shared import address_of
from emu.times import Monotonic

# Four of the largest frames may wait for a process that is busy for a moment.
LIMITS = StreamLimits(write_buffer=16 * 1024 * 1024, stall_timeout=15.0)


class ClusterConnection(Stream):
    """Base of both sides' connections; they create their `ProcessLink` in `connectionMade`."""

    core: ProcessLink

    def __init__(self, scheduler: Scheduler, bus: ClusterBus) -> None:
        super().__init__(scheduler, LIMITS)
        self._bus = bus

    @property
    def name(self) -> str:
        """The process at the other side; empty during the greeting."""
        return self.core.joined.name if self.core.joined is not None else ""

    def send(self, frame: Frame) -> None:
        """Send a frame; do nothing when the connection is over. Raises `LocalProtocolError`."""
        self.core.send(frame, self._scheduler.now())
        self.serve()

    def take_event(self, event: object, now: Monotonic) -> None:  # noqa: ARG002  # as all take it
        """Handle an event of the link."""
        if isinstance(event, Received):
            self._bus.received(self, event.frame)
        elif isinstance(event, ProcessJoined):
            self.joined(event)
            self._bus.joined(self, event)
        elif isinstance(event, Ended):
            self._bus.ended(self)
            self.over(event.reason)

    def joined(self, who: ProcessJoined) -> None:
        """The other side has proven its name."""
        raise NotImplementedError

    def over(self, reason: str) -> None:
        """The connection is over; called once."""
        raise NotImplementedError


_log = logger("processes")
HUB_LIMITS = ConnectionLimits(most=256, per_address=64, silent_per_address=8)


class MemberConnection(ClusterConnection):
    """A connection on the hub's port: a member, or an unauthenticated peer."""

    def __init__(self, hub: HubPort, address: str) -> None:
        super().__init__(hub.scheduler, hub.bus)
        self._hub = hub
        self.address = address

    def connectionMade(self) -> None:
        """Begin the greeting."""
        # A player waits for most answers between processes, such as that for a world key.
        self.transport.setTcpNoDelay(True)
        hub = self._hub
        greeting = HubGreeting(hub.own, os.urandom(NUMBER_SIZE), hub.reason_against)
        self.start(ProcessLink(greeting, hub.scheduler.now()))

    def joined(self, who: ProcessJoined) -> None:
        """Protect the connection from being closed in favor of new ones."""
        del who
        self._hub.connections.introduced(self)

    def over(self, reason: str) -> None:
        """Log why it is over."""
        self._hub.counters["lost" if self.name else "refused"] += 1
        if self.name:
            _log.warn("{name} has left: {reason}", name=self.name, reason=reason)
        elif self._hub.refusals.is_news("processes refused", "", self.address, reason):
            _log.warn("{address} did not join: {reason}", address=self.address, reason=reason)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Remove the connection."""
        super().connectionLost(reason)
        self._hub.gone(self)


class HubPort(Factory):
    """The hub's listener for members."""

    noisy = False

    def __init__(
        self, own: OwnProcess, names: set[str], bus: ClusterBus, reactor: Any, scheduler: Scheduler
    ) -> None:
        """Accept members of these names."""
        self.own = own
        self.bus = bus
        self.scheduler = scheduler
        self.connections: Connections[MemberConnection] = Connections(_evict)
        self.refusals = RefusalLog(_log, scheduler)
        self.counters: Counter[str] = Counter()
        """Why connections ended."""
        self._names = names
        self._reactor = reactor
        self._port: Any = None
        self._stopped: Deferred[None] | None = None
        bus.subscribe(CAME, _log_joined)

    @property
    def port(self) -> int:
        """The TCP port that is open."""
        return int(self._port.getHost().port)

    def listen(self, at: Address, tls: CertificateOptions | None) -> None:
        """Open the port and log it. Raises `CannotListenError`."""
        # Without TLS the greeting still proves both sides, but an eavesdropper reads the rest.
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

    def open_ports(self) -> Iterator[OpenPort]:
        """Yield the port, while it is open."""
        if self._port is not None:
            members = {"members": sum(bool(one.name) for one in self.connections)}
            yield open_port("processes.listen", self._port, members | self.counters)

    def reason_against(self, name: str) -> str:
        """Return why a process of this name may not join; empty when it may."""
        # Every process with the secret could join. Only those with zones may, so that a mistyped
        # name is refused instead of serving nothing.
        if name not in self._names:
            return f"processes.zones of the hub gives {name} no zone"
        if name in self.bus.others:
            return f"a process {name} has joined already"
        return ""

    def buildProtocol(self, addr: Any) -> MemberConnection | None:
        """Accept a connection; return None when there are too many."""
        address = plain_host(str(addr.host))
        # Twisted may accept a connection that came just before the port was closed.
        if self._port is None or self.connections.admit(address, HUB_LIMITS) is not None:
            return None
        connection = MemberConnection(self, address)
        self.connections.add(connection, address)
        return connection

    def gone(self, connection: MemberConnection) -> None:
        """Remove a connection."""
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
    """Close a silent connection in favor of a new one."""
    connection.cut_off("silent and replaced")


def _log_joined(note: Note) -> None:
    """Log that a member has joined."""
    address = address_of(note)
    if address is None:
        _log.warn("{name} joined without an address for clients", name=note["process"])
    else:
        at = Address(*address)
        _log.info("{name} joined, its clients on UDP {at}", name=note["process"], at=at)


CONNECT_TIMEOUT = 10.0
RETRY_FIRST = 0.5
RETRY_MOST = 10.0
"""Seconds between attempts; doubled after each that fails."""


@implementer(IHandshakeListener)
class HubConnection(ClusterConnection):
    """One connection to the hub."""

    def __init__(self, owner: HubLink) -> None:
        super().__init__(owner.scheduler, owner.bus)
        self._owner = owner
        self._handshake: DelayedCall | None = None

    def connectionMade(self) -> None:
        """Wait for the hub's greeting, unless its certificate must be checked first."""
        if self._owner.fingerprint:
            self._handshake = self._scheduler.later(CONNECT_TIMEOUT, self._no_handshake)
        else:
            self._begin()

    def handshakeCompleted(self) -> None:
        """Check the certificate before anything is sent."""
        self._end_handshake()
        if peer_has_fingerprint(self.transport, self._owner.fingerprint):
            self._begin()
        else:
            self._owner.log_trouble(
                "its certificate is not the one of processes.hub_tls_fingerprint"
            )
            self.transport.abortConnection()

    def _no_handshake(self) -> None:
        self._handshake = None
        self._owner.log_trouble("it does not speak TLS on this port")
        self.transport.abortConnection()

    def _end_handshake(self) -> None:
        if self._handshake is not None:
            self._handshake.cancel()
            self._handshake = None

    def _begin(self) -> None:
        self.transport.setTcpNoDelay(True)
        greeting = MemberGreeting(self._owner.own, os.urandom(NUMBER_SIZE))
        self.start(ProcessLink(greeting, self._owner.scheduler.now()))

    def joined(self, who: ProcessJoined) -> None:
        """Report that the hub has accepted this process."""
        self._owner.joined(who)

    def over(self, reason: str) -> None:
        """Log why the connection is over."""
        self._owner.log_trouble(reason)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Report that the connection is lost."""
        self._end_handshake()
        super().connectionLost(reason)
        self._owner.lost()


class HubLink:
    """Keeps a member connected. `start`, then `stop`."""

    def __init__(
        self,
        own: OwnProcess,
        hub: Address,
        *,
        fingerprint: str,
        bus: ClusterBus,
        reactor: Any,
        scheduler: Scheduler,
    ) -> None:
        """Prepare the connection; with a fingerprint (SHA-256, 64 hex digits) it uses TLS."""
        self.own = own
        self.fingerprint = fingerprint
        self.bus = bus
        self.scheduler = scheduler
        self.connection: HubConnection | None = None
        self._hub = hub
        self._reactor = reactor
        self._attempt: Deferred[Any] | None = None
        self._later: DelayedCall | None = None
        self._delay = RETRY_FIRST
        self._logged_reason = ""
        self._stopped: Deferred[None] | None = None
        self._is_over = False

    def start(self) -> None:
        """Begin to connect."""
        # The call that leads here is over, so `_again` may plan another one.
        self._later = None
        try:
            attempt = self._attempt = connect(
                self._reactor, self._hub.host, self._hub.port, self._build,
                timeout=CONNECT_TIMEOUT, with_tls=bool(self.fingerprint),
            )  # fmt: skip
        # A fault must not end the attempts: the member would stay without a hub.
        except Exception:
            self._again()
            raise
        attempt.addCallbacks(lambda _: self._forget_attempt(), self._failed)

    async def stop(self) -> None:
        """Close the connection for good."""
        self._is_over = True
        if self._later is not None:
            self._later.cancel()
        if self._attempt is not None:
            self._attempt.cancel()
        if self.connection is not None:
            self._stopped = Deferred()
            self.connection.cut_off("this process stops")
            await self._stopped

    def joined(self, who: ProcessJoined) -> None:
        """Record and log that the hub has accepted this process."""
        # Only a hub that has accepted this process ends the growing pauses.
        self._delay = RETRY_FIRST
        self._logged_reason = ""
        _log.info("joined the hub {name} at {hub}", name=who.name, hub=self._hub)

    def log_trouble(self, reason: str) -> None:
        """Log why there is no hub, once for each reason."""
        if reason != self._logged_reason and not self._is_over:
            self._logged_reason = reason
            _log.warn(
                "no hub at {hub}: {reason}; zones of other processes cannot be reached",
                hub=self._hub, reason=reason,
            )  # fmt: skip

    def lost(self) -> None:
        """Schedule the next attempt after a lost connection."""
        self.connection = None
        if self._stopped is not None:
            self._stopped.callback(None)
        self._again()

    def _build(self) -> HubConnection:
        self.connection = HubConnection(self)
        return self.connection

    def _forget_attempt(self) -> None:
        self._attempt = None

    def _failed(self, failure: Failure) -> None:
        self._attempt = None
        if not isinstance(failure.value, CancelledError):
            self.log_trouble(f"it cannot be reached ({failure.getErrorMessage().rstrip('.')})")
        self._again()

    def _again(self) -> None:
        # A lost connection and a failed attempt may both report the same end.
        if not self._is_over and self._later is None:
            self._later = self.scheduler.later(self._delay, self.start)
            self._delay = min(RETRY_MOST, 2 * self._delay)
