"""Coroutines that run by themselves, and what a process reports: events and metrics.

Stopping a service waits for its `Tasks`, so that what a world reported just before is still stored.

Whoever shows them (a log, a page, a scraper) subscribes to `Watch.reports` and reads
`Watch.measures`; parts know neither.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from emu.login.events import LoginAccepted, LoginRefused
from emu.metrics import EndpointMetrics, EndpointUses, Histogram, MetricRegistry
from emu.net.logs import LastLines, logger
from emu.reports import Report, Reports
from emu.session import Endpoint, EndpointMeasures

Timed = Callable[[Callable[[], object]], object]
"""Makes a call and charges the time that it takes to somebody."""


def run(
    work: Coroutine[Any, Any, Any],
    failed: Callable[[Failure], Any],
    result: object = None,
    timed: Timed | None = None,
) -> None:
    """Run a coroutine of a service to its end; `failed` gets what it raises.

    What they await in the end are Deferreds, and those alone are made: Twisted's own way would
    make two more for each of them. `result` is that of the one which it has waited for. `timed`
    makes the calls that go on after waiting; the first one is part of whoever starts the coroutine.
    """
    try:
        error = result.value if isinstance(result, Failure) else None
        # The Deferred itself hands its result over.
        waiting = work.send(None) if error is None else work.throw(error)
    except StopIteration:
        return
    except Exception:  # noqa: BLE001  # whatever it is, it must not leave the shell
        failed(Failure())  # type: ignore[no-untyped-call]
        return
    if timed is None:
        waiting.addBoth(lambda result: run(work, failed, result))
    else:
        waiting.addBoth(lambda result: timed(lambda: run(work, failed, result, timed)))


class Tasks:
    """Starts coroutines; `finished` waits for all that still run."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._running = 0
        self._waiting: list[Deferred[None]] = []

    def __len__(self) -> int:
        return self._running

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Start a coroutine now; what it raises is logged as a fault of ours."""
        self._running += 1
        run(self._to_its_end(coroutine), self._failed)

    async def finished(self) -> None:
        """Wait until nothing runs any more."""
        while self._running:
            waiting: Deferred[None] = Deferred()
            self._waiting.append(waiting)
            await waiting

    async def _to_its_end(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            self._running -= 1
            if not self._running:
                waiting, self._waiting = self._waiting, []
                for one in waiting:
                    one.callback(None)

    def _failed(self, failure: Failure) -> None:
        self._log.failure("a task failed", failure=failure)


_log = logger("server")

_NUMBERS = re.compile(r"[0-9]+(-[0-9]+)?")
LINES = 200
"""Lines of the log that are kept."""


class Watch:
    """Reports and measures of one process; every part is given the same."""

    def __init__(self) -> None:
        self.reports = Reports(lambda: _log.failure("a subscriber of reports failed"))
        self.measures = MetricRegistry()
        self.lines = LastLines(LINES)
        """The last lines of the log; whoever writes a log adds it to the log's observers."""
        self._endpoints = EndpointMeasures(self.measures)
        self._doors = EndpointMetrics(self.measures)
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

    def endpoint(
        self, port: str, endpoint: Endpoint, concealed: Callable[[], int] = lambda: 0
    ) -> None:
        """Measure the sessions of a UDP port, but for so many that are `concealed` now."""
        self._endpoints.watch(port, endpoint, concealed)

    def door(
        self, port: str, uses: EndpointUses, connections: Callable[[], int] | None = None
    ) -> None:
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
            # Some reasons name the client's version: any number would be a label of its own.
            self._refusals.add(_NUMBERS.sub("N", report.event.reason))
