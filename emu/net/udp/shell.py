"""The UDP shell: one socket, and the `Dispatcher` of the sessions behind it.

Owns the socket: how it is opened, read and written. What is done with the datagrams, and in which
order, is the dispatcher's.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

from twisted.internet.interfaces import IUDPTransport
from twisted.internet.protocol import DatagramProtocol

from emu.limits.addresses import plain_host
from emu.net.udp.dispatcher import Dispatcher
from emu.net.udp.sockets import HostPort, Outbox, open_port

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
        self._is_ipv6 = False

    def startProtocol(self) -> None:
        """Learn the bound address and take the socket; called by Twisted."""
        host: Any = self.transport.getHost()
        self._dispatcher.own = (host.host, host.port)
        self._is_ipv6 = ":" in host.host
        handle: socket.socket | None = getattr(self.transport, "getHandle", lambda: None)()
        if handle is not None:
            handle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        self._dispatcher.outbox = Outbox(handle, self.transport.write, is_ipv6=self._is_ipv6)

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:
        """Take one datagram where they come singly; answers leave before the reactor sleeps."""
        datagrams = [(datagram, addr)]
        self._dispatcher.take(_plain(datagrams) if self._is_ipv6 else datagrams)
        self._dispatcher.serve_soon()

    def take(self, datagrams: Sequence[tuple[bytes, HostPort]]) -> None:
        """Take and serve the datagrams of one wake-up; called by `BatchPort`."""
        self._dispatcher.take(_plain(datagrams) if self._is_ipv6 else datagrams)
        self._dispatcher.serve_touched()


def listen(reactor: Any, host: str, port: int, dispatcher: Dispatcher) -> Any:
    """Open a UDP port for a dispatcher and return it. Raises `CannotListenError`."""
    shell = UdpShell(dispatcher)
    return open_port(reactor, host, port, shell, longest=DATAGRAM_SIZE, at_once=READ_AT_ONCE)


def _plain(datagrams: Sequence[tuple[bytes, HostPort]]) -> Sequence[tuple[bytes, HostPort]]:
    """Name IPv4 hosts as such, which an IPv6 socket does not."""
    return [(data, (plain_host(host), port)) for data, (host, port) in datagrams]
