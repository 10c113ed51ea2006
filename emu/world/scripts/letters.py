"""The letters that scripts send: stored one after another, at a bounded rate.

Each letter is a transaction. A script can ask for hundreds in one call, so they wait in a queue of
limited length, of which the server stores some each second. Source: docs/guides/lua.md#past.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from emu.errors import StoreError
from emu.times import Monotonic
from emu.world.deadlines import Deadlines, Timetable

PAUSE: Final = 0.1
"""Seconds between two letters."""
MOST_WAITING: Final = 200
"""Letters that wait, of all scripts."""
MOST_FOR_ONE: Final = 10
"""Letters that wait for one character."""

Delivery = Callable[[], Coroutine[Any, Any, object]]
"""Stores one letter. Raises `StoreError`."""


class Letters:
    """The letters that wait to be stored."""

    def __init__(
        self,
        *,
        start: Callable[[Coroutine[Any, Any, None]], object],
        timetable: Timetable,
        now: Callable[[], Monotonic],
        counters: Counter[str],
    ) -> None:
        """`start` runs a coroutine that nobody awaits."""
        self._start = start
        self._now = now
        self._counters = counters
        self._waiting: deque[tuple[int, Delivery]] = deque()
        self._for: Counter[int] = Counter()
        """How many letters wait for a character, by its number."""
        self._next: Deadlines[str, str] = timetable.deadlines(
            "the letters of scripts", self._store_next
        )
        """When the next letter is stored; nothing if none waits, or while one is stored."""
        self._is_storing = False

    def send(self, char_id: int, deliver: Delivery) -> bool:
        """Store a letter to a character when it is its turn; return False if too many wait."""
        if len(self._waiting) >= MOST_WAITING or self._for[char_id] >= MOST_FOR_ONE:
            self._counters["letters left out"] += 1
            return False
        self._waiting.append((char_id, deliver))
        self._for[char_id] += 1
        if not len(self._next) and not self._is_storing:
            self._plan(self._now())
        return True

    def _store_next(self, _owner: str, _name: str, _now: Monotonic) -> None:
        char_id, deliver = self._waiting.popleft()
        self._for[char_id] -= 1
        if not self._for[char_id]:
            del self._for[char_id]
        self._is_storing = True
        self._start(self._store(deliver))

    async def _store(self, deliver: Delivery) -> None:
        try:
            await deliver()
        except StoreError:
            self._counters["letters that were not stored"] += 1
        finally:
            # The next one waits for the end of this one, also while the database is slow.
            self._is_storing = False
            if self._waiting:
                self._plan(Monotonic(self._now() + PAUSE))

    def _plan(self, when: Monotonic) -> None:
        self._next.set("", "", when)
