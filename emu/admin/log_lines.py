"""Lines of the server's log, read again: both forms that `emu.net.logs` writes.

Source: docs/guides/monitoring.md#page.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address
from typing import Any, Final

from emu.times import FOR_EVER, UNKNOWN, Moment

LEVELS: Final = ("debug", "info", "warn", "error", "critical")
"""From the least severe one."""
WITHHELD_TEXT: Final = "\N{HORIZONTAL ELLIPSIS}"
"""The replacement of an address."""
# Finds anything that could be an address; `_withheld` decides.
_MAYBE_ADDRESS: Final = re.compile(
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)|(?<![\w:])[0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*\w"
)
_TEXT: Final = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]{8,15}Z) (\w+) +(\S+): (.*)")


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the log."""

    moment: Moment
    level: str
    area: str
    text: str
    details: str = ""
    """A traceback; empty without one."""


@dataclass(frozen=True, slots=True)
class LogFilter:
    """What is searched in the log."""

    level: str = "debug"
    """The least severe level."""
    area: str = ""
    """The area, as `world`; that of a worker, as `world/2`, is one of it."""
    since: Moment = UNKNOWN
    until: Moment = FOR_EVER
    word: str = ""

    def admits(self, line: LogLine) -> bool:
        """Return whether a line is searched for."""
        if not self.since <= line.moment <= self.until:
            return False
        if line.level in LEVELS and LEVELS.index(line.level) < LEVELS.index(self.level):
            return False
        if self.area and line.area.split("/")[0].split(".")[0] != self.area:
            return False
        word = self.word.casefold()
        return not word or any(word in one.casefold() for one in (line.text, line.details))


def log_line(text: str) -> LogLine | None:
    """Return what a line of a log says; None for what is no line of ours, as one of a traceback."""
    if text.startswith("{"):
        return _of_json(text)
    found = _TEXT.fullmatch(text)
    if found is None or found[2] not in LEVELS:
        return None
    moment = _moment(found[1])
    return None if moment is None else LogLine(moment, found[2], found[3], found[4])


def _of_json(text: str) -> LogLine | None:
    try:
        record: Any = json.loads(text)
    except ValueError:
        return None
    values = [record.get(name) for name in ("time", "level", "area", "text")]
    if not all(isinstance(one, str) for one in values) or values[1] not in LEVELS:
        return None
    moment = _moment(values[0])
    if moment is None:
        return None
    worker = record.get("worker")
    area = values[2] if worker is None else f"{values[2]}/{worker}"
    details = str(record.get("traceback", ""))
    return LogLine(moment, values[1], area, values[3], details)


def _moment(text: str) -> Moment | None:
    try:
        return Moment(datetime.fromisoformat(text).timestamp())
    except ValueError:
        return None


def without_addresses(line: str) -> str:
    """Return a line of the log with IP addresses replaced, except loopback addresses."""
    return _MAYBE_ADDRESS.sub(_withheld, line)


def _withheld(found: re.Match[str]) -> str:
    try:
        address = ip_address(found[0])
    except ValueError:
        return found[0]
    # Loopback and unspecified addresses reveal nothing about players.
    return found[0] if address.is_loopback or address.is_unspecified else WITHHELD_TEXT
