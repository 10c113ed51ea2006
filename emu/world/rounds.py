"""Rounds: what is done for each of many members again and again, with one deadline for all.

A deadline of its own for each would cost more than a short look.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from emu.times import Monotonic
from emu.world.deadlines import MOST_WAITS, Timetable

Member = TypeVar("Member", bound=Hashable)
SHARED: Final = 0.25
"""Seconds between the instants of rounds: those that are due at one instant wake the process once.
"""
_ALL: Final = ""
"""Owner and name of the one deadline."""


class Rounds(Generic[Member]):
    """Visits each member once in every `pause` seconds; without members it has no deadline."""

    __slots__ = ("_deadlines", "_late", "_least", "_members", "_pause", "_task", "_times", "_visit")

    def __init__(
        self,
        timetable: Timetable,
        task: str,
        pause: float,
        visit: Callable[[Member, Monotonic], bool],
    ) -> None:
        """`visit` returns False if the member should be visited again in the next turn.

        A fault in it is counted under `task` and stops no other visit.
        """
        self._times, self._task, self._pause, self._visit = timetable, task, pause, visit
        self._deadlines = timetable.deadlines(task, self._go_round)
        self._members: dict[Member, None] = {}
        self._late: list[Member] = []
        """Those that this round has not visited yet, the next one last."""
        self._least = 1
        """The visits of a turn that has taken long already."""

    def add(self, member: Member, now: Monotonic) -> None:
        """Visit a member from the next round on."""
        if not self._members:
            self._set_next(now)
        self._members[member] = None

    def discard(self, member: Member) -> None:
        """Visit a member no more; do nothing if it is none."""
        self._members.pop(member, None)
        if not self._members:
            self._late.clear()
            self._deadlines.clear(_ALL, _ALL)

    def _set_next(self, now: Monotonic) -> None:
        due = round((now + self._pause) / SHARED) * SHARED
        self._deadlines.set(_ALL, _ALL, Monotonic(due))

    def _go_round(self, _owner: str, _name: str, now: Monotonic) -> None:
        """Visit all, or as many as one turn has time for: the others follow in the next turns."""
        late, times = self._late, self._times
        if not late:
            late.extend(reversed(self._members))
            self._least = -(-len(late) // MOST_WAITS)
        again: list[Member] = []
        visits = 0
        while late and (visits < self._least or not times.is_long()):
            visits += 1
            member = late.pop()
            if member in self._members:
                times.attempt(self._task, None, self._visit_one, member, now, again)
        late.extend(again)
        if not self._members:
            late.clear()
        elif late:
            self._deadlines.set(_ALL, _ALL, now)
        else:
            self._set_next(now)

    def _visit_one(self, member: Member, now: Monotonic, again: list[Member]) -> None:
        if not self._visit(member, now):
            again.append(member)
