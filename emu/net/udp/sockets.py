"""UDP sockets: datagrams are read in batches and given to a `Dispatcher`.

The C module `_datagrams` is optional and changes only the cost. Without it the datagrams are read
one by one. Addresses are (host, port).
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from time import monotonic
from typing import Any, Final, Protocol

from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IReactorFDSet, IUDPTransport
from twisted.internet.protocol import DatagramProtocol
from twisted.internet.udp import Port

from emu.limits.addresses import plain_host
from emu.net.stream import UdpPortTaken
from emu.net.udp.dispatcher import Dispatcher, Outbox
from emu.net.udp.session_port import HostPort

try:
    from emu.net.udp import _datagrams as _compiled  # type: ignore[attr-defined,unused-ignore]
except ImportError:
    _compiled = None

DATAGRAM_SIZE: Final = 4096
"""Bytes read of one datagram; a longer one cannot be a client's."""
DATAGRAM_COST: Final = 128
"""Bytes that a datagram counts at least: reading takes time for each one."""
RECEIVE_BUFFER = 4 * 1024 * 1024
"""Bytes that may wait in the socket, as far as the system allows.

After a restart of the server all clients return at once. A datagram that finds the buffer full
costs its client a second.
"""
READ_AT_ONCE = 16 * 1024
"""Bytes read before other sockets have their turn: a flood must not occupy the reactor."""
PORTIONS = 8
"""The portions in which `READ_AT_ONCE` is read; each is answered before the next."""
READ_SECONDS: Final = 0.004
"""Time after which the rest is read in the next turn of the reactor: timers come in between."""


def receive(handle: socket.socket, size: int) -> list[tuple[bytes, HostPort]]:
    """Return the datagrams that wait, about `size` bytes of them.

    Raises `OSError`, but not because there is none.
    """
    found: list[tuple[bytes, HostPort]]
    if _compiled is not None:
        found = _compiled.receive(handle.fileno(), size)
        return found
    found = []
    read = handle.recvfrom
    while size > 0:
        try:
            entry = read(DATAGRAM_SIZE)
        # The socket is empty, or a signal interrupted the call; the reactor calls again.
        except (BlockingIOError, InterruptedError):
            break
        except ConnectionRefusedError:  # an ICMP error for a datagram that was sent before
            continue
        found.append(entry)
        size -= max(len(entry[0]), DATAGRAM_COST)
    if found and len(found[0][1]) > 2:  # IPv6: flow and scope are not part of the address
        return [(data, address[:2]) for data, address in found]
    return found


class Batched(Protocol):
    """The protocol of a `BatchPort`; a `DatagramProtocol` as well."""

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, HostPort]]) -> None:
        """Take and answer the datagrams of one read, each with its address.

        Must not raise for a single datagram: the others would be lost.
        """


class BatchPort(Port):
    """A UDP port that gives its protocol all waiting datagrams at once.

    Twisted's own port delivers them one by one. To serve the sessions once for all of them, the
    protocol would need another turn of the reactor, which costs as much as several datagrams.
    """

    protocol: Batched
    unbound: socket.socket

    def createInternetSocket(self) -> socket.socket:
        """Make the socket and keep it: Twisted does not close one that it cannot bind."""
        self.unbound = super().createInternetSocket()
        return self.unbound

    def doRead(self) -> None:
        """Read; called by Twisted when the socket is readable."""
        # Datagrams that arrive meanwhile are read too: asking the socket once more costs a tenth
        # of a turn of the reactor. A single datagram means that there is little traffic.
        end = monotonic() + READ_SECONDS
        for _ in range(PORTIONS):
            found = receive(self.socket, self.maxThroughput // PORTIONS)
            if found:
                self.protocol.receive_datagrams(found)
            if len(found) < 2 or monotonic() >= end:
                return


class UdpShell(DatagramProtocol):
    """A `DatagramProtocol` that gives datagrams to a dispatcher."""

    noisy = False
    transport: IUDPTransport

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._is_ipv6 = False

    def startProtocol(self) -> None:
        """Give the dispatcher its address and its outbox; called by Twisted."""
        host: Any = self.transport.getHost()
        self._dispatcher.own = (host.host, host.port)
        self._is_ipv6 = ":" in host.host
        handle: socket.socket | None = getattr(self.transport, "getHandle", lambda: None)()
        if handle is not None:
            # The system may grant less without an error.
            handle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        self._dispatcher.outbox = Outbox(handle, self.transport.write, is_ipv6=self._is_ipv6)

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:
        """Take a single datagram; answers leave in the next turn of the reactor."""
        datagrams = [(datagram, addr)]
        self._dispatcher.receive_datagrams(_plain(datagrams) if self._is_ipv6 else datagrams)
        self._dispatcher.serve_soon()

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, HostPort]]) -> None:
        """Take and serve the datagrams of one read; called by `BatchPort`."""
        self._dispatcher.receive_datagrams(_plain(datagrams) if self._is_ipv6 else datagrams)
        self._dispatcher.serve_read()


def _plain(datagrams: Sequence[tuple[bytes, HostPort]]) -> Sequence[tuple[bytes, HostPort]]:
    """Return datagrams of an IPv6 socket with IPv4 hosts in their own notation."""
    return [(data, (plain_host(host), port)) for data, (host, port) in datagrams]


def listen(reactor: Any, host: str, port: int, dispatcher: Dispatcher) -> Any:
    """Open a UDP port for a dispatcher and return it. Raises `CannotListenError`."""
    shell = UdpShell(dispatcher)
    return open_port(reactor, host, port, shell, longest=DATAGRAM_SIZE, at_once=READ_AT_ONCE)


def adopt(reactor: Any, descriptor: int, dispatcher: Dispatcher) -> Any:
    """Return the port of a dispatcher on a socket that another process has opened.

    The descriptor is closed; the other process keeps the socket open.
    """
    with socket.socket(fileno=descriptor) as handle:
        port = BatchPort._fromListeningDescriptor(  # type: ignore[no-untyped-call]  # noqa: SLF001
            reactor, descriptor, handle.family, UdpShell(dispatcher), DATAGRAM_SIZE
        )
    port.maxThroughput = READ_AT_ONCE
    port.startListening()
    return port


def open_port(
    reactor: Any, host: str, port: int, protocol: Batched, *, longest: int, at_once: int
) -> Any:
    """Open a port and return it; 0 lets the system choose. Raises `CannotListenError`.

    `longest` is the bytes read of one datagram, `at_once` about those read before other sockets
    have their turn.
    """
    # A reactor without file descriptors, such as IOCP on Windows, cannot use a port of our own.
    if not IReactorFDSet.providedBy(reactor):
        try:
            return reactor.listenUDP(port, protocol, interface=host, maxPacketSize=longest)
        except CannotListenError as error:
            raise UdpPortTaken(error.interface, error.port, error.socketError) from None
    opened = BatchPort(port, protocol, host, longest, reactor)  # type: ignore[no-untyped-call]
    opened.maxThroughput = at_once  # the attribute of Twisted's port
    try:
        opened.startListening()  # type: ignore[no-untyped-call]
    except CannotListenError as error:
        # Twisted leaves the socket open, and each failed start would lose a descriptor.
        opened.unbound.close()
        raise UdpPortTaken(error.interface, error.port, error.socketError) from None
    return opened
