"""A UDP relay on loopback that loses datagrams, or all of them for a while.

It runs between clients and a server, so that both have a real network with known loss. The relay
has one socket towards the server for each client.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from twisted.internet.protocol import DatagramProtocol

HostPort = tuple[str, int]
IDLE = 120.0
"""Seconds without a datagram after which a client's socket is closed."""


class Relay(DatagramProtocol):
    """Carries datagrams to `target` and back.

    `loss` is the share of datagrams that is lost each way. `cuts_in` and `cuts_out` lose all of
    those to the server, and from it. `carried` and `lost` count.
    """

    def __init__(self, reactor: Any, target: HostPort, *, loss: float = 0.0, seed: int = 1) -> None:
        self.target = target
        self.loss = loss
        self.cuts_in = self.cuts_out = False
        self.carried = self.lost = 0
        self._reactor = reactor
        self._chance: Callable[[], float] = random.Random(seed).random
        self._ways: dict[HostPort, _Way] = {}
        self._port: Any = None
        self._closed = False

    def listen(self, host: str, port: int = 0) -> int:
        """Open the clients' side; returns its port."""
        self._port = self._reactor.listenUDP(port, self, interface=host)
        return int(self._port.getHost().port)

    async def stop(self) -> None:
        """Close all sockets."""
        self._closed = True
        for way in list(self._ways.values()):
            way.close()
        if self._port is not None:
            await self._port.stopListening()

    def datagramReceived(self, datagram: bytes, addr: HostPort) -> None:  # noqa: N802
        """Carry a client's datagram to the server."""
        way = self._ways.get(addr)
        if way is None:
            way = self._ways[addr] = _Way(self, addr)
            way.port = self._reactor.listenUDP(0, way, interface=self.target[0])
            way.port.connect(*self.target)
        way.used = self._reactor.seconds()
        if not self._loses(cut=self.cuts_in):
            self._write(way.port, datagram)

    def answer(self, datagram: bytes, client: HostPort) -> None:
        """Carry a datagram of the server's to a client."""
        if not self._closed and not self._loses(cut=self.cuts_out):
            self._write(self._port, datagram, client)

    def forget_idle(self) -> None:
        """Close the sockets of clients that are gone."""
        now = self._reactor.seconds()
        for client, way in list(self._ways.items()):
            if now - way.used >= IDLE:
                del self._ways[client]
                way.close()

    def _loses(self, *, cut: bool) -> bool:
        self.carried += 1
        is_lost = cut or self._chance() < self.loss
        self.lost += is_lost
        return is_lost

    @staticmethod
    def _write(port: Any, *datagram: object) -> None:
        with suppress(OSError):  # a socket that nobody listens behind any more
            port.write(*datagram)


class _Way(DatagramProtocol):
    """The server's side of one client."""

    def __init__(self, relay: Relay, client: HostPort) -> None:
        self._relay = relay
        self._client = client
        self.port: Any = None
        self.used = 0.0

    def datagramReceived(self, datagram: bytes, addr: Any) -> None:  # noqa: ARG002, N802
        """Carry a datagram back."""
        self._relay.answer(datagram, self._client)

    def connectionRefused(self) -> None:  # noqa: N802
        """Let it be: the client's own patience decides."""

    def close(self) -> None:
        """Close the socket."""
        if self.port is not None:
            self.port.stopListening()
