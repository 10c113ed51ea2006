"""The measures of endpoints: sessions, what they carried, and what was dropped and why.

Counters go on when sessions end. Nothing is counted here while datagrams come: an endpoint's
sessions are added up when somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from emu.metrics import MetricRegistry
from emu.session.endpoint import Endpoint
from emu.session.session import Session
from emu.session.statistics import SessionCounts
from emu.session.totals import SessionTotals

_Values = Mapping[tuple[str, ...], float]


class EndpointMeasures:
    """Measures of all endpoints of a process; each has a name, the label ``port``."""

    def __init__(self, measures: MetricRegistry) -> None:
        self._endpoints: dict[str, Endpoint] = {}
        self._concealed: dict[str, Callable[[], int]] = {}
        self._sums: dict[str, SessionTotals] = {}
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
        """Measure an endpoint under a name; `concealed` of its sessions now are not counted."""
        self._endpoints[port] = endpoint
        self._concealed[port] = concealed

        def ended(session: Session) -> None:
            round_trip = session.statistics().smoothed_round_trip
            if round_trip is not None:
                self._round_trips.observe(round_trip, port)

        endpoint.totals.ended = ended

    def _gauges(self, measures: MetricRegistry) -> None:
        now: dict[str, tuple[str, Callable[[Endpoint], float]]] = {
            "sessions_half_open": (
                "Addresses that asked for a session and are not validated yet.",
                lambda endpoint: endpoint.half_open,
            ),
            "session_held_bytes": (
                "What peers make us keep: what came early, and what is not acknowledged.",
                lambda endpoint: endpoint.held_bytes,
            ),
        }
        about = "Sessions there are now; those of hidden players are not counted."
        measures.gauge("sessions_now", about, self._sessions_now, ["port"])
        for name, (about, value) in now.items():
            measures.gauge(name, about, self._of_endpoints(value), ["port"])

    def _counters(self, measures: MetricRegistry) -> None:
        measures.counter("sessions_begun", "Sessions there have been.", ["port"]).also(
            self._of_sums(lambda sums: {(): sums.sessions})
        )
        for name in SessionCounts._fields:
            about = f"{name.replace('_', ' ').capitalize()}, of sessions that are over along."
            measures.counter(f"session_{name}", about, ["port"]).also(self._of_sums(_counted(name)))
        measures.counter(
            "session_drops", "What sessions dropped, by reason.", ["port", "reason"]
        ).also(self._of_sums(lambda sums: {(reason,): n for reason, n in sums.drops.items()}))
        measures.counter(
            "datagrams_refused", "Datagrams of no session, by reason.", ["port", "reason"]
        ).also(self._refused)

    def _add_up(self) -> None:
        self._sums = {
            port: endpoint.totals.with_those(endpoint) for port, endpoint in self._endpoints.items()
        }

    def _of_endpoints(self, value: Callable[[Endpoint], float]) -> Callable[[], _Values]:
        return lambda: {(port,): value(endpoint) for port, endpoint in self._endpoints.items()}

    def _sessions_now(self) -> _Values:
        return {
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
