"""What a session reports to its owner: events in order, and how often something was dropped.

Messages pass by the thousand, and one that refuses to be changed takes three times as long to make:
they alone rely on the word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class CloseReason(StrEnum):
    """Why a session ended, as `SessionClosed.reason` carries it (or a reason of a drop)."""

    PEER = "closed by peer"
    LOCAL = "closed by us"
    SILENCE = "nothing received for too long"
    GAVE_UP = "no acknowledgment after the last attempt"
    NO_ANSWER = "no answer to the session request"
    UNVALIDATED = "address not validated in time"
    REPLACED = "replaced by a newer session"
    EVICTED = "made room for newer session requests"
    OUT_OF_SESSION = "peer does not know the session"
    SEND_QUEUE_FULL = "send queue full"
    FLOOD = "too many messages of a stranger"
    MEMORY = "made room in memory"


@dataclass(frozen=True, slots=True)
class SessionEstablished:
    """Both sides agree on a session.

    A server emits it with the first datagram that validates the client's address.
    """

    session_id: int


@dataclass(frozen=True, slots=True)
class KeyEstablished:
    """The RC4 key (8 bytes, in the order the server-to-client direction uses) is known."""

    key: bytes


@dataclass(slots=True, unsafe_hash=True)
class Message:
    """One application message, in order: opcode and the bytes after it."""

    opcode: int
    payload: bytes


@dataclass(slots=True, unsafe_hash=True)
class LateMessage(Message):
    """A message of a session whose beginning nobody saw; only followers tell of such."""

    after_gap: bool = False
    """Whether messages of its direction before it could not be read."""


@dataclass(frozen=True, slots=True)
class Writable:
    """There is room again, after `Session.room` had none to give."""


@dataclass(frozen=True, slots=True)
class StatisticsReceived:
    """The peer's view of the session; round trips in seconds.

    A server gets the client's round trips; a client gets those it measured itself.
    `peer_sent` and `peer_received` are the peer's packet counts.
    """

    last: float
    average: float
    low: float
    high: float
    peer_sent: int
    peer_received: int


@dataclass(frozen=True, slots=True)
class DatagramDropped:
    """Something was dropped for this reason, for the first time in this session: worth a log line.

    Later drops for the same reason only count (`Session.drops`).
    """

    reason: str


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """The session is over; nothing follows. `reason` is a `CloseReason` or the reason of a drop."""

    reason: str


Event = (
    SessionEstablished
    | KeyEstablished
    | Message
    | StatisticsReceived
    | DatagramDropped
    | SessionClosed
    | Writable
)


_NO_DROPS: Final[Mapping[str, int]] = MappingProxyType({})


class SessionJournal:
    """Events not taken yet, and counts of drops. Nothing follows `close`.

    `waiting_bytes` is what messages take that came while others waited; 0 once all were taken.
    """

    __slots__ = ("_drops", "_is_closed", "events", "waiting_bytes")

    def __init__(self) -> None:
        self.events: list[Event] = []  # a deque takes 600 bytes when it is empty, as it is mostly
        self.waiting_bytes = 0
        self._drops: dict[str, int] | None = None  # most sessions drop nothing
        self._is_closed = False

    @property
    def drops(self) -> Mapping[str, int]:
        """How often something was dropped, by reason."""
        return MappingProxyType(self._drops) if self._drops else _NO_DROPS

    def next_event(self) -> Event | None:
        """Return the oldest event not taken yet, or None."""
        return self.events.pop(0) if self.events else None

    def drop(self, reason: str) -> None:
        """Count a drop; the first one for a reason is an event as well."""
        drops = self._drops
        if drops is None:
            drops = self._drops = {}
        count = drops.get(reason, 0)
        drops[reason] = count + 1
        if not count and not self._is_closed:
            self.events.append(DatagramDropped(reason))

    def close(self, reason: str) -> None:
        """Tell that the session is over."""
        self.events.append(SessionClosed(reason))
        self._is_closed = True
