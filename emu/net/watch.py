"""Reports of a process about itself: events, metrics and the last lines of its log.

Each area of the server defines its events (`emu.login.events`, `emu.world.reports`, ...). `Reports`
delivers them to logs, pages and recorders, which decide what to do with them. The functions
`log_event`, `report_to`, `report_world` and `report_use` write the log lines of the login service,
of zone entries, of the world and of commands. `RefusalLog` keeps repeated refusals and faults out
of a log: it writes the first at once and sums up the others once a minute; `emu.limits.repeats`
decides which.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from twisted.logger import Logger, LogLevel
from twisted.python.failure import Failure

from emu.commands import Use
from emu.limits.repeats import RepeatedEvent, Repeats
from emu.login.events import AccountLoggedIn, LoginEvent, LoginRefused, event_values, format_event
from emu.login.ports import LoginRefusalReason
from emu.metrics import EndpointMetrics, EndpointUses, Histogram, MetricRegistry
from emu.net.logs import LastLines, is_written, log_fault, logger, write_line
from emu.net.scheduler import DelayedCall, Scheduler
from emu.net.store import Storage
from emu.net.udp.session_port import Accounting
from emu.session import Endpoint, EndpointMeasures
from emu.world.entry.zone_entry import (
    CharacterEntered,
    MovedEntry,
    ZoneEntryEvent,
    ZoneEntryRefused,
)
from emu.world.reports import (
    EntryRefused,
    Fault,
    PlayerEntered,
    PlayerLeft,
    PlayerRefused,
    WorldEvent,
)


@dataclass(frozen=True, slots=True)
class Report:
    """One event and the area of the server that reports it, for instance ``"login"``."""

    area: str
    event: Any


class Reports:
    """Delivers every event to all subscribers, in the order of their subscriptions.

    A subscriber that raises stays subscribed, and the others still get the event; `failed` is
    called while the exception is being handled.
    """

    def __init__(self, failed: Callable[[], object]) -> None:
        self._failed = failed
        self._subscribers: dict[object, tuple[str | None, Callable[[Report], object]]] = {}

    def port(self, area: str) -> Callable[[object], None]:
        """Return the function that an area calls with each of its events."""

        def report_event(event: object) -> None:
            report = Report(area, event)
            # A copy: a subscriber may end its subscription, or begin another, when it is called.
            for wanted, take in tuple(self._subscribers.values()):
                if wanted is None or wanted == area:
                    try:
                        take(report)
                    except Exception:  # noqa: BLE001  # whatever it is
                        self._failed()

        return report_event

    def subscribe(
        self, take: Callable[[Report], object], area: str | None = None
    ) -> Callable[[], None]:
        """Call `take` with every report, or with those of one area.

        Returns the function that ends the subscription; a second call of it does nothing.
        """
        # Two subscriptions of the same function are ended one by one.
        key = object()
        self._subscribers[key] = (area, take)

        def end() -> None:
            self._subscribers.pop(key, None)

        return end


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

    def storage(self, storage: Storage) -> None:
        """Measure the database: calls that wait, and how many times it could not be reached."""
        self.queue("store", "Calls to the database that wait.", lambda: storage.waiting)
        self.queue("writes", "Deferred writes that wait.", lambda: storage.deferred)
        reach = storage.reach
        if reach is not None:
            away = self.measures.counter("database_away", "Times that the database was away.")
            away.also(lambda: {(): reach.times_away})

    def turns(self, port: str, accounting: Accounting) -> None:
        """Measure what the shares of a turn have cost the sessions of a UDP port."""
        self.reasons(
            f"{port}_turns",
            "Sessions that used up their share of a turn, and datagrams that were not read.",
            lambda: {
                "session late": accounting.late_sessions,
                "datagram unread": accounting.unread_datagrams,
            },
        )

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
            reason = report.event.reason
            # Two reasons would show a reader of the metrics which accounts exist.
            if reason == LoginRefusalReason.NO_SUCH_ACCOUNT:
                reason = LoginRefusalReason.BAD_PASSWORD
            # Some reasons quote the client's version. Each number would make a label of its own.
            self._refusals.add(_NUMBERS.sub("N", reason))


INTERVAL = 60.0
"""Seconds between two summaries."""


class RefusalLog:
    """Keeps repetitions out of the log of one area. `start`, then `stop`."""

    def __init__(self, log: Logger, scheduler: Scheduler) -> None:
        self._log = log
        self._repeats = Repeats()
        self._scheduler = scheduler
        self._summary: DelayedCall | None = None

    def is_news(self, kind: str, account: str, address: str, reason: str) -> bool:
        """Return whether to write a line now; `kind` is the noun of the summary, in the plural."""
        return self._repeats.is_news(kind, account, address, reason)

    def is_within_rate(self, kind: str, account: str, address: str, reason: str) -> bool:
        """Return whether to write a line about an ordinary event now."""
        return self._repeats.is_within_rate(kind, account, address, reason)

    def start(self) -> None:
        """Write summaries from now on."""
        self._summary = self._scheduler.every(INTERVAL, self._write_summary)

    def stop(self) -> None:
        """Write the last summary."""
        if self._summary is not None:
            self._summary.cancel()
            self._summary = None
        self._write_summary()

    def _write_summary(self) -> None:
        for one in self._repeats.take_counts():
            self._log.info(
                "{count} more {kind} of {who}: {why}",
                count=one.count, kind=one.kind, who=_who(one), why=_why(one),
                account=one.account, address=one.address, reasons=dict(one.reasons),
            )  # fmt: skip


def _who(one: RepeatedEvent) -> str:
    if one.account and one.address:
        return f"{one.account} from {one.address}"
    if one.account:
        return f"{one.account} from several addresses"
    return one.address or "several addresses"


def _why(one: RepeatedEvent) -> str:
    return ", ".join(f"{reason} ({count})" for reason, count in one.reasons.most_common())


_FAULTS: Final = "faults"


def log_event(log: Logger, refusals: RefusalLog) -> Callable[[LoginEvent], None]:
    """Return the service's `log` port: one line for each event, with its fields for JSON.

    Events that unauthenticated peers can repeat are passed to `refusals`, which writes the first
    and sums up the rest.
    """
    levels = {name: LogLevel.levelWithName(name) for name in ("debug", "info", "warn")}

    def write(event: LoginEvent) -> None:
        level = levels[event.level]
        # Before the values are collected: a dropped event must cost next to nothing.
        if not is_written(level):
            return
        values = event_values(event)
        account, reason = str(values.get("account", "")), str(values.get("reason", ""))
        if event.ordinary and not refusals.is_within_rate(
            event.ordinary, account, event.address, reason or event.ordinary
        ):
            return
        if event.repeats and not refusals.is_news(
            event.repeats, account, event.address, reason or "refused"
        ):
            return
        line = format_event(event, values)
        name = event.log_name or type(event).__name__
        write_line(log, level, line, name, values)

    return write


def report_to(log: Logger, refusals: RefusalLog) -> Callable[[ZoneEntryEvent], None]:
    """Return the zone entry's `report` port; repeated events are summed up."""

    def write(event: ZoneEntryEvent) -> None:
        if isinstance(event, CharacterEntered):
            if not refusals.is_within_rate("arrivals", event.name, event.address, "came in"):
                return
            log.info(
                "{name} entered from {address}, client {version}",
                name=event.name, address=event.address, version=event.version,
                account_id=event.account_id,
            )  # fmt: skip
        elif isinstance(event, ZoneEntryRefused):
            if refusals.is_news("clients refused", "", event.address, event.text):
                log.info(
                    "{address} was refused: {reason}",
                    address=event.address, reason=event.text,
                )  # fmt: skip
        elif isinstance(event, MovedEntry):
            if refusals.is_within_rate("address changes", event.name, event.address, "moved"):
                log.info(
                    "{name} is at {address} port {port} now, before at {before}",
                    name=event.name, address=event.address, port=event.port, before=event.before,
                )  # fmt: skip
        elif refusals.is_within_rate("departures", event.name, event.address, event.reason):
            log.info(
                "{name} from {address} left: {reason}",
                name=event.name, address=event.address, reason=event.reason,
            )  # fmt: skip

    return write


def report_world(log: Logger, refusals: RefusalLog) -> Callable[[WorldEvent], None]:
    """Return the world's `report` port: one line an event; repeated events are summed up."""

    def write(event: WorldEvent) -> None:
        if isinstance(event, PlayerRefused) and not refusals.is_news(
            "refusals", event.name, event.address, event.reason
        ):
            return
        if isinstance(event, EntryRefused) and not refusals.is_news(
            "entries refused", f"account {event.account_id}", event.address, event.reason
        ):
            return
        if isinstance(event, Fault):
            # The task takes the place of the address: one faulty task does not hide the faults of
            # others.
            if refusals.is_news(_FAULTS, "", event.task, type(event.error).__name__):
                _write_fault(log, event)
            return
        if isinstance(event, PlayerEntered):
            if not refusals.is_within_rate("entries", event.name, event.address, event.zone):
                return
        elif isinstance(event, PlayerLeft) and not refusals.is_within_rate(
            "exits", event.name, "", event.reason
        ):
            return
        log.emit(
            LogLevel.levelWithName(event.level), "{line}", line=event.line,
            event=type(event).__name__,
        )  # fmt: skip

    return write


def _write_fault(log: Logger, event: Fault) -> None:
    """Log a fault of the server, or of an engine that it uses."""
    failure = Failure(event.error)  # type: ignore[no-untyped-call]
    log_fault(log, "{line}", failure, line=event.line, event=type(event).__name__)


LONGEST_REASON = 120
"""The most characters of a reason that `report_use` compares; replies quote what was typed."""


def report_use(log: Logger, refusals: RefusalLog) -> Callable[[Use], None]:
    """Return what `Registry.report` calls: it logs every use."""

    def write(use: Use) -> None:
        result = use.result.splitlines()[0] if use.result else "done"
        who = f"{use.caller} ({use.origin})"
        # Failed commands can be repeated at will, so repetitions are only counted.
        if not use.ok and not refusals.is_news("failed commands", "", who, result[:LONGEST_REASON]):
            return
        log.info(
            "command of {who} ({origin}): {command}: {result}",
            who=use.caller, origin=use.origin, command=use.line, ok=use.ok, result=result,
        )  # fmt: skip

    return write
