"""A pending shutdown: when it happens, and when it is announced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.texts import counted
from emu.times import Monotonic

ANNOUNCED: Final = (3600, 1800, 900, 600, 300, 120, 60, 30, 10, 5, 4, 3, 2, 1)
"""Announcements are made so many seconds before the shutdown."""


class Countdown:
    """At most one pending shutdown. `announce` sends a text to all players."""

    def __init__(self, announce: Callable[[str], None], stop: Callable[[], object]) -> None:
        """`stop` is called when the countdown ends."""
        self._announce = announce
        self._stop = stop
        self._end: Monotonic | None = None
        self._left: list[int] = []

    def start(self, seconds: float, now: Monotonic) -> None:
        """Schedule a shutdown in some seconds. It replaces an earlier one."""
        self._end = Monotonic(now + seconds)
        self._left = [one for one in ANNOUNCED if one < seconds]
        if seconds > 0:
            self._announce(f"The server stops in {spoken(round(seconds))}.")
        self.handle_timer(now)

    def cancel(self) -> bool:
        """Cancel the shutdown; return False if there is none."""
        if self._end is None:
            return False
        self._end = None
        self._announce("The shutdown is canceled.")
        return True

    def get_timer(self) -> Monotonic | None:
        """Return the time of the next announcement or of the shutdown, or None."""
        if self._end is None:
            return None
        return Monotonic(self._end - self._left[0]) if self._left else self._end

    def handle_timer(self, now: Monotonic) -> None:
        """Announce or stop. Missed announcements are skipped; only the last due one is made."""
        if self._end is None:
            return
        if now >= self._end:
            self._end = None
            self._stop()
            return
        due = None
        while self._left and now >= self._end - self._left[0]:
            due = self._left.pop(0)
        if due is not None:
            self._announce(f"The server stops in {spoken(due)}.")


def spoken(seconds: int) -> str:
    """Return a duration as a text for players, for instance "5 minutes"."""
    for size, name in ((3600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            return counted(seconds // size, name)
    return counted(seconds, "second")
