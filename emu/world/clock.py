"""The world's time of day: a minute every three seconds, counted from the wall clock.

It is a function of the wall clock. So it goes on while the server is down, and every process of a
world shows the same time. A client gets it on entering a zone and then counts by itself at the same
pace; it needs no further message. Months have 30 days and a year has 12 of them; both count
from 0 (docs/protocol/world/entering.md#game-time).
"""

from __future__ import annotations

from typing import NamedTuple

from emu.times import Moment

SECONDS_PER_MINUTE = 3.0
HOURS, DAYS, MONTHS, MINUTES = 24, 30, 12, 60
FIRST_YEAR = 3000


class GameTime(NamedTuple):
    """A moment of the world's calendar; messages have fields of these names."""

    year: int
    month: int
    day: int
    hour: int
    minute: int

    def __str__(self) -> str:
        return f"{self.hour:02}:{self.minute:02}, day {self.day + 1} of month {self.month + 1}"


def game_time(moment: Moment) -> GameTime:
    """Return the world's time at a moment."""
    rest, minute = divmod(int(moment // SECONDS_PER_MINUTE), MINUTES)
    rest, hour = divmod(rest, HOURS)
    rest, day = divmod(rest, DAYS)
    year, month = divmod(rest, MONTHS)
    return GameTime(max(0, FIRST_YEAR + year), month, day, hour, minute)
