"""The bytes of answers to addresses without a proof: one budget for all query ports of a server.

The source address of a datagram may be forged, so an answer may reach a host that never asked. The
budget bounds what a server can send to such hosts, whatever the query and the protocol are.
"""

from __future__ import annotations

from emu.limits.rates import RateLimit
from emu.times import Monotonic


class AnswerBytes:
    """A budget in bytes per second; at most the bytes of one second are sent at once."""

    __slots__ = ("_limit", "refused", "sent")

    def __init__(self, rate: float, now: Monotonic) -> None:
        self._limit = RateLimit(rate, rate, now)
        self.sent = 0
        """Bytes of the answers that were sent."""
        self.refused = 0
        """Bytes of the answers that were not sent, because the budget was empty."""

    def take(self, size: int, now: Monotonic) -> bool:
        """Spend the bytes of one answer; return False, and spend nothing, if too few are left."""
        if self._limit.take(size, now):
            self.sent += size
            return True
        self.refused += size
        return False
