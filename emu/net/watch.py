"""What a process tells of itself: its reports and its measures, and what its parts add to them.

Whoever shows them (a log, a page, a scraper) subscribes to `Watch.reports` and reads
`Watch.measures`; parts know neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from emu.login.events import LoginAccepted, LoginRefused
from emu.measures import DoorMeasures, Histogram, Measures, Uses
from emu.net.logs import LastLines, logger
from emu.reports import Report, Reports
from emu.session import Endpoint, EndpointMeasures

_log = logger("server")

LINES = 200
"""Lines of the log that are kept."""


class Watch:
    """Reports and measures of one process; every part is given the same."""

    def __init__(self) -> None:
        self.reports = Reports(lambda: _log.failure("a subscriber of reports failed"))
        self.measures = Measures()
        self.lines = LastLines(LINES)
        """The last lines of the log; whoever writes a log adds it to the log's observers."""
        self._endpoints = EndpointMeasures(self.measures)
        self._doors = DoorMeasures(self.measures)
        self._logins = self.measures.counter(
            "logins", "Login requests that were answered.", ["result"]
        )
        self._refusals = self.measures.counter(
            "logins_refused", "Login requests that were denied, by reason.", ["reason"]
        )
        self.reports.subscribe(self._count_login, "login")

    def port(self, area: str, write: Callable[..., object]) -> Callable[[object], None]:
        """Return the report port of an area, with `write` (its log) as a subscriber."""
        self.reports.subscribe(lambda report: write(report.event), area)
        return self.reports.port(area)

    def endpoint(self, port: str, endpoint: Endpoint) -> None:
        """Measure the sessions of a UDP port."""
        self._endpoints.watch(port, endpoint)

    def door(self, port: str, uses: Uses, connections: Callable[[], int] | None = None) -> None:
        """Measure a port or UNIX socket for those who run the server."""
        self._doors.watch(port, uses, connections)

    def queue(self, name: str, about: str, length: Callable[[], int]) -> None:
        """Measure how many wait for something."""
        self.measures.gauge(f"{name}_waiting", about, lambda: {(): length()})

    def reasons(self, name: str, about: str, counters: Callable[[], Mapping[str, int]]) -> None:
        """Measure what a part that lives as long as the process counts by reason."""
        self.measures.counter(name, about, ["reason"]).also(
            lambda: Counter({(reason,): count for reason, count in counters().items()})
        )

    def zone_ticks(self) -> Histogram:
        """Return where the time of each zone's tick is to be noted, by its name and instance."""
        return self.measures.histogram(
            "zone_tick_seconds", "How long a zone took to show what moved.", ["zone", "instance"]
        )

    def ticks(self) -> Histogram:
        """Return where the world's time is to be noted: seconds of each tick."""
        return self.measures.histogram(
            "world_tick_seconds", "How long it took to do what was due in the world."
        )

    def _count_login(self, report: Report) -> None:
        if isinstance(report.event, LoginAccepted):
            self._logins.add("accepted")
        elif isinstance(report.event, LoginRefused):
            self._logins.add("refused")
            self._refusals.add(report.event.reason)
