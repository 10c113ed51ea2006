"""How counts, moments and text of the network are written and read.

Text of the network is UTF-8; bytes that are not valid UTF-8 are read as latin-1 (old clients and
worlds send it).
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def counted(count: int, name: str) -> str:
    """Return a number and the name of what it counts, with an s unless it is one."""
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


_TIMESPEC = {0: "seconds", 3: "milliseconds", 6: "microseconds"}


def timestamp(moment: float, digits: int = 0) -> str:
    """Return seconds since 1970 as ``2026-11-21T20:33:07Z``, with 0, 3 or 6 digits behind them.

    Raises `ValueError` for what is no date of the years 1 to 9999.
    """
    return _written(moment // 1 if digits == 0 else moment, digits)


@lru_cache(maxsize=1)  # of the many log lines of one second all have the same
def _written(moment: float, digits: int) -> str:
    try:
        date = datetime.fromtimestamp(moment, UTC)
    except (OverflowError, OSError) as error:
        raise ValueError(f"{moment} is no date") from error
    return date.isoformat(timespec=_TIMESPEC[digits]).replace("+00:00", "Z")


def read_text(data: bytes) -> str:
    """Return the text of some bytes; never fails."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
