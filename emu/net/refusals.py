"""Refusals and faults in the log: the first at once, repetitions summed up once a minute.

`emu.limits.repeats` decides what is reported at once; this module adds the timer and the text.
"""

from __future__ import annotations

from twisted.logger import Logger

from emu.limits.repeats import RepeatedEvent, Repeats
from emu.net.scheduler import DelayedCall, Scheduler

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
