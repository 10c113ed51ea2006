"""Lines of the world with a hint for a player, beside its journal.

"Speak with an Ambassador if you are ready to leave the island." is a task like one of the journal,
until the journal changes. "You must leave the Isle to gain levels." says that fights are of no use
here.
"""

from __future__ import annotations

import re
from typing import Final

from emu.client.world.windows import QuestTask

MOST: Final = 5
"""Hints that it keeps; the newest count."""
_TO_WHOM: Final = re.compile(
    r"\b(?:speak|talk) (?:with|to) .+?(?= about\b| if\b| to\b| in\b| before\b|[.!,]|$)",
    re.IGNORECASE,
)
_STOPPED: Final = re.compile(r"\byou must\b.*\blevels\b", re.IGNORECASE)
_ELSEWHERE: Final = re.compile(r"\bmust leave\b", re.IGNORECASE)


class Hints:
    """What lines have said since the journal has changed, and since the last level."""

    def __init__(self) -> None:
        self._tasks: dict[str, QuestTask] = {}
        self._state = 0
        self._stopped_at = 0
        """The level at which experience was refused; 0 if it was not."""
        self._left: set[str] = set()
        """The zones that it must leave for another level."""

    def read(self, text: str, *, level: int, zone: str) -> bool:
        """Note what a line says; return whether that is new."""
        if _STOPPED.search(text):
            is_new = self._stopped_at != level
            self._stopped_at = level
            if _ELSEWHERE.search(text):
                self._left.add(zone)
            return is_new
        found = _TO_WHOM.search(text)
        if found is None or found[0] in self._tasks:
            return False
        while len(self._tasks) >= MOST:
            del self._tasks[next(iter(self._tasks))]
        self._tasks[found[0]] = QuestTask(found[0], "", False, 0, 1)
        return True

    def tasks(self, state: int) -> list[QuestTask]:
        """Return the tasks of lines since the journal's `state`, which rises with each change."""
        if state != self._state:
            self._state = state
            self._tasks.clear()
        return list(reversed(self._tasks.values()))

    def renew(self) -> None:
        """Note that a quest is complete: experience may be of use again."""
        self._stopped_at = 0

    def is_stopped(self, level: int) -> bool:
        """Whether experience is of no use at a level until something else is done."""
        return self._stopped_at == level and level > 0

    def must_leave(self, level: int, zone: str) -> bool:
        """Whether there are levels in another zone only."""
        return self.is_stopped(level) and zone in self._left
