"""Totals of an endpoint's sessions: counts, and memory held for peers.

Sessions count for themselves. They are added up here when they end, and those that are alive when
somebody looks, so that a datagram costs nothing more.

Counts bytes that peers can make us keep: packets before their turn, unfinished runs of fragments,
messages that wait, and whatever is not acknowledged. Each session has bounds of its own; ten
thousand sessions at their bounds would still be more than a machine has. Knows no addresses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Final, Generic, TypeVar

from emu.session.session import Session
from emu.session.statistics import SessionCounts


class SessionTotals:
    """Sums over all sessions that are over.

    `sessions` is how many there were, `counted` the sums of what they counted, `drops` the
    datagrams and messages dropped by reason, and `ended` is called with each session that ends.
    """

    __slots__ = ("counted", "drops", "ended", "sessions")

    def __init__(self) -> None:
        self.sessions = 0
        self.counted = SessionCounts()
        self.drops: Counter[str] = Counter()
        self.ended: Callable[[Session], object] = _nobody

    def add(self, session: Session) -> None:
        """Keep what a session has counted; it is over."""
        self._add([session])
        self.ended(session)

    def with_those(self, alive: Iterable[Session]) -> SessionTotals:
        """Return the sums with sessions that are still alive."""
        sums = SessionTotals()
        sums.sessions = self.sessions
        sums.counted = self.counted
        sums.drops.update(self.drops)
        sums._add(alive)  # one of its own kind
        return sums

    def _add(self, sessions: Iterable[Session]) -> None:
        counts = [self.counted]
        for session in sessions:
            counts.append(session.counts())
            if session.drops:
                self.drops.update(session.drops)
        self.sessions += len(counts) - 1
        self.counted = SessionCounts(*map(sum, zip(*counts, strict=True)))


def _nobody(_session: Session) -> None:
    """Nobody wants to know."""


Holder = TypeVar("Holder", bound=Hashable)

_ROOM: Final = 8  # one part in so many is made free at once, so that it is not done all the time


class SharedMemory(Generic[Holder]):
    """A limit in bytes over all holders together; `used` is what they hold now."""

    __slots__ = ("_held", "limit", "used")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._held: dict[Holder, int] = {}

    def of(self, holder: Holder) -> int:
        """Return how many bytes a holder held when that was noted last."""
        return self._held.get(holder, 0)

    def note(self, holder: Holder, held: int) -> None:
        """Take note of how many bytes a holder holds now; 0 forgets it."""
        before = self._held.get(holder, 0)
        if held == before:
            return
        self.used += held - before
        if held:
            self._held[holder] = held
        else:
            del self._held[holder]

    def to_end(self) -> list[Holder]:
        """Return whom to end, those who hold most first; nobody while the limit is kept.

        Who holds much is either an attacker or somebody whose network is gone: a client that is
        served holds next to nothing.
        """
        excess = self.used - self.limit
        if excess <= 0:
            return []
        excess += self.limit // _ROOM
        ended: list[Holder] = []
        for holder in sorted(self._held, key=self._held.__getitem__, reverse=True):
            if excess <= 0:
                break
            excess -= self._held[holder]
            ended.append(holder)
        return ended
