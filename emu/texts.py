"""Counts, timestamps and text of the network, as strings.

Text of the network is UTF-8. Bytes that are not valid UTF-8 are read as latin-1, which old clients
and worlds send.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import lru_cache


def counted(count: int, name: str) -> str:
    """Return a number and a noun, with an s unless the number is 1."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


_TIMESPEC = {0: "seconds", 3: "milliseconds", 6: "microseconds"}


def timestamp(moment: float, digits: int = 0) -> str:
    """Return seconds since 1970 as ``2026-11-21T20:33:07Z``, with 0, 3 or 6 decimal places.

    Raises `ValueError` for a date outside the years 1 to 9999.
    """
    return _written(moment // 1 if digits == 0 else moment, digits)


@lru_cache(maxsize=1)  # log lines of the same second share it
def _written(moment: float, digits: int) -> str:
    try:
        date = datetime.fromtimestamp(moment, UTC)
    except (OverflowError, OSError) as error:
        raise ValueError(f"{moment} is no date") from error
    return date.isoformat(timespec=_TIMESPEC[digits]).replace("+00:00", "Z")


def ban_end_text(until: float | None) -> str | None:
    """Return the end of a ban as `timestamp`, or ``never`` (``math.inf``); None without a ban."""
    if until is None:
        return None
    return "never" if until == math.inf else timestamp(until)


def read_text(data: bytes) -> str:
    """Return bytes as text; never fails."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
