"""Failures of the actors of a zone: who fails several times in a row is paused."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from emu.times import Monotonic

Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class _Record:
    name: str
    last: float
    """Time of the last failure."""
    failures: int = 0
    until: float = 0.0
    """End of the pause; 0 if it is not paused."""


class Strikes(Generic[Key]):
    """Failures of many actors; `records` is empty while none has failed lately.

    Failures are in a row until the actor works (`worked`) or has not failed for two pauses.
    """

    __slots__ = ("_limit", "_seconds", "records")

    def __init__(self, limit: int, seconds: float) -> None:
        """Pause an actor for `seconds` after `limit` failures in a row and each further one."""
        self._limit = limit
        self._seconds = seconds
        self.records: dict[Key, _Record] = {}
        """Those that have failed and not worked since; a zone reads it for each viewer and tick."""

    def failed(self, key: Key, name: str, now: Monotonic) -> int:
        """Count a failure. Return how many there were in a row if a pause begins, else 0."""
        record = self.records.setdefault(key, _Record(name, now))
        if now - record.last > 2 * self._seconds:
            record.failures = 0
        record.last = now
        record.failures += 1
        if record.failures < self._limit:
            return 0
        # After the limit, each further failure pauses at once: one attempt per pause is enough to
        # see that it works again.
        record.until = now + self._seconds
        return record.failures

    def worked(self, key: Key) -> None:
        """Forget the failures of an actor that works again, or is gone."""
        self.records.pop(key, None)

    def is_paused(self, key: Key, now: float) -> bool:
        """Return whether an actor is paused now."""
        record = self.records.get(key)
        return record is not None and now < record.until

    def resume(self, now: Monotonic) -> Iterator[Key]:
        """Yield the actors whose pause is over, once each, to be tried again."""
        for key, record in list(self.records.items()):
            if now - record.last > 2 * self._seconds:
                del self.records[key]
            # The failures stay counted until `worked`: an actor that fails in its first attempt
            # after a pause is paused again.
            if 0 < record.until <= now:
                record.until = 0.0
                yield key

    def next(self) -> float | None:
        """Return when the next pause ends."""
        return min((one.until for one in self.records.values() if one.until), default=None)

    def paused(self, now: float) -> list[str]:
        """Return the names of the actors that are paused now."""
        return [one.name for one in self.records.values() if now < one.until]
