"""The UDP shell: one socket, and the `Dispatcher` of the sessions behind it.

Owns the socket: how it is opened, read and written. What is done with the datagrams, and in which
order, is the dispatcher's.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from twisted.internet.interfaces import IUDPTransport
from twisted.internet.protocol import DatagramProtocol

from emu.limits.addresses import plain_host, socket_host
from emu.net.udp.datagrams import HostPort, Outbox
from emu.net.udp.dispatcher import Dispatcher
from emu.net.udp.port import BatchPort, open_port

DATAGRAM_SIZE = 4096
"""Bytes read of one datagram; a longer one cannot be a client's."""
RECEIVE_BUFFER = 4 * 1024 * 1024
"""Bytes that may wait in the socket, as far as the system allows.

When a server was down, everybody comes back at once; a datagram that found no room costs its client
a second.
"""
READ_AT_ONCE = 16 * 1024
"""Bytes read before what they ask for is served: under a flood a wake-up would have no end."""


class UdpShell(DatagramProtocol):
    """A `DatagramProtocol` that brings datagrams to a dispatcher, and its answers back."""

    transport: IUDPTransport

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._is_told_when_read = False

    def startProtocol(self) -> None:
        """Learn the bound address and take the socket; called by Twisted."""
        host: Any = self.transport.getHost()
        self._dispatcher.own = (host.host, host.port)
        is_ipv6 = ":" in host.host
        handle: socket.socket | None = getattr(self.transport, "getHandle", lambda: None)()
        if handle is not None:
            handle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        outbox = Outbox(handle, self.transport.write)
        if is_ipv6:
            outbox.put = _to_ipv6(outbox.put)
        self._dispatcher.outbox = outbox
        self._is_told_when_read = isinstance(self.transport, BatchPort)
        if not is_ipv6:  # nothing is left to do here with each datagram
            self.take = self._dispatcher.take  # type: ignore[method-assign]
            if self._is_told_when_read:
                self.datagramReceived = self.take  # type: ignore[assignment, method-assign]

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:
        """Take one datagram in; the answer leaves before the reactor sleeps again."""
        self.take(datagram, addr)
        if not self._is_told_when_read:
            self._dispatcher.serve_soon()

    def take(self, datagram: bytes, address: HostPort) -> None:
        """Take one of the datagrams that are read at once."""
        self._dispatcher.take(datagram, (plain_host(address[0]), address[1]))

    def everything_read(self) -> None:
        """Serve the sessions whose datagrams came in this wake-up; called by `BatchPort`."""
        self._dispatcher.serve_touched()


def listen(reactor: Any, host: str, port: int, dispatcher: Dispatcher) -> Any:
    """Open a UDP port for a dispatcher and return it. Raises `CannotListenError`."""
    shell = UdpShell(dispatcher)
    return open_port(reactor, host, port, shell, longest=DATAGRAM_SIZE, at_once=READ_AT_ONCE)


def _to_ipv6(put: Callable[[bytes, HostPort], None]) -> Callable[[bytes, HostPort], None]:
    """Name hosts as an IPv6 socket wants them."""
    return lambda data, address: put(data, (socket_host(address[0]), address[1]))
