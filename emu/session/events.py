"""The reports of a session to its owner: events in order, counters, and drops by reason.

Messages are the only mutable events: thousands pass, and a frozen dataclass takes three times as
long to make.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple


class CloseReason(StrEnum):
    """Why a session ended, as `SessionClosed.reason` carries it (or a reason of a drop)."""

    PEER = "closed by peer"
    LOCAL = "closed by this side"
    SILENCE = "nothing received for too long"
    GAVE_UP = "no acknowledgment after the last attempt"
    NO_ANSWER = "no answer to the session request"
    UNVALIDATED = "address not validated in time"
    REPLACED = "replaced by a newer session"
    EVICTED = "pushed out by newer session requests"
    OUT_OF_SESSION = "peer does not know the session"
    SEND_QUEUE_FULL = "send queue full"
    FLOOD = "too many messages before the login"
    MEMORY = "memory limit of all sessions"
    FAULT = "a fault of the server"


class DropReason(StrEnum):
    """The reasons of drops that other code compares; the others are texts without a meaning."""

    BAD_CHECK = "bad check"
    DUPLICATE = "duplicate packet"
    ENDED = "session is over"


@dataclass(frozen=True, slots=True)
class SessionEstablished:
    """Both sides agree on a session.

    A server emits it with the first datagram that has a valid check.
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
    """A message of a session whose beginning was not recorded; only followers emit it."""

    after_gap: bool = False
    """Whether earlier messages of its direction could not be read."""


@dataclass(frozen=True, slots=True)
class Writable:
    """There is capacity again, after `Session.capacity` returned 0."""


@dataclass(frozen=True, slots=True)
class AddressChanged:
    """The client has proven that it is at another address; the session sends there now."""

    before: Hashable
    now: Hashable


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
    """Something was dropped for this reason for the first time in this session.

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
    | AddressChanged
)


class SessionCounts(NamedTuple):
    """The counters of one session that only grow; cheap to add up over thousands of sessions."""

    datagrams_received: int = 0
    datagrams_sent: int = 0
    bytes_received: int = 0
    bytes_sent: int = 0
    messages_received: int = 0
    messages_sent: int = 0
    retransmissions: int = 0


@dataclass(frozen=True, slots=True)
class SessionStatistics:
    """All counters of one session; round trip and timeout in seconds."""

    datagrams_received: int
    datagrams_sent: int
    bytes_received: int
    bytes_sent: int
    messages_received: int
    messages_sent: int
    retransmissions: int
    drops: int
    smoothed_round_trip: float | None
    retransmission_timeout: float
    congestion_window: int
    packets_in_flight: int
    packets_held: int
    queued_bytes: int


_NO_DROPS: Final[Mapping[str, int]] = MappingProxyType({})


class SessionJournal:
    """Events not taken yet, and counts of drops. Nothing follows `close`.

    `waiting_bytes` counts the messages that came while others waited; 0 once all were taken.
    """

    __slots__ = ("_drops", "_is_closed", "events", "waiting_bytes")

    def __init__(self) -> None:
        self.events: list[Event] = []  # an empty deque takes 600 bytes, and this is empty mostly
        self.waiting_bytes = 0
        self._drops: dict[str, int] | None = None  # most sessions drop nothing
        self._is_closed = False

    @property
    def drops(self) -> Mapping[str, int]:
        """How often something was dropped, by reason."""
        return MappingProxyType(self._drops) if self._drops else _NO_DROPS

    def next_event(self) -> Event | None:
        """Return the oldest event not taken yet, or None."""
        # The list is short: beyond a limit the session accepts no further messages.
        return self.events.pop(0) if self.events else None

    def drop(self, reason: str) -> None:
        """Count a drop; the first one for a reason is an event as well."""
        drops = self._drops
        if drops is None:
            drops = self._drops = {}
        count = drops.get(reason, 0)
        drops[reason] = count + 1
        # Only the first one: a flood of bad datagrams must not fill the list of events.
        if not count and not self._is_closed:
            self.events.append(DatagramDropped(reason))

    def close(self, reason: str) -> None:
        """Add the last event."""
        self.events.append(SessionClosed(reason))
        self._is_closed = True
