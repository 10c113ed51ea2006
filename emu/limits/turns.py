"""Fair shares of the processor: work budgets of sessions, and requests of many sources in turn.

Work is measured and charged afterwards, so a single message may cost more than is left. A session
with a debt is served later; nothing is refused here. Time and costs are arguments.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from emu.times import Monotonic

DEBT: Final = 5
"""The largest debt of a session, in slices of work."""


@dataclass(frozen=True, slots=True)
class TurnRules:
    """Limits on the work for one session, all above 0. Times are seconds."""

    share: float = 0.02
    """Share of one core that a session may use over time; walking takes less than 0.005."""
    reserve: float = 0.1
    """Seconds of work that a session may use at once, after it has used little."""
    address_reserve: float = 0.25
    """The same for all sessions of an address whose account is not known yet."""
    slice: float = 0.002
    """Seconds of work after which a session's further messages wait until others were served."""


class WorkBudget:
    """The budget of one session in seconds of work: full at first, refilled by `share` per second.

    The debt is at most `DEBT` slices. Without this bound a session would wait long after a single
    expensive message, such as the first one of its kind since the server started.
    """

    __slots__ = ("_left", "_rules", "_when")

    def __init__(self, rules: TurnRules, now: Monotonic) -> None:
        self._rules = rules
        self._left = rules.reserve
        self._when = now

    def charge(self, seconds: float, now: Monotonic) -> None:
        """Subtract seconds of work."""
        rules = self._rules
        left = min(rules.reserve, self._left + (now - self._when) * rules.share)
        self._left = max(left - seconds, -DEBT * rules.slice)
        self._when = now

    def spent(self, now: Monotonic) -> float:
        """Return how many seconds of work are missing until the budget is full."""
        rules = self._rules
        left = min(rules.reserve, self._left + (now - self._when) * rules.share)
        return rules.reserve - left

    def resumes_at(self) -> Monotonic | None:
        """Return when the session may be served again; None if it may be now."""
        if self._left > 0:
            return None
        rules = self._rules
        return Monotonic(self._when + (min(rules.slice, rules.reserve) - self._left) / rules.share)

    def reads_at(self) -> Monotonic | None:
        """Return until when its datagrams are dropped unread; None if they are read.

        This applies to a session that is not served and whose datagrams alone cost too much.
        """
        rules = self._rules
        if self._left > -DEBT * rules.slice:
            return None
        return Monotonic(self._when + min(rules.slice, rules.reserve) / rules.share)


T = TypeVar("T")

GRACE: Final = 0.04
"""The seconds of rest that may accumulate before anything has to wait."""


class FairWork(Generic[T]):
    """Items that wait in one queue for each source; the sources take turns.

    The cost of an item is charged when it is done. While several items wait, they get at most
    `share` of the time; an item that waits alone starts at once. The owner bounds their number.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        """The share of the time for items while several wait; above 0, at most 1."""
        self._lines: OrderedDict[str, deque[T]] = OrderedDict()
        self._first: deque[T] = deque()
        self._waiting = 0
        self._rested = Monotonic(0.0)
        """When the rest after all charged work is over."""

    def __len__(self) -> int:
        return self._waiting

    def put(self, source: str, item: T, *, is_first: bool = False) -> None:
        """Add an item of a source; one that `is_first` goes ahead of all sources."""
        self._waiting += 1
        if is_first:
            self._first.append(item)
        else:
            self._lines.setdefault(source, deque()).append(item)

    def take(self, now: Monotonic, *, in_turn: bool = True) -> T | None:
        """Return the next item; None if nothing waits or a rest is due.

        `in_turn` is whether all other work had its turn since the last item: then an item that
        waits alone needs no rest.
        """
        # An item that waits alone delays nobody, so it runs at once, however much was charged
        # before. In a crowd the rest keeps the share of the time: each item's cost is known only
        # after it has run, and the following ones pay for it.
        needs_rest = self._waiting > 1 or not in_turn
        if not self._waiting or (needs_rest and self._rested - now > GRACE):
            return None
        self._waiting -= 1
        if self._first:
            return self._first.popleft()
        source, line = next(iter(self._lines.items()))
        item = line.popleft()
        if line:
            self._lines.move_to_end(source)
        else:
            del self._lines[source]
        return item

    def charge(self, seconds: float, now: Monotonic) -> None:
        """Charge the cost of an item."""
        self._rested = Monotonic(max(self._rested, now) + seconds / self.share)

    def get_timer(self) -> Monotonic | None:
        """Return when `take` returns something again; None while nothing waits."""
        if not self._waiting:
            return None
        return Monotonic(self._rested - GRACE if self._waiting > 1 else 0.0)
