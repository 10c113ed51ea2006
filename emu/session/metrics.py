"""Metrics of endpoints: sessions, their traffic, and drops by reason.

Nothing is counted here per datagram: the counters of an endpoint's sessions, ended ones included,
are added up when the metrics are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from emu.metrics import MetricRegistry
from emu.session.endpoint import Endpoint, SessionTotals
from emu.session.events import SessionCounts
from emu.session.session import Session

_Values = Mapping[tuple[str, ...], float]


class EndpointMeasures:
    """Metrics of all endpoints of a process; the name of each is the label ``port``."""

    def __init__(self, measures: MetricRegistry) -> None:
        self._endpoints: dict[str, Endpoint] = {}
        self._concealed: dict[str, Callable[[], int]] = {}
        self._sums: dict[str, SessionTotals] = {}
        # Many metrics read the same sums, so they are computed once for each reading.
        measures.before_reading(self._add_up)
        self._gauges(measures)
        self._counters(measures)
        self._round_trips = measures.histogram(
            "session_round_trip_seconds",
            "Round trip of each session, smoothed, at its end.",
            ["port"],
        )

    def watch(
        self, port: str, endpoint: Endpoint, concealed: Callable[[], int] = lambda: 0
    ) -> None:
        """Add an endpoint under a name; `concealed` counts the sessions to leave out."""
        self._endpoints[port] = endpoint
        self._concealed[port] = concealed

        def ended(session: Session) -> None:
            round_trip = session.statistics().smoothed_round_trip
            # A session that ended before any measurement would appear as a round trip of 0.
            if round_trip is not None:
                self._round_trips.observe(round_trip, port)

        endpoint.totals.ended = ended

    def _gauges(self, measures: MetricRegistry) -> None:
        now: dict[str, tuple[str, Callable[[Endpoint], float]]] = {
            "sessions_half_open": (
                "Addresses that requested a session and are not validated yet.",
                lambda endpoint: endpoint.half_open,
            ),
            "session_held_bytes": (
                "Memory that peers occupy: early packets, and packets not acknowledged.",
                lambda endpoint: endpoint.held_bytes,
            ),
        }
        about = "Sessions now; those of hidden players are not counted."
        measures.gauge("sessions_now", about, self._sessions_now, ["port"])
        for name, (about, value) in now.items():
            measures.gauge(name, about, self._of_endpoints(value), ["port"])

    def _counters(self, measures: MetricRegistry) -> None:
        measures.counter(
            "session_address_changes", "Sessions that moved to a new address.", ["port"]
        ).also(self._of_endpoints(lambda endpoint: endpoint.moves))
        measures.counter("sessions_begun", "Sessions so far.", ["port"]).also(
            self._of_sums(lambda sums: {(): sums.sessions})
        )
        for name in SessionCounts._fields:
            about = f"{name.replace('_', ' ').capitalize()}, ended sessions included."
            measures.counter(f"session_{name}", about, ["port"]).also(self._of_sums(_counted(name)))
        measures.counter(
            "session_drops",
            "Datagrams and messages dropped by sessions, by reason.",
            ["port", "reason"],
        ).also(self._of_sums(lambda sums: {(reason,): n for reason, n in sums.drops.items()}))
        measures.counter(
            "datagrams_refused", "Datagrams without a session, by reason.", ["port", "reason"]
        ).also(self._refused)

    def _add_up(self) -> None:
        self._sums = {
            port: endpoint.totals.with_those(endpoint) for port, endpoint in self._endpoints.items()
        }

    def _of_endpoints(self, value: Callable[[Endpoint], float]) -> Callable[[], _Values]:
        return lambda: {(port,): value(endpoint) for port, endpoint in self._endpoints.items()}

    def _sessions_now(self) -> _Values:
        return {
            # The two counts change one after the other, so for a moment the difference may be
            # negative.
            (port,): max(0, len(endpoint) - self._concealed[port]())
            for port, endpoint in self._endpoints.items()
        }

    def _of_sums(self, values: Callable[[SessionTotals], _Values]) -> Callable[[], _Values]:
        return lambda: {
            (port, *labels): value
            for port, sums in self._sums.items()
            for labels, value in values(sums).items()
        }

    def _refused(self) -> _Values:
        return {
            (port, reason): count
            for port, endpoint in self._endpoints.items()
            for reason, count in endpoint.drops.items()
        }


def _counted(name: str) -> Callable[[SessionTotals], _Values]:
    return lambda sums: {(): getattr(sums.counted, name)}
