"""A UDP port that hands on what waits in its socket in batches, each of them limited."""

from __future__ import annotations

from typing import Any, Protocol

from twisted.internet.interfaces import IReactorFDSet
from twisted.internet.udp import Port

from emu.net.udp.datagrams import HostPort, receive


class Batched(Protocol):
    """What a `BatchPort` serves; a `DatagramProtocol` as well."""

    def take(self, datagram: bytes, address: HostPort) -> None:
        """Take one of many datagrams; must not raise, it would cost the others their turn."""

    def everything_read(self) -> None:
        """Send what waits: the batch is over."""


class BatchPort(Port):
    """A UDP port that tells its protocol when all that had come is read.

    Without it the protocol has to ask the reactor for another turn, which costs as much as several
    datagrams.
    """

    protocol: Batched

    def doRead(self) -> None:
        """Read; called by Twisted when the socket has something."""
        take = self.protocol.take
        for data, address in receive(self.socket, self.maxThroughput):
            take(data, address)
        self.protocol.everything_read()


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
    opened.startListening()  # type: ignore[no-untyped-call]
    return opened
