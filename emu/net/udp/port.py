"""A UDP port that hands on what waits in its socket in batches, each of them limited."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any, Protocol

from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IReactorFDSet
from twisted.internet.udp import Port

from emu.net.udp.datagrams import HostPort, receive

PORTIONS = 8
"""In how many portions the bytes of one wake-up are read; each is answered before the next."""


class Batched(Protocol):
    """What a `BatchPort` serves; a `DatagramProtocol` as well."""

    def take(self, datagrams: Sequence[tuple[bytes, HostPort]]) -> None:
        """Take in and answer what was read at once, each datagram with its address.

        Must not raise for one of them: it would cost the others their turn.
        """


class BatchPort(Port):
    """A UDP port that gives its protocol all that had come at once.

    One by one, the protocol has to ask the reactor for another turn before it serves anybody, which
    costs as much as several datagrams.
    """

    protocol: Batched
    unbound: socket.socket

    def createInternetSocket(self) -> socket.socket:
        """Make the socket, and know it: Twisted lets go of one that it cannot bind, but open."""
        self.unbound = super().createInternetSocket()
        return self.unbound

    def doRead(self) -> None:
        """Read; called by Twisted when the socket has something."""
        # What came while the first ones were served is taken as well: to ask the socket once more
        # costs a tenth of a turn of the reactor. Where one came alone nobody else is about.
        for _ in range(PORTIONS):
            found = receive(self.socket, self.maxThroughput // PORTIONS)
            if found:
                self.protocol.take(found)
            if len(found) < 2:
                return


def open_port(
    reactor: Any, host: str, port: int, protocol: Batched, *, longest: int, at_once: int
) -> Any:
    """Open a port and return it; 0 lets the system choose. Raises `CannotListenError`.

    `longest` bytes are read of one datagram, and about `at_once` before other sockets have their
    turn: under a flood one wake-up would have no end.
    """
    if not IReactorFDSet.providedBy(reactor):
        return reactor.listenUDP(port, protocol, interface=host, maxPacketSize=longest)
    opened = BatchPort(port, protocol, host, longest, reactor)  # type: ignore[no-untyped-call]
    opened.maxThroughput = at_once  # the name that Twisted looks for
    try:
        opened.startListening()  # type: ignore[no-untyped-call]
    except CannotListenError:
        opened.unbound.close()
        raise
    return opened
