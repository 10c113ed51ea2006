"""The TCP port on which world servers register with the login service.

This module limits connections. `emu.link.connection.LoginLinkProtocol` has the link's protocol, and
`emu.login.directory` identifies the world. The port has the same number as the clients' UDP port
(docs/protocol/link.md); a second port may speak TLS.
"""

from __future__ import annotations

import socket
from collections import Counter
from typing import Any

from twisted.internet.defer import Deferred, DeferredList, maybeDeferred
from twisted.internet.interfaces import IListeningPort
from twisted.internet.protocol import Factory, connectionDone
from twisted.internet.ssl import CertificateOptions
from twisted.python.failure import Failure

from emu.limits.addresses import address_key, plain_host
from emu.limits.connections import ConnectionLimits, Connections
from emu.limits.rates import RateLimit
from emu.link.connection import LinkClosed, LoginLinkProtocol, WorldIntroduced
from emu.link.messages import LinkMessage
from emu.link.settings import LinkServerConfig
from emu.login.directory import WorldDirectory
from emu.login.world_admission import WorldRefusalReason
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler, Tasks
from emu.net.stream import BACKLOG, Stream
from emu.times import Monotonic

_log = logger("link")
SUSPECT = frozenset({WorldRefusalReason.BAD_PASSWORD, WorldRefusalReason.NOT_REGISTERED})
"""Reasons after which new connections of an address are limited per minute."""
MOST_REMEMBERED = 10_000
"""Addresses whose refusals are remembered."""


class LinkWorldConnection(Stream):
    """One world's connection; a `WorldLink` of the directory."""

    core: LoginLinkProtocol

    def __init__(self, server: LinkServer, address: str) -> None:
        super().__init__(server.scheduler, server.config.connection)
        self._server = server
        self.address = address

    def connectionMade(self) -> None:
        """Wait for the world's introduction."""
        self.transport.setTcpNoDelay(True)
        self.transport.setTcpKeepAlive(True)
        self.start(LoginLinkProtocol(self._server.config.end, self._scheduler.now()))

    def accept(self, now: Monotonic) -> None:
        """Confirm the registration."""
        self.core.accept(now)
        self.serve()

    def refuse(self, text: str, reason: str, now: Monotonic) -> None:
        """Send a fatal error and end the link."""
        self.core.refuse(text, reason, now)
        self.serve()

    def send(self, message: LinkMessage, now: Monotonic) -> None:
        """Send a message; do nothing on a closed link."""
        self.core.send(message, now)
        self.serve()

    def take_event(self, event: object, now: Monotonic) -> None:
        """Pass an event to the directory, and count why the link is over."""
        if isinstance(event, LinkClosed):
            self._server.closed(self, event.reason, now)
            return
        if isinstance(event, WorldIntroduced):
            self._server.introduced(self)
        self._server.directory.link_event(self, event, now)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Report that the connection is lost."""
        super().connectionLost(reason)
        self._server.gone(self)


class LinkServer(Factory):
    """Accepts worlds' connections for one `WorldDirectory`.

    `listen` may be called more than once.

    `tasks` runs the coroutines of the directory, so that `stop` can wait for them.
    """

    noisy = False

    def __init__(
        self,
        config: LinkServerConfig,
        directory: WorldDirectory,
        tasks: Tasks,
        reactor: Any,
        scheduler: Scheduler,
    ) -> None:
        self.config = config
        self.directory = directory
        self.scheduler = scheduler
        self._reactor = reactor
        self.counters: Counter[str] = Counter()
        """Refused connections and closed links, by reason."""
        self._logged_counts: Counter[str] = Counter()
        self._tasks = tasks
        self._ports: list[IListeningPort] = []
        self._connections: Connections[LinkWorldConnection] = Connections(_evict)
        self._refusals: dict[str, RateLimit] = {}
        self._stopped: Deferred[None] | None = None
        self._is_revalidating = False
        self._revalidating: DelayedCall | None = None

    @property
    def connections(self) -> int:
        """Connections that are open now, registered or not."""
        return len(self._connections)

    def listen(self, host: str, port: int, tls: CertificateOptions | None = None) -> IListeningPort:
        """Listen on an address; port 0 lets the system choose. Raises `CannotListenError`."""
        if tls is None:
            listening = self._reactor.listenTCP(port, self, backlog=BACKLOG, interface=host)
        else:
            listening = self._reactor.listenSSL(port, self, tls, backlog=BACKLOG, interface=host)
        return self._add(listening)

    def adopt(self, descriptor: int) -> IListeningPort:
        """Listen on a socket that another process has opened, and close the descriptor."""
        with socket.socket(fileno=descriptor) as handle:
            listening = self._reactor.adoptStreamPort(descriptor, handle.family, self)
        return self._add(listening)

    def _add(self, listening: IListeningPort) -> IListeningPort:
        self._ports.append(listening)
        if self._revalidating is None:
            interval = self.config.revalidate_interval
            self._revalidating = self.scheduler.every(interval, self._revalidate)
        return listening

    async def stop(self) -> None:
        """Stop listening, end every link, and wait until all reports are stored."""
        if self._revalidating is not None:
            self._revalidating.cancel()
            self._revalidating = None
            self._log_counts()
        ports, self._ports = self._ports, []
        # The ports first: a world that reconnects at once would be accepted again.
        await DeferredList([maybeDeferred(port.stopListening) for port in ports])
        if self._connections:
            # The connection that ends last may do so before this call returns.
            stopped = self._stopped = Deferred()
            for connection in self._connections:
                connection.close("server is stopping", self.scheduler.now())
            await stopped
        await self._tasks.finished()

    def buildProtocol(self, addr: Any) -> LinkWorldConnection | None:
        """Accept a connection; return None when a limit is reached."""
        address = plain_host(str(addr.host))
        reason = self._reason_against(address)
        if reason is not None:
            self.counters[reason] += 1
            return None
        connection = LinkWorldConnection(self, address)
        self._connections.add_connection(connection, address)
        return connection

    def _reason_against(self, address: str) -> str | None:
        """Return why a new connection is refused, after closing silent ones in its favor."""
        source = address_key(address)
        # Only an address with a wrong account or password has such a limit; honest worlds pay
        # nothing.
        refused_before = self._refusals.get(source)
        if refused_before is not None and not refused_before.take(1, self.scheduler.now()):
            return "too many refused registrations"
        limits = ConnectionLimits(
            self.config.max_connections,
            self.config.connections_per_address,
            self.config.silent_per_address,
        )
        return self._connections.admit(address, limits)

    def introduced(self, connection: LinkWorldConnection) -> None:
        """Record that a world has introduced itself on a connection."""
        self._connections.introduced(connection)

    def closed(self, connection: LinkWorldConnection, reason: str, now: Monotonic) -> None:
        """Count why a link is over; its connection may linger."""
        self.counters[reason] += 1
        if reason in SUSPECT:
            self._remember_refusal(connection.address, now)
        _log.debug("link of {address} closed: {reason}", address=connection.address, reason=reason)
        self.directory.link_closed(connection, reason, now)

    def gone(self, connection: LinkWorldConnection) -> None:
        """Remove a connection; repeated calls do nothing."""
        self._connections.remove(connection)
        if not self._connections and self._stopped is not None:
            stopped, self._stopped = self._stopped, None
            stopped.callback(None)

    def _remember_refusal(self, address: str, now: Monotonic) -> None:
        """Limit the connections of this address from now on."""
        # All at once: which of them still attack is unknown, and new failures add them again.
        if len(self._refusals) >= MOST_REMEMBERED:
            self._refusals.clear()
        most = float(self.config.suspect_connections_per_minute)
        # An existing bucket stays: a new one would be full again.
        self._refusals.setdefault(address_key(address), RateLimit(most / 60, most, now))

    def _log_counts(self) -> None:
        """Log one line about the connections refused or ended since the last one, if any."""
        fresh = self.counters - self._logged_counts
        self._logged_counts = self.counters.copy()
        if fresh:
            counts = ", ".join(f"{reason} ({count})" for reason, count in fresh.most_common())
            _log.info("connections refused or ended lately: {counts}", counts=counts)

    def _revalidate(self) -> None:
        self._log_counts()
        # A slow database must not start a second check beside the first.
        if not self._is_revalidating:
            self._is_revalidating = True
            self._tasks.spawn(self._check_worlds())

    async def _check_worlds(self) -> None:
        try:
            await self.directory.revalidate()
        finally:
            self._is_revalidating = False


def _evict(connection: LinkWorldConnection) -> None:
    """Close a silent connection in favor of a new one."""
    # Without waiting for output: the peer has sent nothing that deserves an answer.
    connection.cut_off("silent and replaced")
