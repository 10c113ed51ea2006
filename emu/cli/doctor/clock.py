"""The clock: whether its date can be true, and whether it runs evenly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from emu.cli.doctor.database import read_one
from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.timestamps import timestamp

CLOCK: Final = "clock"
WRITTEN: Final = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
"""No date before this one can be true: the program was not written yet."""
LARGEST_STEP: Final = 0.05
"""Seconds that two clocks may differ over a moment."""
AHEAD: Final = 3600.0
"""Seconds that a stored time may be ahead of the clock."""
SYNC: Final = "timedatectl set-ntp true, or set the clock: date -u --set"


def look_at_clock(
    database: Path,
    date: Callable[[], float],
    steady: Callable[[], float],
    pause: Callable[[float], None],
) -> Iterator[Finding]:
    """Look at the wall clock `date` beside a `steady` one and the times that are stored."""
    yield judge_date(date())
    before = date(), steady()
    pause(0.2)
    yield judge_pace(date() - before[0], steady() - before[1])
    newest = newest_login(database)
    if newest is not None:
        yield judge_stored(newest, date())


def judge_date(date: float) -> Finding:
    """Judge the date, in seconds since 1970."""
    if date < WRITTEN:
        return fail(CLOCK, f"it is not {timestamp(date)} any more", SYNC)
    return ok(CLOCK, f"it is {timestamp(date)}; the machine's time zone does not matter")


def judge_pace(passed: float, steady: float) -> Finding:
    """Judge how much the date went on while so many steady seconds passed."""
    if abs(passed - steady) <= LARGEST_STEP:
        return ok(CLOCK, "the date goes on as steadily as the time that paces sessions")
    return warn(
        CLOCK, f"the date went {passed:.2f} s while {steady:.2f} s passed: something sets it",
        "let one program set the clock; sessions do not mind, bans and last logins do",
    )  # fmt: skip


def judge_stored(newest: float, date: float) -> Finding:
    """Judge the date by the newest login that is stored."""
    if newest <= date + AHEAD:
        return ok(CLOCK, "no login is stored of a time to come")
    return fail(
        CLOCK, f"the last login was at {timestamp(newest)}: the clock has been set back", SYNC
    )


def newest_login(database: Path) -> float | None:
    """Return when the newest login was, None when that is not known."""
    row = read_one(database, "SELECT max(last_login) FROM accounts")
    return None if row is None or row[0] is None else float(row[0])
