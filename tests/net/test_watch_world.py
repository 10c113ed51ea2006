"""The log lines of zone entries and of the world."""

from __future__ import annotations

from typing import Any

from twisted.internet.task import Clock
from twisted.logger import Logger, LogLevel

from emu.net.scheduler import Scheduler
from emu.net.watch import RefusalLog, report_to, report_world
from emu.world.entry.zone_entry import CharacterEntered, Left, ZoneEntryRefusal, ZoneEntryRefused
from emu.world.reports import PlayerRefused


def observed() -> tuple[Logger, list[dict[str, Any]]]:
    entries: list[dict[str, Any]] = []
    return Logger("test", observer=entries.append), entries  # type: ignore[arg-type]


def test_what_happens_is_written() -> None:
    log, entries = observed()
    refusals = RefusalLog(log, Scheduler(Clock()))
    for _ in range(100):
        report_world(log, refusals)(PlayerRefused("Aldana", "::1", "too fast"))
    listener = report_to(log, refusals)
    listener(CharacterEntered("Aldana", 1, 2, "::1", 546))
    listener(ZoneEntryRefused("::1", ZoneEntryRefusal.NO_SUCH_KEY))
    listener(Left("Aldana", "::1", "closed"))
    assert [entry["log_level"] for entry in entries] == [
        LogLevel.warn, LogLevel.info, LogLevel.info, LogLevel.info
    ]  # fmt: skip
    assert entries[0]["line"] == "Aldana from ::1: too fast"
    refusals.stop()
    assert entries[-1]["count"] == 99, "the rest is summed up"
