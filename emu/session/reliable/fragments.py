"""Cutting a reliable payload into fragments and putting one together.

Source: docs/protocol/transport.md#fragments.

Knows chunks in order only; sequence numbers are the windows' business.
"""

from __future__ import annotations

from collections.abc import Iterator

from emu.errors import LimitExceeded, MalformedDatagram
from emu.wire.packets import SEQUENCED_SIZE

_TOTAL_SIZE = 4


def cut(payload: bytes, room: int) -> Iterator[bytes]:
    """Yield the chunks of a payload; `room` is what one datagram holds without its seal.

    Every datagram but the last is filled. The first chunk begins with the u32 total length.
    """
    first = room - SEQUENCED_SIZE - _TOTAL_SIZE
    step = room - SEQUENCED_SIZE
    yield len(payload).to_bytes(_TOTAL_SIZE, "big") + payload[:first]
    for start in range(first, len(payload), step):
        yield payload[start : start + step]


class Assembler:
    """Joins one run of fragments at a time; holds no more than the run said and `size_limit`."""

    __slots__ = ("_count", "_count_limit", "_data", "_total")

    def __init__(self, count_limit: int) -> None:
        self._count_limit = count_limit
        self._data: bytearray | None = None
        self._total = 0
        self._count = 0

    @property
    def held_bytes(self) -> int:
        """How many bytes of an incomplete run are in memory."""
        return len(self._data) if self._data is not None else 0

    def add(self, chunk: bytes, size_limit: int) -> bytes | None:
        """Take the next chunk in order; return the payload when it is complete.

        Raises `MalformedDatagram` or `LimitExceeded`; the order is lost then, and with it the
        session.
        """
        data = self._data
        if data is None:
            # The total is a peer's word. It is held against the limit before a byte is kept, and
            # memory grows with what really comes.
            if len(chunk) <= _TOTAL_SIZE:
                raise MalformedDatagram("first fragment too short")
            self._total = int.from_bytes(chunk[:_TOTAL_SIZE], "big")
            if self._total > size_limit:
                raise LimitExceeded("fragmented message too long")
            chunk = chunk[_TOTAL_SIZE:]
            data = self._data = bytearray()
            self._count = 0
        self._count += 1
        if self._count > self._count_limit:
            raise LimitExceeded("too many fragments")
        data += chunk
        if len(data) > self._total:
            raise MalformedDatagram("fragments longer than announced")
        if len(data) < self._total:
            return None
        self._data = None
        return bytes(data)
