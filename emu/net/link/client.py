"""The world's side of the TCP link: keeps a world registered with one of its login servers.

This module decides which login server is tried when. The first one that accepts the world is used,
and earlier ones in the list are preferred. After all have failed, the next round waits longer, with
a random share so that worlds do not return all at once. The messages are the subject of
`WorldRegistry` and `emu.link.connection.WorldLinkProtocol`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IHandshakeListener
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer

from emu.config import Address
from emu.errors import EmuError
from emu.link.connection import LinkClosed, LinkRefused, MessageReceived, WorldLinkProtocol
from emu.link.messages import LinkMessage
from emu.link.settings import LoginServerAddress, WorldLinkConfig
from emu.mailbox import Mailbox
from emu.net.link.tls import connect, peer_has_fingerprint
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler, Tasks
from emu.net.stream import Stream
from emu.times import Monotonic
from emu.world.registration.registry import WorldRegistry

_log = logger("link")

_HINTS: Final = {
    "Bad password": "its account or password is another there, it is disabled, or this machine's"
    " address is banned; the login server's log says which, and there: emu world list,"
    " emu account address list",
    "Incorrect version": "that login server takes other versions; see its link.server_versions",
    "Ghost Kick!": "another world registered with the same account",
}
"""What an operator can do about a refusal, by EQ2Emulator's text for it.

Source: docs/protocol/link.md#registration.
"""


class LinkTroubles:
    """Logs each lasting trouble once, not at every attempt, until it is over."""

    def __init__(self) -> None:
        self._unreachable: set[LoginServerAddress] = set()
        self._speak_tls: set[LoginServerAddress] = set()

    def refused(self, server: LoginServerAddress, text: str) -> None:
        """Log why a login server refuses the world."""
        _log.warn(
            "login server {server.host}:{server.port} refuses this world: {text}{hint}",
            server=server,
            text=repr(text),
            hint=f" ({_HINTS[text]})" if text in _HINTS else "",
        )

    def wrong_certificate(self, server: LoginServerAddress) -> None:
        """Log that a login server's certificate is not the pinned one."""
        _log.warn(
            "the certificate of {server.host}:{server.port} is not the pinned one; see its"
            " fingerprint there with: emu world fingerprint",
            server=server,
        )

    def unreachable(self, server: LoginServerAddress, reason: str) -> None:
        """Log that a login server does not answer."""
        if server not in self._unreachable:
            self._unreachable.add(server)
            _log.warn(
                "cannot reach login server {server.host}:{server.port} ({reason}); trying again",
                server=server,
                reason=reason,
            )

    def reached(self, server: LoginServerAddress) -> None:
        """Record that a login server answers."""
        self._unreachable.discard(server)

    def speaks_tls(self, server: LoginServerAddress) -> None:
        """Log that a login server needs TLS, which the configuration does not have."""
        if server not in self._speak_tls:
            self._speak_tls.add(server)
            _log.warn(
                "login server {server.host}:{server.port} speaks TLS on this port: set"
                " world.login_tls_fingerprints, or name its other port",
                server=server,
            )

    def settled(self, server: LoginServerAddress) -> None:
        """Record that a link to a login server is established."""
        self._speak_tls.discard(server)


TLS_ALERT = b"\x15\x03"
"""The first bytes of a TLS port's answer to plain text: record type and major version."""


@implementer(IHandshakeListener)
class LoginConnection(Stream):
    """One connection to a login server."""

    core: WorldLinkProtocol

    def __init__(self, link: LoginLink, index: int) -> None:
        super().__init__(link.scheduler, link.config.connection)
        self._link = link
        self.index = index
        self.server = link.config.servers[index]
        """The login server of this connection."""
        self._nothing_heard = True
        self._handshake: DelayedCall | None = None

    def connectionMade(self) -> None:
        """Introduce the world, unless the certificate must be checked first."""
        if self.server.fingerprint:
            # A server that accepts the connection and then says nothing must not block the other
            # login servers.
            self._handshake = self._scheduler.later(
                self._link.config.connect_timeout, self.transport.abortConnection
            )
        else:
            self._establish()

    def handshakeCompleted(self) -> None:
        """Check the certificate before anything is sent."""
        self._end_handshake()
        if peer_has_fingerprint(self.transport, self.server.fingerprint):
            self._establish()
        else:
            self._link.counters["certificate is not the pinned one"] += 1
            self._link.troubles.wrong_certificate(self.server)
            self.transport.abortConnection()

    def dataReceived(self, data: bytes) -> None:
        """Handle bytes from the login server; detect a port that speaks TLS."""
        # Plain text at a TLS port is a frequent mistake of operators; without this test they only
        # see a link that ends.
        if self._nothing_heard and not self.server.fingerprint and data.startswith(TLS_ALERT):
            self._link.troubles.speaks_tls(self.server)
            self.cut_off("the port speaks TLS")
            return
        self._nothing_heard = False
        super().dataReceived(data)

    def _establish(self) -> None:
        if not self._link.wants(self):
            self.transport.abortConnection()
            return
        # Messages are short, and a player waits for the answer to a play request.
        self.transport.setTcpNoDelay(True)
        self.transport.setTcpKeepAlive(True)
        self.start(self._link.established(self))

    def _end_handshake(self) -> None:
        if self._handshake is not None:
            self._handshake.cancel()
        self._handshake = None

    def send(self, message: LinkMessage, now: Monotonic) -> None:
        """Send a message; do nothing on a closed link."""
        self.core.send(message, now)
        self.serve()

    def take_event(self, event: object, now: Monotonic) -> None:
        """Pass an event on, and report why the link is over."""
        if isinstance(event, LinkClosed):
            self._link.link_closed(self, event.reason)
        else:
            self._link.take_event(self, event, now)

    def handle_timer(self, now: Monotonic) -> None:
        """Handle the timer, with the world's current status for the report.

        If the status cannot be read, the link uses the last one.
        """
        try:
            # Read when it is sent: the world does not report each change of its number of players.
            self.core.set_status(self._link.world.status(), now)
        finally:
            super().handle_timer(now)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Report that the connection is lost."""
        # The handshake has not ended, so the port speaks plain text or nothing.
        if self._handshake is not None:
            self._link.cannot_reach(self.server, "it does not speak TLS on this port")
        self._end_handshake()
        super().connectionLost(reason)
        # With a core its own last event has reported the end already.
        if not self.begun:
            self._link.link_closed(self, "no link established")
        self._link.gone(self)


class LoginLink:
    """Keeps a world registered. `start` it, `send` the world's reports, `stop` it.

    `random` returns floats from 0 to 1; `tasks` runs the requests of the login server.
    """

    def __init__(
        self,
        config: WorldLinkConfig,
        world: WorldRegistry,
        tasks: Tasks,
        reactor: Any,
        scheduler: Scheduler,
        *,
        random: Callable[[], float],
    ) -> None:
        self.config = config
        self.world = world
        self.scheduler = scheduler
        self._reactor = reactor
        self.counters: Counter[str] = Counter()
        """Why links ended, faults, and messages without an effect."""
        self._tasks = tasks
        self._random = random
        # The requests of a login server are answered one by one, in their order.
        self._requests = Mailbox(tasks.spawn, config.waiting)
        self._current: LoginConnection | None = None
        self._settled = False
        self._failures = 0
        # Bounded: a login server may be gone for days.
        self._unsent: deque[LinkMessage] = deque(maxlen=config.unsent)
        self._calls: dict[str, DelayedCall] = {}
        self._attempts: set[Deferred[Any]] = set()
        self._connections: set[LoginConnection] = set()
        self.troubles = LinkTroubles()
        self._running = False
        self._stopped: Deferred[None] | None = None

    @property
    def server(self) -> LoginServerAddress | None:
        """The login server in use; None while there is no link."""
        return self._current.server if self._current else None

    def start(self) -> None:
        """Start to register."""
        self._running = True
        self._connect(0)

    async def stop(self) -> None:
        """Close the link, and wait until the requests that came on it are done."""
        self._running = False
        for call in self._calls.values():
            call.cancel()
        self._calls.clear()
        # A copy: a cancelled attempt removes itself.
        for attempt in list(self._attempts):
            attempt.cancel()
        if self._connections:
            # The connection that ends last may do so before this call returns.
            stopped = self._stopped = Deferred()
            for connection in list(self._connections):
                connection.close("world is stopping", self.scheduler.now())
            await stopped
        await self._tasks.finished()

    def send(self, message: LinkMessage) -> None:
        """Report something; keep it for the next link while none is accepted."""
        if self._current is not None and self._settled:
            self._current.send(message, self.scheduler.now())
        else:
            self._unsent.append(message)

    def status_changed(self) -> None:
        """Read the world's status; a world that locks or unlocks is reported at once."""
        if self._current is not None:
            self._current.core.set_status(self.world.status(), self.scheduler.now())
            self._current.serve()

    # Reports of connections.

    def wants(self, connection: LoginConnection) -> bool:
        """Return whether a connection is better than the one in use."""
        # A smaller index is an earlier login server of the list.
        return self._running and (self._current is None or connection.index < self._current.index)

    def established(self, connection: LoginConnection) -> WorldLinkProtocol:
        """Use a connection; one to an earlier login server replaces the present one."""
        self.world.link_began()
        self.troubles.reached(connection.server)
        old, self._current = self._current, connection
        self._settled = False
        self._forget("connect")
        self._later("settle", self.config.settled_after, self._settle)
        # The first login server is the preferred one. While another is in use, the first is tried
        # now and then, beside the link in use, so that a failed attempt costs the players nothing.
        if connection.index:
            self._later("return", self.config.return_to_first, self._try_first)
        else:
            self._forget("return")
        now = self.scheduler.now()
        if old is not None:
            # Closed only now: in between the world is registered at both, so it never disappears
            # from the list.
            old.close("returned to the first login server", now)
        server = connection.server
        _log.info("registering with {server}", server=Address(server.host, server.port))
        core = WorldLinkProtocol(
            self.config.end, self.world.registration(), self.world.status(), now
        )
        core.drops = self.counters
        return core

    def take_event(self, connection: LoginConnection, event: object, now: Monotonic) -> None:
        """Handle an event of a connection."""
        if isinstance(event, LinkRefused):
            self.counters["refused"] += 1
            self.troubles.refused(connection.server, event.text)
        elif isinstance(event, MessageReceived):
            if connection is self._current:
                # A request shows that the login server has accepted the world, which it never says.
                self._settle()
            if not self._requests.put(partial(self._answer, connection, event.message)):
                connection.close("too many requests waiting", now)

    def link_closed(self, connection: LoginConnection, reason: str) -> None:
        """Handle the end of a link, or of an attempt."""
        self.counters[reason] += 1
        if connection is self._current:
            self._current = None
            self._forget("settle")
            self._forget("return")
            _log.info("link to {server.host} is down: {reason}", server=connection.server,
                      reason=reason)  # fmt: skip
            # A link that was accepted begins a new round with the first server. One that was not is
            # a failed attempt: the next server of this round may accept the world.
            if self._settled:
                self._settled = False
                self._next_round()
            else:
                self._failed(connection.index)
        # A failed attempt while a link exists changes nothing.
        elif not connection.begun and self._current is None:
            self._failed(connection.index)

    def cannot_reach(self, server: LoginServerAddress, reason: str) -> None:
        """Record that a login server does not answer, or not as it should."""
        if self._running:
            self.troubles.unreachable(server, reason)

    def gone(self, connection: LoginConnection) -> None:
        """Remove a connection."""
        self._connections.discard(connection)
        if not self._connections and self._stopped is not None:
            stopped, self._stopped = self._stopped, None
            stopped.callback(None)

    # The order of attempts.

    def _connect(self, index: int) -> None:
        server = self.config.servers[index]
        attempt = connect(
            self._reactor, server.host, server.port, partial(self._build, index),
            timeout=self.config.connect_timeout, with_tls=bool(server.fingerprint),
        )  # fmt: skip
        self._attempts.add(attempt)
        attempt.addBoth(self._attempted, index, attempt)

    def _build(self, index: int) -> LoginConnection:
        connection = LoginConnection(self, index)
        self._connections.add(connection)
        return connection

    def _attempted(self, result: object, index: int, attempt: Deferred[Any]) -> None:
        self._attempts.discard(attempt)
        # A cancelled attempt is our own stop.
        if isinstance(result, Failure) and not isinstance(result.value, CancelledError):
            self.counters["cannot connect"] += 1
            self.cannot_reach(self.config.servers[index], result.getErrorMessage().rstrip("."))
            if self._current is None:
                self._failed(index)

    def _failed(self, index: int) -> None:
        if not self._running:
            return
        # All servers of a round are tried at once; the growing pause comes between two rounds.
        if index + 1 < len(self.config.servers):
            self._later("connect", 0.0, partial(self._connect, index + 1))
        else:
            self._failures += 1
            self._next_round()

    def _next_round(self) -> None:
        if not self._running:
            return
        exponent = min(max(0, self._failures - 1), 30)  # 2**30 s is past any limit, and no overflow
        delay = min(self.config.retry_most, self.config.retry_first * 2**exponent)
        # Without the random share, all worlds of a login server that restarts would return at once.
        delay *= 1 + self.config.retry_jitter * (2 * self._random() - 1)
        self._later("connect", delay, partial(self._connect, 0))

    def _try_first(self) -> None:
        # Planned before the attempt, because a failed one plans nothing.
        self._later("return", self.config.return_to_first, self._try_first)
        self._connect(0)

    def _settle(self) -> None:
        self._forget("settle")
        if self._settled or self._current is None:
            return
        self._settled = True
        self._failures = 0
        server = self._current.server
        self.troubles.settled(server)
        _log.info("registered with {server}", server=Address(server.host, server.port))
        now = self.scheduler.now()
        while self._unsent and not self._current.closed:
            self._current.send(self._unsent.popleft(), now)

    # Helpers.

    async def _answer(self, connection: LoginConnection, message: LinkMessage) -> None:
        try:
            replies = await self.world.answer(message)
        except EmuError as error:
            self.counters["request failed"] += 1
            _log.warn("cannot do what the login server asks: {error}", error=error)
            return
        for reply in replies:
            connection.send(reply, self.scheduler.now())

    def _later(self, name: str, delay: float, function: Callable[[], None]) -> None:
        """Schedule a call of this name, in place of the one already scheduled."""
        self._forget(name)

        def run() -> None:
            # Before the call, which may plan the next one under the same name.
            del self._calls[name]
            try:
                function()
            except Exception:
                # A fault must not end the attempts: the world would stay unregistered until a
                # restart.
                if self._current is None and "connect" not in self._calls:
                    self._failures += 1
                    self._next_round()
                raise

        self._calls[name] = self.scheduler.later(delay, run)

    def _forget(self, name: str) -> None:
        call = self._calls.pop(name, None)
        if call is not None:
            call.cancel()
