"""Fair turns: a bounded share of each reactor turn, and work divided between addresses.

What a session costs is measured and charged afterwards, so a single message may exceed what is
left. Whoever owes time is served later; nobody is refused here. Time is an argument.

Items wait in one line for each source; the sources take turns. What an item costs is charged when
it is done. While several items wait and more has been charged than a share of the time allows,
nothing is taken: a crowd has its share, and somebody alone has what others leave. Time and costs
are arguments.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from emu.times import Monotonic

DEBT: Final = 5
"""Slices of work that a session may owe."""


@dataclass(frozen=True, slots=True)
class TurnRules:
    """Limits on the work for one session, all above 0. Times are seconds."""

    share: float = 0.02
    """Part of one core that a session may use over time; walking takes less than 0.005."""
    reserve: float = 0.1
    """Seconds of work that a session may use at once, after it has used little."""
    address_reserve: float = 0.25
    """The same of an address, for all of its sessions whose account is not known yet."""
    slice: float = 0.002
    """Seconds after which a session's further messages wait until others were served."""


class WorkBudget:
    """The account of one session: it begins full, and refills by `share` seconds a second.

    It never goes further below zero than `DEBT` slices: a session does not wait for long because
    one message was expensive, such as the first one of a kind since the server started.
    """

    __slots__ = ("_left", "_rules", "_when")

    def __init__(self, rules: TurnRules, now: Monotonic) -> None:
        self._rules = rules
        self._left = rules.reserve
        self._when = now

    def charge(self, seconds: float, now: Monotonic) -> None:
        """Take seconds of work off the account."""
        rules = self._rules
        left = min(rules.reserve, self._left + (now - self._when) * rules.share)
        self._left = max(left - seconds, -DEBT * rules.slice)
        self._when = now

    def spent(self, now: Monotonic) -> float:
        """Return how many seconds of work are to be refilled until the account is full."""
        rules = self._rules
        left = min(rules.reserve, self._left + (now - self._when) * rules.share)
        return rules.reserve - left

    def resumes_at(self) -> Monotonic | None:
        """Return when the session may be served again; None when it may be now."""
        if self._left > 0:
            return None
        rules = self._rules
        return Monotonic(self._when + (min(rules.slice, rules.reserve) - self._left) / rules.share)

    def reads_at(self) -> Monotonic | None:
        """Return until when its datagrams are not even read; None when they are.

        That is for a session which is served no more, and whose datagrams alone cost too much.
        """
        rules = self._rules
        if self._left > -DEBT * rules.slice:
            return None
        return Monotonic(self._when + min(rules.slice, rules.reserve) / rules.share)


T = TypeVar("T")

GRACE: Final = 0.04
"""Seconds of rest that may be due before anything has to wait."""


class FairWork(Generic[T]):
    """Lines of items. The owner bounds how many items wait."""

    def __init__(self, share: float) -> None:
        self.share = share
        """Of the time, above 0 and at most 1, that items may take while several wait."""
        self._lines: OrderedDict[str, deque[T]] = OrderedDict()
        self._first: deque[T] = deque()
        self._waiting = 0
        self._rested = Monotonic(0.0)
        """When the rest after all that was charged is over."""

    def __len__(self) -> int:
        return self._waiting

    def put(self, source: str, item: T, *, is_first: bool = False) -> None:
        """Let an item of a source wait; one that `is_first` waits for its equals only."""
        self._waiting += 1
        if is_first:
            self._first.append(item)
        else:
            self._lines.setdefault(source, deque()).append(item)

    def take(self, now: Monotonic, *, in_turn: bool = True) -> T | None:
        """Return the item that comes next; None when nothing waits or a rest is due.

        `in_turn` is whether everything else had its turn since the last item: then an item that
        waits alone need not rest.
        """
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
        """Learn what an item cost."""
        self._rested = Monotonic(max(self._rested, now) + seconds / self.share)

    def get_timer(self) -> Monotonic | None:
        """Return from when on `take` returns something; None while nothing waits."""
        if not self._waiting:
            return None
        return Monotonic(self._rested - GRACE if self._waiting > 1 else 0.0)
