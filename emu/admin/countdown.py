"""A shutdown that comes: who wants it, when it comes, and at which moments it is announced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.texts import counted
from emu.times import Monotonic

ANNOUNCED: Final = (3600, 1800, 900, 600, 300, 120, 60, 30, 10, 5, 4, 3, 2, 1)
"""Seconds before the end at which everybody is told."""


class Countdown:
    """At most one shutdown at a time. `announce` takes a text for everybody."""

    def __init__(self, announce: Callable[[str], None], stop: Callable[[], object]) -> None:
        """`stop` is called when the time has come."""
        self._announce = announce
        self._stop = stop
        self._end: Monotonic | None = None
        self._left: list[int] = []

    def start(self, seconds: float, now: Monotonic) -> None:
        """Stop after some seconds, in place of an earlier shutdown."""
        self._end = Monotonic(now + seconds)
        self._left = [one for one in ANNOUNCED if one < seconds]
        if seconds > 0:
            self._announce(f"The server stops in {spoken(round(seconds))}.")
        self.handle_timer(now)

    def cancel(self) -> bool:
        """Take it back; False when there is none."""
        if self._end is None:
            return False
        self._end = None
        self._announce("The server does not stop.")
        return True

    def get_timer(self) -> Monotonic | None:
        """Return when something is due."""
        if self._end is None:
            return None
        return Monotonic(self._end - self._left[0]) if self._left else self._end

    def handle_timer(self, now: Monotonic) -> None:
        """Announce or stop; announcements that were missed are left out."""
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
    """Return a duration as people say it."""
    for size, name in ((3600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            return counted(seconds // size, name)
    return counted(seconds, "second")
