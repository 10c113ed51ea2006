"""UDP without sockets: `MemoryPort` gives a protocol a transport that records what it writes."""

from __future__ import annotations

from typing import Any

from twisted.internet.address import IPv4Address
from twisted.internet.protocol import DatagramProtocol


class MemoryPort:
    """A datagram transport of one protocol."""

    def __init__(
        self, protocol: DatagramProtocol, host: str = "127.0.0.1", port: int = 9100
    ) -> None:
        self.address = IPv4Address("UDP", host, port)
        self.written: list[tuple[bytes, Any]] = []
        self.protocol = protocol
        protocol.makeConnection(self)  # type: ignore[arg-type]  # the part of it that is used

    def write(self, data: bytes, address: Any = None) -> None:
        """Record one datagram."""
        self.written.append((data, address))

    def getHost(self) -> IPv4Address:  # Twisted's name
        """Return the address the port pretends to be bound to."""
        return self.address

    def take(self) -> list[tuple[bytes, Any]]:
        """Return what was written since the last call."""
        written, self.written = self.written, []
        return written
