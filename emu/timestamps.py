"""How a moment is written: ISO 8601 in UTC, the same in logs, tables, captures and JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

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
