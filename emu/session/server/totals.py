"""What the sessions of an endpoint have counted, kept beyond their end.

Sessions count for themselves. They are added up here when they end, and those that are alive when
somebody looks, so that a datagram costs nothing more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from emu.session.session import Session

COUNTED: Final = (
    "datagrams_received",
    "datagrams_sent",
    "bytes_received",
    "bytes_sent",
    "messages_received",
    "messages_sent",
    "retransmissions",
)
"""Fields of `SessionStatistics` that only grow."""


class SessionTotals:
    """Sums over all sessions that are over.

    `sessions` is how many there were, `counted` the sums by the name of the field, `drops` the
    datagrams and messages dropped by reason, and `ended` is called with each session that ends.
    """

    __slots__ = ("counted", "drops", "ended", "sessions")

    def __init__(self) -> None:
        self.sessions = 0
        self.counted: Counter[str] = Counter()
        self.drops: Counter[str] = Counter()
        self.ended: Callable[[Session], object] = _nobody

    def add(self, session: Session) -> None:
        """Keep what a session has counted; it is over."""
        self.sessions += 1
        self.drops.update(session.drops)
        statistics = session.statistics()
        for name in COUNTED:
            self.counted[name] += getattr(statistics, name)
        self.ended(session)

    def with_those(self, alive: Iterable[Session]) -> SessionTotals:
        """Return the sums with sessions that are still alive."""
        sums = SessionTotals()
        sums.sessions = self.sessions
        sums.counted.update(self.counted)
        sums.drops.update(self.drops)
        for session in alive:
            sums.add(session)
        return sums


def _nobody(_session: Session) -> None:
    """Nobody wants to know."""
