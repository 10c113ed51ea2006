"""Statistics: what a session counts, and what both sides of it ask each other for.

A client asks (ServerKeyRequest), a server answers (SessionStatResponse): packet counts, round
trips, and by the way the wish for a key (docs/protocol/transport.md#keys). Owns when a client asks
and which of its questions wait for an answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

from emu.errors import MalformedDatagram
from emu.session.configuration import SessionConfig
from emu.session.congestion import RoundTrip
from emu.session.events import StatisticsReceived
from emu.times import Monotonic
from emu.wire import ServerKeyRequest, SessionStatResponse


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


_U16: Final = 0xFFFF
_U32: Final = 0xFFFFFFFF
_QUESTIONS: Final = 16  # that may wait for their answers at once


def request_pause(config: SessionConfig, tries: int) -> float:
    """Return how long to wait for an answer before asking again, the first time at 0 tries.

    Nothing is known of the path yet. Short pauses at first cost a server next to nothing and
    outlast a bad link; growing ones do not crowd a long path or a server that is busy.
    """
    return config.session_request_pause * config.session_request_pause_growth**tries


class Inquiry:
    """One side's part of it. `next_question` is when a client asks again; infinite for a server."""

    __slots__ = ("_asked", "_config", "_tries", "next_question")

    def __init__(self, config: SessionConfig) -> None:
        self._config = config
        self._asked: dict[int, float] = {}  # when, by request id
        self._tries = 0
        self.next_question = math.inf

    def plan(self, now: Monotonic, *, is_complete: bool) -> None:
        """Ask again soon while something is missing, with growing pauses; rarely afterwards.

        What may be missing is the key request, or a measured round trip, which the statistics also
        tell the server: without it both sides wait far too long before they repeat what was lost.
        """
        config = self._config
        interval = config.statistics_interval
        if not is_complete:
            pause = min(request_pause(config, self._tries), config.timeout_maximum)
            interval = min(pause, interval)
            self._tries += 1
        self.next_question = now + interval

    def ask(
        self, round_trip: RoundTrip, *, sent: int, received: int, now: Monotonic
    ) -> ServerKeyRequest:
        """Return the question; `sent` and `received` count datagrams, this one with them."""
        request_id = int(now * 1000) & _U16
        if len(self._asked) >= _QUESTIONS:
            self._asked.clear()
        self._asked[request_id] = now
        latest = int(round_trip.latest * 1000)
        # Whole milliseconds, and 0 says nothing: the server sets its own timeout by it.
        average = max(int(round_trip.smoothed * 1000), 1) if round_trip.measured else 0
        low, high = int(round_trip.low * 1000), int(round_trip.high * 1000)
        return ServerKeyRequest(request_id, latest, average, low, high, latest, sent, received)

    def take_answer(
        self, answer: SessionStatResponse, round_trip: RoundTrip, now: Monotonic
    ) -> StatisticsReceived:
        """Measure the round trip by an answer. Raises `MalformedDatagram` for an unasked one.

        The answer to an earlier question counts too, and settles all of them.
        """
        asked = self._asked.get(answer.request_id)
        if asked is None:
            raise MalformedDatagram("unasked statistics")
        self._asked.clear()
        took = max(now - asked, 0.0)
        round_trip.measure(took)
        return StatisticsReceived(
            took, round_trip.smoothed, round_trip.low, round_trip.high,
            answer.server_sent, answer.server_received,
        )  # fmt: skip


def answer_to(
    request: ServerKeyRequest, *, sent: int, received: int, now: Monotonic
) -> SessionStatResponse:
    """Return a server's answer; the client's own counts go back to it."""
    return SessionStatResponse(
        request.request_id, int(now * 1000) & _U32,
        request.packets_sent, request.packets_received, sent, received,
    )  # fmt: skip


def as_event(request: ServerKeyRequest) -> StatisticsReceived:
    """Return what a client's question tells its server."""
    return StatisticsReceived(
        request.last / 1000, request.average / 1000, request.low / 1000, request.high / 1000,
        request.packets_sent, request.packets_received,
    )  # fmt: skip
