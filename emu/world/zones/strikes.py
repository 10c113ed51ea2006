"""Who failed several times in a row, and is left out for a while so that everybody else goes on.

Knows no zone and no spawn: whoever counts says by which key. Times are monotonic seconds.
"""

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
    """When it failed last."""
    failures: int = 0
    until: float = 0.0
    """When the pause ends; 0 for one that is not paused."""


class Strikes(Generic[Key]):
    """Failures of many actors; it is empty, and false, while none has failed lately.

    Failures count as in a row until the actor works (`worked`) or has not failed for two pauses.
    """

    __slots__ = ("_limit", "_records", "_seconds")

    def __init__(self, limit: int, seconds: float) -> None:
        """Pause for `seconds` whoever failed `limit` times in a row, and again when it fails."""
        self._limit = limit
        self._seconds = seconds
        self._records: dict[Key, _Record] = {}

    def __len__(self) -> int:
        """Return how many have failed and not worked since."""
        return len(self._records)

    def failed(self, key: Key, name: str, now: Monotonic) -> int:
        """Count a failure. Returns how many there were in a row when a pause begins, else 0."""
        record = self._records.setdefault(key, _Record(name, now))
        if now - record.last > 2 * self._seconds:
            record.failures = 0
        record.last = now
        record.failures += 1
        if record.failures < self._limit:
            return 0
        record.until = now + self._seconds
        return record.failures

    def worked(self, key: Key) -> None:
        """Forget the failures of one that works again, or is gone."""
        self._records.pop(key, None)

    def is_paused(self, key: Key, now: float) -> bool:
        """Say whether one is left out now."""
        record = self._records.get(key)
        return record is not None and now < record.until

    def resume(self, now: Monotonic) -> Iterator[Key]:
        """Yield those whose pause is over, once each; they are tried again."""
        for key, record in list(self._records.items()):
            if now - record.last > 2 * self._seconds:
                del self._records[key]
            if 0 < record.until <= now:
                record.until = 0.0
                yield key

    def next(self) -> float | None:
        """Return when the next pause ends."""
        return min((one.until for one in self._records.values() if one.until), default=None)

    def paused(self, now: float) -> list[str]:
        """Return the names of those that are left out now."""
        return [one.name for one in self._records.values() if now < one.until]
