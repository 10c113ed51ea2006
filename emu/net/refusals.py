"""Refusals and faults in the log: the first at once, the rest summed up once a minute.

What is news decides `emu.limits.repeats`; this gives it a clock and words.
"""

from __future__ import annotations

from twisted.logger import Logger

from emu.limits.repeats import RepeatedEvent, Repeats
from emu.net.scheduler import DelayedCall, Scheduler

INTERVAL = 60.0


class RefusalLog:
    """Keeps what repeats itself out of one area's log. `start`, then `stop`."""

    def __init__(self, log: Logger, scheduler: Scheduler) -> None:
        self._log = log
        self._repeats = Repeats()
        self._scheduler = scheduler
        self._telling: DelayedCall | None = None

    def is_news(self, kind: str, account: str, address: str, reason: str) -> bool:
        """Say whether a line is to be written now; `kind` is what is counted, in the plural."""
        return self._repeats.is_news(kind, account, address, reason)

    def is_within_rate(self, kind: str, account: str, address: str, reason: str) -> bool:
        """Say whether a line is to be written of what everybody may do, and not so often."""
        return self._repeats.is_within_rate(kind, account, address, reason)

    def start(self) -> None:
        """Write the sums from now on."""
        self._telling = self._scheduler.every(INTERVAL, self._tell)

    def stop(self) -> None:
        """Write what was counted last."""
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        self._tell()

    def _tell(self) -> None:
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
