"""The visits of a client that plays: whom it has gone to, why, and when it may go there again."""

from __future__ import annotations

from typing import Final

from emu.times import Monotonic

AGAIN: Final = 15.0
"""Between two visits to the same ghost for the same task; doubled after each visit.

After a change of the journal or of the level the next visit may come at once.
"""
LATER: Final = 120.0
ONCE_MORE: Final = 400.0
"""Between two visits without a reason."""
LONG_AGO: Final = Monotonic(-1e9)
MOST_DOUBLED: Final = 10


class PastVisits:
    """The visits of one player."""

    def __init__(self) -> None:
        self.zone = ""
        """The present zone: a visit in another one is another visit."""
        self._last: dict[tuple[str, str], tuple[int, Monotonic]] = {}

    def may_begin(self, name: str, why: str, now: Monotonic, pause: float = AGAIN) -> bool:
        """Return whether it goes to somebody again after some seconds, and count that."""
        return self._may_begin(f"{self.zone} {name}", why, now, pause)

    def may_travel(self, name: str, why: str, now: Monotonic, pause: float) -> bool:
        """Return the same for another zone, from wherever it is."""
        return self._may_begin(name, why, now, pause)

    def _may_begin(self, name: str, why: str, now: Monotonic, pause: float) -> bool:
        count, last = self._last.get((name, why), (0, LONG_AGO))
        if now - last < min(pause * 2 ** min(count - 1, MOST_DOUBLED), max(pause, ONCE_MORE)):
            return False
        self._last[name, why] = (count + 1, now)
        return True

    def renew(self) -> None:
        """Let each next visit come at once: people may have something else to say."""
        self._last = {key: (count, LONG_AGO) for key, (count, _) in self._last.items()}
