"""The two kinds of time, as types that cannot be mixed up.

`Monotonic` measures durations: sessions, links, limits, ticks. It has no date, and setting the
machine's clock does not change it. `Moment` is stored and shown. Durations, and sums of times
inside a module, are plain floats; public signatures name the kind of time.
"""

from __future__ import annotations

from typing import NewType, Protocol

Monotonic = NewType("Monotonic", float)
"""Seconds since an arbitrary start, never set back; the time of `now` and `get_timer`."""

Moment = NewType("Moment", float)
"""Seconds since 1970-01-01T00:00:00Z by the wall clock, which people and time servers set."""

UNKNOWN = Moment(0.0)
"""The stored value of an unknown time."""

FOR_EVER = Moment(253402300799.0)
"""The stored value of an end that never comes: the last second of the year 9999."""

DAY = 86_400.0
"""Seconds of a day."""

MOST_SECONDS = 0xFFFFFFFF


def lies_ahead(end: Moment, moment: Moment) -> bool:
    """Return whether a stored end is in the future; `UNKNOWN` never is."""
    # A machine's clock may show a time before 1970; `UNKNOWN` would be in its future.
    return end != UNKNOWN and moment < end


def unix_seconds(moment: float) -> int:
    """Return a moment in the form for clients: whole seconds in 32 bits, clamped."""
    return int(max(0, min(MOST_SECONDS, moment)))


class Clock(Protocol):
    """Reads both kinds of time; `emu.net.scheduler.Scheduler` is the implementation."""

    def now(self) -> Monotonic:
        """Return the steady time."""

    def moment(self) -> Moment:
        """Return the wall-clock time."""
