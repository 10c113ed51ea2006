"""One line of the doctor's report."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Level(enum.StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(NamedTuple):
    """What was looked at, how it is, and how to mend it (empty for what is well)."""

    level: Level
    check: str
    what: str
    mend: str = ""


def ok(check: str, what: str) -> Finding:
    """Return that something is well."""
    return Finding(Level.OK, check, what)


def warn(check: str, what: str, mend: str) -> Finding:
    """Return that something may become trouble."""
    return Finding(Level.WARN, check, what, mend)


def fail(check: str, what: str, mend: str) -> Finding:
    """Return that something keeps the server or its players from their work."""
    return Finding(Level.FAIL, check, what, mend)
