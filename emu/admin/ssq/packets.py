"""SSQ's datagrams: the two-byte header, bodies split and joined; and a client.

The header is u8 id, which the answer mirrors, and u8: the number of datagrams less one, times 16,
plus the index of this one.

Source: docs/protocol/administration/ssq.md#packets.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from emu.admin.ssq.query import PONG, pull_rows
from emu.errors import CommandError, MalformedDatagram, MalformedMessage
from emu.times import Monotonic

HEADER_BYTES: Final = 2
MOST_PACKETS: Final = 16
"""Maximum number of datagrams of one body: the counter has four bits."""
DATAGRAM_BYTES: Final = 1400
"""Default length of a datagram, header included."""


@dataclass(frozen=True, slots=True)
class SsqPacket:
    """One datagram."""

    id: int
    """0 to 255, chosen by the client."""
    count: int
    """Datagrams of the body, 1 to 16."""
    index: int
    """Index of this datagram, from 0."""
    body: bytes


def push_packet(packet: SsqPacket) -> bytes:
    """Return a packet as a datagram."""
    return bytes((packet.id, packet.count - 1 << 4 | packet.index)) + packet.body


def pull_packet(data: bytes) -> SsqPacket:
    """Return a datagram's packet. Raises `MalformedDatagram`."""
    if len(data) <= HEADER_BYTES:
        raise MalformedDatagram("too short")
    # The count is sent less one, so that four bits can express 16.
    count, index = (data[1] >> 4) + 1, data[1] & 15
    if index >= count:
        raise MalformedDatagram("wrong number of packet")
    return SsqPacket(data[0], count, index, data[HEADER_BYTES:])


def body_bytes(datagram_bytes: int) -> int:
    """Return how many bytes of a body fit into a datagram."""
    return datagram_bytes - HEADER_BYTES


def split(packet_id: int, body: bytes, datagram_bytes: int = DATAGRAM_BYTES) -> list[bytes]:
    """Return a body as datagrams, at most `MOST_PACKETS`."""
    size = body_bytes(datagram_bytes)
    bodies = [body[at : at + size] for at in range(0, len(body), size)]
    return [
        push_packet(SsqPacket(packet_id, len(bodies), index, chunk))
        for index, chunk in enumerate(bodies)
    ]


@dataclass(slots=True)
class _Pending:
    """A body of which some datagrams have arrived."""

    since: Monotonic
    count: int
    bodies: dict[int, bytes] = field(default_factory=dict)


class SsqJoiner:
    """Joins bodies, for each sender separately; incomplete bodies expire."""

    __slots__ = ("_most_bytes", "_most_pending", "_patience", "_pending")

    def __init__(
        self, *, most_bytes: int = 4096, most_pending: int = 64, patience: float = 2.0
    ) -> None:
        """Keep at most `most_pending` bodies of `most_bytes`, each for `patience` seconds."""
        self._most_bytes = most_bytes
        self._most_pending = most_pending
        self._patience = patience
        self._pending: OrderedDict[Hashable, _Pending] = OrderedDict()

    def join(self, sender: Hashable, packet: SsqPacket, now: Monotonic) -> bytes | None:
        """Return the body when its last datagram has arrived."""
        if packet.count == 1:
            return packet.body
        key = (sender, packet.id)
        pending = self._pending.get(key)
        # Another count or a late packet means that the client has used the number again.
        if pending is None or pending.count != packet.count or self._is_late(pending, now):
            self._pending.pop(key, None)
            pending = self._pending[key] = _Pending(now, packet.count)
            # The oldest goes, so that senders which never complete a body cannot fill the memory.
            if len(self._pending) > self._most_pending:
                self._pending.popitem(last=False)
        pending.bodies[packet.index] = packet.body
        # Counted over all datagrams, because each alone may be short.
        if sum(map(len, pending.bodies.values())) > self._most_bytes:
            del self._pending[key]
        elif len(pending.bodies) == pending.count:
            del self._pending[key]
            return b"".join(pending.bodies[index] for index in range(pending.count))
        return None

    def _is_late(self, pending: _Pending, now: Monotonic) -> bool:
        return now - pending.since > self._patience


_FORM = re.compile(r"\s+headers\s+(normal|compact|null)\s*$", re.IGNORECASE)
PONG_HEADER = ["j"]
"""The only row of an answer to a ping."""
LONGEST_ANSWER = MOST_PACKETS * 65535
"""Maximum length of an answer, whatever length of datagrams the server uses."""


class SsqQuestion:
    """One query; `rows` is the answer's table, the header row first.

    A header row alone means that no row matches. A row without cells means that the server does not
    understand the query, or has none of its columns.
    """

    def __init__(self, packet_id: int, text: str) -> None:
        """Query `text`; `packet_id` is 0 to 255, different for each query."""
        self._id = packet_id
        self._text = text.encode()
        self._joiner = SsqJoiner(most_bytes=LONGEST_ANSWER, most_pending=1)
        self.rows: list[list[str]] | None = None

    @property
    def is_answered(self) -> bool:
        """Whether the answer is complete."""
        return self.rows is not None

    def datagram(self) -> bytes:
        """Return the query."""
        return push_packet(SsqPacket(self._id, 1, 0, self._text))

    def receive(self, data: bytes) -> bool:
        """Handle a datagram; return False, because nothing must be sent again.

        Raises `MalformedMessage` if it is no answer to this query.
        """
        try:
            packet = pull_packet(data)
        except MalformedDatagram as error:
            raise MalformedMessage(error.reason) from None
        if packet.id != self._id:
            raise MalformedMessage("answer to another query")
        # A client has one question, so its datagrams never expire.
        body = self._joiner.join(None, packet, Monotonic(0.0))
        if body is not None:
            self.rows = [PONG_HEADER] if body == PONG else pull_rows(body)
        return False


def auth_question(packet_id: int, password: str) -> SsqQuestion:
    """Return the query for a token."""
    return SsqQuestion(packet_id, f"AUTH {password}")


def token_of(rows: list[list[str]]) -> str:
    """Return the token of an answer. Raises `CommandError` without one."""
    if len(rows) != 2 or rows[0] != ["token"] or not rows[1] or not rows[1][0]:
        raise CommandError("the server refuses the password")
    return rows[1][0]


def with_token(text: str, token: str) -> str:
    """Return a selection with a token; other queries unchanged.

    IDENTIFIED comes before HEADERS.
    """
    if not text.lstrip().lower().startswith("select"):
        return text
    form = _FORM.search(text)
    end = form.start() if form is not None else len(text)
    return f"{text[:end]} IDENTIFIED {token}{text[end:]}"
