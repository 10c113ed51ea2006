"""UDP sockets: datagrams read and sent in batches, each of them limited.

The compiled part (`_datagrams.c`) is optional and changes nothing but the cost. Without it the
datagrams are read and sent one by one. Addresses are (host, port).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IReactorFDSet
from twisted.internet.udp import Port

from emu.limits.addresses import socket_host

try:
    from emu.net.udp import _datagrams as _compiled  # type: ignore[attr-defined,unused-ignore]
except ImportError:
    _compiled = None

HostPort = tuple[str, int]
ARE_MANY_AT_ONCE: Final = _compiled is not None
"""Whether the compiled part is there."""
LONGEST: Final = 4096
"""Bytes read of one datagram, in either form."""
MOST_KEPT: Final = 16
"""Datagrams that wait for each other: whoever gets the first ones can go on meanwhile."""
LEAST: Final = 128
"""Bytes that a datagram counts at least: it is their number that takes time."""


def receive(handle: socket.socket, size: int) -> list[tuple[bytes, HostPort]]:
    """Return the datagrams that wait, about `size` bytes of them.

    Raises `OSError` for what is not a matter of waiting.
    """
    found: list[tuple[bytes, HostPort]]
    if _compiled is not None:
        found = _compiled.receive(handle.fileno(), size)
        return found
    found = []
    read = handle.recvfrom
    while size > 0:
        try:
            entry = read(LONGEST)
        except (BlockingIOError, InterruptedError):
            break
        except ConnectionRefusedError:  # told of an earlier datagram that nobody took
            continue
        found.append(entry)
        size -= max(len(entry[0]), LEAST)
    if found and len(found[0][1]) > 2:  # IPv6: flow and scope are no part of who it is
        return [(data, address[:2]) for data, address in found]
    return found


class Outbox:
    """Datagrams on their way out of one socket.

    `put` keeps them until `flush`. What cannot leave (a full buffer, an unreachable net) is
    lost: the protocol's own retransmission is the remedy, and `lost` counts it.
    """

    __slots__ = ("_handle", "_is_ipv6", "_send", "_waiting", "lost")

    def __init__(
        self,
        handle: socket.socket | None,
        write: Callable[[bytes, Any], object],
        *,
        is_ipv6: bool = False,
    ) -> None:
        """Send through a socket, or by `write` where there is none.

        `is_ipv6` sockets are told IPv4 hosts in their own form.
        """
        self._handle = handle
        self._is_ipv6 = is_ipv6
        self._waiting: list[tuple[bytes, HostPort]] = []
        self.lost = 0
        # Twisted looks at the address of every datagram whether it is one. Ours are: they come from
        # the same socket.
        self._send = write if handle is None else handle.sendto

    def put(self, data: bytes, address: HostPort) -> None:
        """Take one datagram and its address."""
        self._waiting.append((data, address))
        if len(self._waiting) >= MOST_KEPT:
            self.flush()

    def flush(self) -> None:
        """Send what was kept.

        All in a row even where each takes a call of its own: the processor's caches hold either the
        system's way out or Python's, and half of a datagram's time goes by while they are filled.
        """
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        if self._is_ipv6:
            waiting = [(data, (socket_host(host), port)) for data, (host, port) in waiting]
        if self._handle is not None and _compiled is not None:
            self.lost += _compiled.send(self._handle.fileno(), waiting)
            return
        send = self._send
        for data, address in waiting:
            try:
                send(data, address)
            except OSError:
                self.lost += 1


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
