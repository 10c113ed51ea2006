"""What capture files hold for us: datagrams and secrets. Owns the two shapes and nothing else.

Must not know any file format, nor what a datagram means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Address: TypeAlias = tuple[str, int]
"""IP address as text (IPv6 without brackets) and UDP port."""

EQ2_SECRETS = 0x4551324B
"""Type of our decryption secrets block in pcapng: the letters EQ2K. Others skip unknown types."""


@dataclass(frozen=True, slots=True)
class Datagram:
    """One whole UDP datagram.

    `t` is seconds since the Unix epoch (in a trace: whatever clock wrote it), `payload` the bytes
    behind the UDP header.
    """

    t: float
    source: Address
    destination: Address
    payload: bytes


@dataclass(frozen=True, slots=True)
class Secrets:
    """The contents of one pcapng decryption secrets block, of any kind.

    `kind` is the number of the block's secrets type; ours is `EQ2_SECRETS`.
    """

    kind: int
    data: bytes


Record: TypeAlias = Datagram | Secrets


def show_address(address: Address) -> str:
    """Return ``address:port``, with brackets around an IPv6 address."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
