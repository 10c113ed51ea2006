"""Requests that a world has not answered yet. Knows neither worlds nor messages."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from emu.times import Monotonic

Key = TypeVar("Key", bound=Hashable)


class PendingAnswers(Generic[Key]):
    """Who asked what and until when an answer counts; the same key may be asked several times."""

    __slots__ = ("_asked", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._asked: OrderedDict[Key, tuple[int, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._asked)

    def add(self, key: Key, expires: float, now: Monotonic) -> bool:
        """Remember a request; False when too many keys are unanswered."""
        self._expire(now)
        times, _ = self._asked.pop(key, (0, 0.0))
        if not times and len(self._asked) >= self._limit:
            return False
        self._asked[key] = (times + 1, expires)
        return True

    def take(self, key: Key, now: Monotonic) -> bool:
        """Take an answer; False when nobody waits for it."""
        self._expire(now)
        times, expires = self._asked.get(key, (0, 0.0))
        if times > 1:
            self._asked[key] = (times - 1, expires)
        elif times:
            del self._asked[key]
        return times > 0

    def waiting(self, now: Monotonic) -> bool:
        """Say whether any request is unanswered."""
        self._expire(now)
        return bool(self._asked)

    def _expire(self, now: Monotonic) -> None:
        while self._asked:
            key, (_, expires) = next(iter(self._asked.items()))
            if expires > now:
                return
            del self._asked[key]
