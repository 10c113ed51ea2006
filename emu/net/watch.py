"""Reports of a process about itself: events, metrics and the last lines of its log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping

from emu.login.events import AccountLoggedIn, LoginRefused
from emu.metrics import EndpointMetrics, EndpointUses, Histogram, MetricRegistry
from emu.net.logs import LastLines, logger
from emu.reports import Report, Reports
from emu.session import Endpoint, EndpointMeasures

_log = logger("server")

_NUMBERS = re.compile(r"[0-9]+(-[0-9]+)?")
LINES = 200
"""The number of log lines that are kept."""


class Watch:
    """The reports and metrics of one process; all services share one.

    Logs, pages and scrapers subscribe to `reports` and read `measures`.
    """

    def __init__(self) -> None:
        self.reports = Reports(lambda: _log.failure("a subscriber of reports failed"))
        self.measures = MetricRegistry()
        self.lines = LastLines(LINES)
        """The last lines of the log; it must be added to the observers of the log."""
        self._endpoints = EndpointMeasures(self.measures)
        self._listeners = EndpointMetrics(self.measures)
        self._logins = self.measures.counter("logins", "Login requests by result.", ["result"])
        self._refusals = self.measures.counter(
            "logins_refused", "Denied login requests, by reason.", ["reason"]
        )
        self.reports.subscribe(self._count_login, "login")

    def port(self, area: str, write: Callable[..., object]) -> Callable[[object], None]:
        """Return the function that reports events of an area to `write` (its log) and others."""
        self.reports.subscribe(lambda report: write(report.event), area)
        return self.reports.port(area)

    def endpoint(
        self, port: str, endpoint: Endpoint, concealed: Callable[[], int] = lambda: 0
    ) -> None:
        """Measure the sessions of a UDP port; `concealed` counts those to leave out."""
        self._endpoints.watch(port, endpoint, concealed)

    def listener(
        self, port: str, uses: EndpointUses, connections: Callable[[], int] | None = None
    ) -> None:
        """Measure a TCP port or UNIX socket for operators."""
        self._listeners.watch(port, uses, connections)

    def queue(self, name: str, about: str, length: Callable[[], int]) -> None:
        """Measure the length of a queue."""
        self.measures.gauge(f"{name}_waiting", about, lambda: {(): length()})

    def reasons(self, name: str, about: str, counters: Callable[[], Mapping[str, int]]) -> None:
        """Measure the counters by reason of a component that lives as long as the process."""
        self.measures.counter(name, about, ["reason"]).also(
            lambda: Counter({(reason,): count for reason, count in counters().items()})
        )

    def zone_ticks(self) -> Histogram:
        """Return the histogram of zone ticks in seconds, by zone name and instance."""
        return self.measures.histogram(
            "zone_tick_seconds", "Duration of a zone tick.", ["zone", "instance"]
        )

    def ticks(self) -> Histogram:
        """Return the histogram of the world's ticks in seconds."""
        return self.measures.histogram("world_tick_seconds", "Duration of a tick of the world.")

    def _count_login(self, report: Report) -> None:
        if isinstance(report.event, AccountLoggedIn):
            self._logins.add("accepted")
        elif isinstance(report.event, LoginRefused):
            self._logins.add("refused")
            # Some reasons quote the client's version. Each number would make a label of its own.
            self._refusals.add(_NUMBERS.sub("N", report.event.reason))
