"""The two times; a value of one is never taken for the other.

`Monotonic` paces: sessions, links, limits, ticks. It has no date, and setting the machine's clock
does not move it. `Moment` is stored and shown. Durations, and sums with them inside a module, are
plain floats; what a public signature takes or returns says which time it is.
"""

from __future__ import annotations

from typing import NewType, Protocol

Monotonic = NewType("Monotonic", float)
"""Seconds since a start that means nothing, never set back; what `now` and `get_timer` are in."""

Moment = NewType("Moment", float)
"""Seconds since 1970-01-01T00:00:00Z by the wall clock, which people and time servers set."""

UNKNOWN = Moment(0.0)
"""What is stored where nobody knows when."""

FOR_EVER = Moment(253402300799.0)
"""How an end that never comes is stored: the last second of the year 9999."""

MOST_SECONDS = 0xFFFFFFFF


def lies_ahead(end: Moment, moment: Moment) -> bool:
    """Say whether something that is stored with an end has not ended; `UNKNOWN` is no end.

    A clock may stand before 1970, where `UNKNOWN` would lie ahead of it.
    """
    return end != UNKNOWN and moment < end


def unix_seconds(moment: float) -> int:
    """Return a moment as clients take it: whole seconds in 32 bits, the nearest there are."""
    return int(max(0, min(MOST_SECONDS, moment)))


class Clock(Protocol):
    """Reads both times; the shell's is `emu.net.scheduler.Scheduler`."""

    def now(self) -> Monotonic:
        """Return the time that paces."""

    def moment(self) -> Moment:
        """Return the time that is stored and shown."""
