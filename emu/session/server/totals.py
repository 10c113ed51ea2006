"""What the sessions of an endpoint have counted, kept beyond their end.

Sessions count for themselves. They are added up here when they end, and those that are alive when
somebody looks, so that a datagram costs nothing more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

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
