"""Times as operators write them on the command line: callbacks for click's options."""

from __future__ import annotations

import math
import re
import time
from datetime import UTC, datetime

import click

from emu.cli.common import together
from emu.times import Moment, Monotonic

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"(\d{1,5})([smhdw])")


def read_duration(text: str) -> float:
    """Return the seconds of a span of time such as ``90m``, ``12h``, ``7d`` or ``2w``."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"{text!r} is no span of time; write it like 90m, 12h, 7d or 2w")
    return float(int(match[1]) * _UNITS[match[2]])


def present() -> Moment:
    """Return the time of the wall clock."""
    return Moment(time.time())


def read_moment(text: str) -> Moment:
    """Return the unix time of a date, or of date and time; UTC unless it says otherwise."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is no date; write it like 2030-12-31 or 2030-12-31T18:00"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return Moment(moment.timestamp())


end_options = together(
    click.option(
        "--until",
        callback=lambda _ctx, _param, text: None if text is None else read_moment(text),
        help="When the ban ends, in UTC, like 2030-12-31T18:00.",
    ),
    click.option(
        "--for",
        "lasting",
        callback=lambda _ctx, _param, text: None if text is None else read_duration(text),
        help="How long it lasts: 90m, 12h, 7d, 2w.",
    ),
)
"""``--until`` and ``--for``, which `end_of` joins."""


def end_of(until: Moment | None, lasting: float | None, moment: Moment) -> Moment:
    """Return when something ends: at a moment, after a while, or never (``math.inf``)."""
    if until is not None and lasting is not None:
        raise click.UsageError("give --until or --for, not both")
    if until is not None and until <= moment:
        raise click.UsageError("--until is in the past")
    if lasting is not None:
        return Moment(moment + lasting)
    return Moment(math.inf) if until is None else until


def passing() -> Monotonic:
    """Return the time that paces what a command waits for."""
    return Monotonic(time.monotonic())
