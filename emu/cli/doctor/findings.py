"""One finding of the doctor's report."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Level(enum.StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(NamedTuple):
    """The result of one check: its subject, the state, and the fix (empty without a fault)."""

    level: Level
    check: str
    what: str
    fix: str = ""


def ok(check: str, what: str) -> Finding:
    """Return a finding without a fault."""
    return Finding(Level.OK, check, what)


def warn(check: str, what: str, fix: str) -> Finding:
    """Return a warning: this may become a fault."""
    return Finding(Level.WARN, check, what, fix)


def fail(check: str, what: str, fix: str) -> Finding:
    """Return a fault: it stops the server or its players."""
    return Finding(Level.FAIL, check, what, fix)
