"""What a session can tell about itself at any time, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class SessionCounts(NamedTuple):
    """What one session counts that only grows: cheap enough to be added up over thousands."""

    datagrams_received: int = 0
    datagrams_sent: int = 0
    bytes_received: int = 0
    bytes_sent: int = 0
    messages_received: int = 0
    messages_sent: int = 0
    retransmissions: int = 0


@dataclass(frozen=True, slots=True)
class SessionStatistics:
    """Counters of one session since its start; round trip and timeout in seconds."""

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
