"""The records of capture files (datagrams, secrets), and what the file formats share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Address: TypeAlias = tuple[str, int]
"""IP address as text (IPv6 without brackets) and UDP port."""

EQ2_SECRETS = 0x4551324B
"""The type of this project's decryption secrets block in pcapng: the letters EQ2K."""


@dataclass(frozen=True, slots=True)
class Datagram:
    """One whole UDP datagram.

    `t` is seconds since the Unix epoch (in a trace: the clock of its writer), `payload` the bytes
    after the UDP header.
    """

    t: float
    source: Address
    destination: Address
    payload: bytes


@dataclass(frozen=True, slots=True)
class Secrets:
    """The contents of one pcapng decryption secrets block, of any type.

    `kind` is the number of the secrets type; this project's is `EQ2_SECRETS`.
    """

    kind: int
    data: bytes


Record: TypeAlias = Datagram | Secrets


def show_address(address: Address) -> str:
    """Return ``address:port``, with brackets around an IPv6 address."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


MAX_FRAME = 262144
"""Largest captured frame, as in libpcap; a record that claims more is damage."""


@dataclass(frozen=True, slots=True)
class CapturedFrame:
    """One captured frame: seconds since the epoch, link type, the captured bytes."""

    t: float
    link: int
    data: bytes


class ByteQueue:
    """Bytes that were received and not used yet; `offset` counts the used ones."""

    __slots__ = ("_at", "_data", "offset")

    def __init__(self) -> None:
        self._data = bytearray()
        self._at = 0
        self.offset = 0

    def __len__(self) -> int:
        return len(self._data) - self._at

    def append(self, data: bytes) -> None:
        """Add received bytes."""
        # Used bytes are removed only when new ones come: a removal for each record would copy the
        # rest each time.
        if self._at:
            del self._data[: self._at]
            self._at = 0
        self._data += data

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, or fewer if there are no more, without using them."""
        return bytes(self._data[self._at : self._at + size])

    def take(self, size: int) -> bytes:
        """Use and return the next `size` bytes; the caller has checked that they exist."""
        data = bytes(self._data[self._at : self._at + size])
        self._at += size
        self.offset += size
        return data

    def skip(self, size: int) -> int:
        """Use up to `size` bytes; return how many of them are still missing."""
        here = min(size, len(self))
        self._at += here
        self.offset += here
        return size - here


class FileFormat(Protocol):
    """One kind of capture file: reads whole records from a queue."""

    def read_records(self, queue: ByteQueue) -> Iterator[CapturedFrame | Secrets]:
        """Yield every record that is complete in `queue`; leave the rest there.

        Raises `FileFormatError` when the bytes cannot be a file of this kind.
        """

    def incomplete(self) -> bool:
        """Return whether the file is incomplete even if the queue is empty."""
