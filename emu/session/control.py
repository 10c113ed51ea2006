"""Control packets that wait to be sent, and the statistics that both sides exchange.

A client sends a ServerKeyRequest, a server replies with a SessionStatResponse. They carry packet
counts and round trips, and the first request also asks for the key.

Source: docs/protocol/transport.md#keys.
"""

from __future__ import annotations

from typing import Final

from emu.errors import MalformedDatagram
from emu.session.events import StatisticsReceived
from emu.session.send_queue import RoundTrip
from emu.times import Monotonic
from emu.wire import ProtocolOpcode, ServerKeyRequest, SessionStatResponse, packets
from emu.wire.packets import marker_of

_KEEP_ALIVE: Final = marker_of(ProtocolOpcode.KEEP_ALIVE)
_U16: Final = 0xFFFF
_U32: Final = 0xFFFFFFFF
_OPEN_REQUESTS: Final = 16
"""Statistics requests whose responses may be missing at the same time."""


class ControlPackets:
    """The packets of one session outside its reliable channel, kept until the next datagram.

    `pending` is whether `take` has something. A second request for the same packet adds nothing.
    """

    __slots__ = ("_keep_alive", "_peer_request", "_requested_at", "_statistics", "pending")

    def __init__(self) -> None:
        self.pending = False
        self._keep_alive = False
        self._statistics = False
        self._peer_request: ServerKeyRequest | None = None
        self._requested_at: dict[int, Monotonic] | None = None  # by request id; servers have none

    def keep_alive(self) -> None:
        """Send a KeepAlive."""
        self._keep_alive = self.pending = True

    def request_statistics(self) -> None:
        """Send a ServerKeyRequest."""
        self._statistics = self.pending = True

    def respond(self, request: ServerKeyRequest) -> None:
        """Send a SessionStatResponse; only the last request gets one."""
        self._peer_request = request
        self.pending = True

    def take(
        self, round_trip: RoundTrip, *, sent: int, received: int, now: Monotonic
    ) -> list[bytes]:
        """Return and forget what is pending.

        `sent` and `received` count datagrams, including the one that these packets leave in.
        """
        self.pending = False
        taken: list[bytes] = []
        request = self._peer_request
        if request is not None:
            self._peer_request = None
            response = stat_response(request, sent=sent, received=received, now=now)
            taken.append(packets.SESSION_STAT_RESPONSE.push(response))
        if self._statistics:
            self._statistics = False
            question = self._stat_request(round_trip, sent=sent, received=received, now=now)
            taken.append(packets.SERVER_KEY_REQUEST.push(question))
        if self._keep_alive:
            self._keep_alive = False
            taken.append(_KEEP_ALIVE)
        return taken

    def _stat_request(
        self, round_trip: RoundTrip, *, sent: int, received: int, now: Monotonic
    ) -> ServerKeyRequest:
        request_id = int(now * 1000) & _U16
        requested_at = self._requested_at
        if requested_at is None:
            requested_at = self._requested_at = {}
        if len(requested_at) >= _OPEN_REQUESTS:
            requested_at.clear()
        requested_at[request_id] = now
        latest = int(round_trip.latest * 1000)
        # At least one millisecond: the server takes 0 as "not measured", and sets its own
        # retransmission timeout by this number.
        average = max(int(round_trip.smoothed * 1000), 1) if round_trip.measured else 0
        low, high = int(round_trip.low * 1000), int(round_trip.high * 1000)
        return ServerKeyRequest(request_id, latest, average, low, high, latest, sent, received)

    def measure(
        self, response: SessionStatResponse, round_trip: RoundTrip, now: Monotonic
    ) -> StatisticsReceived:
        """Measure the round trip by a response, and return the event that reports it.

        A response to an earlier request counts too. It settles all open requests. Raises
        `MalformedDatagram` for a response to no open request.
        """
        requested_at = self._requested_at.get(response.request_id) if self._requested_at else None
        if requested_at is None:
            raise MalformedDatagram("unasked statistics")
        self._requested_at = None
        took = max(now - requested_at, 0.0)
        round_trip.measure(took)
        return StatisticsReceived(
            took, round_trip.smoothed, round_trip.low, round_trip.high,
            response.server_sent, response.server_received,
        )  # fmt: skip


def stat_response(
    request: ServerKeyRequest, *, sent: int, received: int, now: Monotonic
) -> SessionStatResponse:
    """Return a server's response to a request; it repeats the client's own counts."""
    return SessionStatResponse(
        request.request_id, int(now * 1000) & _U32,
        request.packets_sent, request.packets_received, sent, received,
    )  # fmt: skip


def statistics_of(request: ServerKeyRequest) -> StatisticsReceived:
    """Return the event that reports a client's statistics to its server."""
    return StatisticsReceived(
        request.last / 1000, request.average / 1000, request.low / 1000, request.high / 1000,
        request.packets_sent, request.packets_received,
    )  # fmt: skip
