"""The UDP shell: one port and any number of sessions.

Owns the socket and the order of work: datagrams of one wake-up are all taken in
first, then each session that was touched is served once, so that one datagram answers many and
nothing waits for a clock. What a datagram means is the business of `emu.session`; what a message
means, of the handler that `make_handler` returns for each session.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, Protocol, cast

from twisted.internet.interfaces import IDelayedCall, IUDPTransport
from twisted.internet.protocol import DatagramProtocol
from twisted.logger import Logger

from emu.limits.addresses import plain_host, socket_host
from emu.net.scheduler import Scheduler, Timed
from emu.net.timers import Timer
from emu.net.udp.datagrams import HostPort, Outbox
from emu.net.udp.port import BatchPort, open_port
from emu.session import Endpoint, Event, KeyEstablished, Session, SessionEstablished
from emu.times import Moment, Monotonic

DATAGRAM_SIZE = 4096
"""Bytes read of one datagram; a longer one cannot be a client's."""
RECEIVE_BUFFER = 4 * 1024 * 1024
"""Bytes that may wait in the socket, as far as the system allows.

When a server was down, everybody comes back at once; a datagram that found no room costs its client
a second.
"""


READ_AT_ONCE = 16 * 1024
"""Bytes read before what they ask for is served: under a flood a wake-up would have no end."""


class Handler(Protocol):
    """What a service does with one session."""

    def handle_event(self, event: Event, now: Monotonic) -> None:
        """Take one event of the session; `SessionClosed` is the last."""

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called, or None."""

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""

    def held_bytes(self) -> int:
        """Return how many bytes of messages wait for their turn."""


class Tracer(Protocol):
    """Sees every datagram and key of a port; see `emu.net.trace`."""

    def datagram(
        self, moment: Moment, source: HostPort, destination: HostPort, data: bytes
    ) -> None:
        """One datagram, as it is on the wire."""

    def key(self, session_id: int, check_key: int, rc4_key: bytes) -> None:
        """A session's keys became known."""


class SessionPort:
    """One session as its handler sees it: the session, its address, and a way to be served.

    `handler` is None until the peer's address is proven, so that strangers cost little.
    """

    __slots__ = ("_shell", "address", "handler", "session", "timer", "touched")

    def __init__(self, shell: UdpShell, session: Session, address: HostPort) -> None:
        self._shell = shell
        self.session = session
        self.address = address
        self.touched = False
        self.timer: Timer[Timed] = Timer(self)
        self.handler: Handler | None = None

    def room(self) -> int:
        """Return how many bytes may usefully be queued in the session now."""
        return self.session.room(self._shell.now())

    def touch(self) -> None:
        """Have the session served in this turn of the reactor: something was queued or changed."""
        self._shell.touch(self)

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due for the session or its handler; called by the scheduler."""
        self._shell.handle_timers(self, now)


class UdpShell(DatagramProtocol):
    """A `DatagramProtocol` that serves the sessions of one `Endpoint`."""

    transport: IUDPTransport

    def __init__(
        self,
        endpoint: Endpoint,
        scheduler: Scheduler,
        make_handler: Callable[[SessionPort, Monotonic], Handler],
        log: Logger,
    ) -> None:
        self.endpoint = endpoint
        self._scheduler = scheduler
        self._make_handler = make_handler
        self._log = log
        self.tracer: Tracer | None = None
        """Sees every datagram and key, once somebody sets it."""
        self._ports: dict[Session, SessionPort] = {}
        self._touched: list[SessionPort] = []
        self._serving: IDelayedCall | None = None
        self._own: HostPort = ("0.0.0.0", 0)  # noqa: S104  # until the port is bound
        self.outbox = Outbox(None, _nowhere)
        self._is_told_when_read = False
        self._is_ipv6 = False
        self._abandoned = False

    def startProtocol(self) -> None:
        """Learn the bound address and take the socket; called by Twisted."""
        host: Any = self.transport.getHost()
        self._own = (host.host, host.port)
        self._is_ipv6 = ":" in host.host
        handle: socket.socket | None = getattr(self.transport, "getHandle", lambda: None)()
        self.outbox = Outbox(handle, self.transport.write)
        if handle is not None:
            handle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        self._is_told_when_read = isinstance(self.transport, BatchPort)

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:
        """Take one datagram in; the answer leaves before the reactor sleeps again."""
        if self._abandoned:
            return
        if self._is_ipv6:
            addr = (plain_host(addr[0]), addr[1])
        now = self._scheduler.now()
        if self.tracer is not None:
            self.tracer.datagram(self._scheduler.moment(), addr[:2], self._own, datagram)
        endpoint = self.endpoint
        session = endpoint.receive_datagram(datagram, addr, now)
        if session is None:
            for data, address in endpoint.datagrams_to_send():
                self._write(data, cast("HostPort", address))
            if not self._is_told_when_read:
                self.outbox.flush()
            return
        port = self._ports.get(session)
        if port is None:
            port = self._ports[session] = SessionPort(self, session, addr)
        if not port.touched:
            if self._is_told_when_read:
                port.touched = True
                self._touched.append(port)
            else:
                self.touch(port)
        self._touch_ended()

    def _touch_ended(self) -> None:
        """Have the sessions served, for the last time, that the endpoint has ended."""
        while (ended := self.endpoint.next_ended()) is not None:
            if ended in self._ports:
                self.touch(self._ports[ended])

    def take(self, datagram: bytes, address: HostPort) -> None:
        """Take one of many datagrams; a mistake of ours must not cost the others their turn."""
        try:
            self.datagramReceived(datagram, address)
        except Exception:  # noqa: BLE001  # as Twisted does where it reads itself
            self._log.failure("taking a datagram failed")

    def everything_read(self) -> None:
        """Serve the sessions whose datagrams came in this wake-up; called by `BatchPort`."""
        if self._touched:
            self._serve_touched()
        self.outbox.flush()

    def touch(self, port: SessionPort) -> None:
        """Serve a session in this turn of the reactor; once, however often it is touched."""
        if not port.touched:
            port.touched = True
            self._touched.append(port)
        if self._serving is None and not self._abandoned:
            self._serving = self._scheduler.soon(self._serve_later)

    def close(self, now: Monotonic) -> None:
        """Begin an orderly close of every session; `session_count` tells when all are over."""
        for port in list(self._ports.values()):
            port.session.close()
            self._serve(port, now)
        self.outbox.flush()

    def abandon(self) -> None:
        """Stop all timers, for good; what is still queued or comes in now is let be."""
        self._abandoned = True
        if self._serving is not None:
            self._serving.cancel()
            self._serving = None
        for port in self._ports.values():
            self._scheduler.drop(port.timer)
        self._ports.clear()

    @property
    def session_count(self) -> int:
        """How many sessions there are, in whatever state."""
        return len(self._ports)

    def now(self) -> Monotonic:
        """Return the time of the scheduler."""
        return self._scheduler.now()

    def _serve_later(self) -> None:
        self._serving = None
        self._serve_touched()

    def _serve_touched(self) -> None:
        now = self._scheduler.now()
        touched, self._touched = self._touched, []
        for port in touched:
            port.touched = False
            try:
                self._serve(port, now)
            except Exception:  # noqa: BLE001  # it would close the port for everybody
                self._give_up(port, now)
        self.outbox.flush()

    def _serve(self, port: SessionPort, now: Monotonic) -> None:
        """Hand out events, send what is ready, rearm the timer."""
        session = port.session
        while (event := session.next_event()) is not None:
            if type(event) is SessionEstablished:
                port.handler = self._make_handler(port, now)
            elif type(event) is KeyEstablished and self.tracer is not None:
                self.tracer.key(session.session_id, session.check_key, event.key)
            if port.handler is not None:
                self._hand_out(event, port, now)
        for data in session.datagrams_to_send(now):
            self._write(data, port.address)
        if session.ended:
            self._forget(port)
            return
        elsewhere = port.handler.held_bytes() if port.handler is not None else 0
        self.endpoint.weigh(session, elsewhere)
        self._touch_ended()
        deadline = session.get_timer()
        if port.handler is not None:
            theirs = port.handler.get_timer()
            if deadline is None or (theirs is not None and theirs < deadline):
                deadline = theirs
        self._scheduler.arm(port.timer, deadline)

    def _forget(self, port: SessionPort) -> None:
        """Let go of a session. Nothing may hold it in a circle: floods outrun the collector."""
        self._ports.pop(port.session, None)
        self._scheduler.drop(port.timer)
        port.handler = None
        self.endpoint.forget(port.session)

    def _give_up(self, port: SessionPort, now: Monotonic) -> None:
        """End a session that cannot be served because of a mistake of ours."""
        self._log.failure("serving a session failed; it is over")
        port.session.replace("a fault of the server")
        while port.handler is not None and (event := port.session.next_event()) is not None:
            self._hand_out(event, port, now)
        self._forget(port)

    def _hand_out(self, event: Event, port: SessionPort, now: Monotonic) -> None:
        assert port.handler is not None  # noqa: S101
        try:
            port.handler.handle_event(event, now)
        except Exception:  # noqa: BLE001  # one session's trouble must stay its own
            self._log.failure("a handler failed; its session is closed")
            port.session.close()

    def _write(self, data: bytes, address: HostPort) -> None:
        if self.tracer is not None:
            self.tracer.datagram(self._scheduler.moment(), self._own, address[:2], data)
        if self._is_ipv6:
            address = (socket_host(address[0]), address[1])
        self.outbox.put(data, address)

    def handle_timers(self, port: SessionPort, now: Monotonic) -> None:
        """Do what is due for one session, and serve it."""
        try:
            self._handle_timers(port, now)
            self._serve(port, now)
        except Exception:  # noqa: BLE001  # one session's trouble must stay its own
            self._give_up(port, now)
        self.outbox.flush()

    def _handle_timers(self, port: SessionPort, now: Monotonic) -> None:
        deadline = port.session.get_timer()
        if deadline is not None and deadline <= now:
            port.session.handle_timer(now)
        if port.handler is not None:
            deadline = port.handler.get_timer()
            if deadline is not None and deadline <= now:
                port.handler.handle_timer(now)


def listen(reactor: Any, host: str, port: int, shell: UdpShell) -> Any:
    """Open a UDP port for a shell and return it. Raises `CannotListenError`."""
    return open_port(reactor, host, port, shell, longest=DATAGRAM_SIZE, at_once=READ_AT_ONCE)


def _nowhere(_data: bytes, _address: HostPort) -> None:
    """Send nothing: the port is not open yet."""
