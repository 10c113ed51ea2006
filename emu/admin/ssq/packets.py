"""The two bytes ahead of every datagram, and bodies cut into datagrams and joined again.

u8 id, which the answer mirrors, then u8: how many datagrams there are less one, times 16, and
which of them this is. Source: docs/protocol/administration/ssq.md#packets.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from emu.errors import MalformedDatagram
from emu.times import Monotonic

HEADER_BYTES: Final = 2
MOST_PACKETS: Final = 16
"""Datagrams of one body; the counter has no room for more."""
DATAGRAM_BYTES: Final = 1400
"""Of one datagram, the header with it, unless an operator wants less."""


@dataclass(frozen=True, slots=True)
class Packet:
    """One datagram."""

    id: int
    """0 to 255, the asker's choice."""
    count: int
    """Datagrams of the body, 1 to 16."""
    index: int
    """Which of them, from 0."""
    body: bytes


def push_packet(packet: Packet) -> bytes:
    """Return a packet as a datagram."""
    return bytes((packet.id, packet.count - 1 << 4 | packet.index)) + packet.body


def pull_packet(data: bytes) -> Packet:
    """Return a datagram's packet. Raises `MalformedDatagram`."""
    if len(data) <= HEADER_BYTES:
        raise MalformedDatagram("too short")
    count, index = (data[1] >> 4) + 1, data[1] & 15
    if index >= count:
        raise MalformedDatagram("wrong number of packet")
    return Packet(data[0], count, index, data[HEADER_BYTES:])


def body_bytes(datagram_bytes: int) -> int:
    """Return how much of a body a datagram of this size carries."""
    return datagram_bytes - HEADER_BYTES


def split(packet_id: int, body: bytes, datagram_bytes: int = DATAGRAM_BYTES) -> list[bytes]:
    """Return a body as datagrams; it fits into `MOST_PACKETS` of them."""
    size = body_bytes(datagram_bytes)
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return [
        push_packet(Packet(packet_id, len(parts), index, part)) for index, part in enumerate(parts)
    ]


@dataclass(slots=True)
class _Pending:
    """A body of which some datagrams have come."""

    since: Monotonic
    count: int
    parts: dict[int, bytes] = field(default_factory=dict)


class Joiner:
    """Joins the datagrams of bodies, each sender's apart; what takes too long is forgotten."""

    __slots__ = ("_most_bytes", "_most_pending", "_patience", "_pending")

    def __init__(
        self, *, most_bytes: int = 4096, most_pending: int = 64, patience: float = 2.0
    ) -> None:
        """Keep bodies of `most_bytes`, `most_pending` at once, each for `patience` seconds."""
        self._most_bytes = most_bytes
        self._most_pending = most_pending
        self._patience = patience
        self._pending: OrderedDict[Hashable, _Pending] = OrderedDict()

    def take(self, sender: Hashable, packet: Packet, now: Monotonic) -> bytes | None:
        """Return the body once its last datagram is there."""
        if packet.count == 1:
            return packet.body
        key = (sender, packet.id)
        pending = self._pending.get(key)
        if pending is None or pending.count != packet.count or self._is_late(pending, now):
            self._pending.pop(key, None)
            pending = self._pending[key] = _Pending(now, packet.count)
            if len(self._pending) > self._most_pending:
                self._pending.popitem(last=False)
        pending.parts[packet.index] = packet.body
        if sum(map(len, pending.parts.values())) > self._most_bytes:
            del self._pending[key]
        elif len(pending.parts) == pending.count:
            del self._pending[key]
            return b"".join(pending.parts[index] for index in range(pending.count))
        return None

    def _is_late(self, pending: _Pending, now: Monotonic) -> bool:
        return now - pending.since > self._patience
