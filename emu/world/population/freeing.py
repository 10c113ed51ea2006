"""Lets go of what ended zones had, a slice in each turn.

A large zone has a hundred thousand objects. Python frees all of them when the last name of their
container goes: a tenth of a second in which nobody is served, whichever thread does it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from emu.times import Monotonic
from emu.world.deadlines import Deadlines, Timetable

AT_ONCE: Final = 100
"""Objects between two looks at the clock; a template with all its rows takes 5 microseconds."""
PAUSE: Final = 0.01
"""Seconds between two slices, in which sessions are served."""
FREE: Final = "free"


class Freeing:
    """What is about to be freed."""

    def __init__(self, timetable: Timetable, now: Callable[[], Monotonic]) -> None:
        """Wait for the first zone to end."""
        self._now = now
        self._timetable = timetable
        self._deadlines: Deadlines[str, str] = timetable.deadlines(
            "what ended zones had", self._free_some
        )
        self._parts: list[list[object]] = []

    def __len__(self) -> int:
        """Return how many objects still wait."""
        return sum(map(len, self._parts))

    def free_in_slices(self, *parts: Collection[object]) -> None:
        """Keep the objects of large containers, and free them in slices.

        The caller lets go of the containers themselves.
        """
        self._parts += [list(one) for one in parts if one]
        if self._parts:
            self._deadlines.set("", FREE, self._now())

    def _free_some(self, _owner: str, _what: str, now: Monotonic) -> None:
        if not self._timetable.may_work(self._now()):
            self._deadlines.set("", FREE, now)
            return
        while self._parts:
            del self._parts[-1][-AT_ONCE:]
            if not self._parts[-1]:
                self._parts.pop()
            if not self._timetable.may_work(self._now()):
                break
        if self._parts:
            self._deadlines.set("", FREE, Monotonic(now + PAUSE))
