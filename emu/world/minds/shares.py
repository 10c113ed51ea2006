"""The shares of the processor that scripts have, and the calls that wait for them.

What a player does is answered at once; it counts for the script nevertheless. What a script wants
later waits until its file and all scripts together have time again: timers, nearness, the functions
of way points. A turn ends after a few milliseconds, so that sessions are served in between.
Source: docs/guides/lua.md#shares.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from emu.limits.rates import RateLimit
from emu.times import Monotonic
from emu.world.deadlines import Deadlines, Timetable

TURN: Final = 0.004
"""CPU seconds after which no further call begins in one turn."""
AT_ONCE: Final = 50
"""Calls of one turn: a zone that somebody enters has thousands that are due."""
MOST_WAITING: Final = 1000
"""Calls of one file that wait for its share, besides its timers."""
LEAST_PAUSE: Final = 0.02
"""Seconds until a file without time left is asked again, at least."""
MESSAGES: Final = 50.0
"""Messages that a file may send to players of one zone in a second, over time."""
MESSAGES_AT_ONCE: Final = 400
"""Messages that it may send at once: those of two calls (`emu.world.minds.pacing`)."""
MOST_SENDERS: Final = 1000
"""Files, each in a zone, whose messages are known."""
OF_PLAYERS: Final = "PlayerScripts/"
"""The folder of the scripts of players, which have one share together."""
FORGOTTEN_AFTER: Final = 256
"""Files whose budgets are known, from which on the full ones are forgotten."""


@dataclass(frozen=True, slots=True)
class ScriptShares:
    """What scripts may use of one core over time."""

    file: float = 0.05
    """Share of one file."""
    all: float = 0.2
    """Share of all scripts together."""
    reserve: float = 0.25
    """Seconds that one file may use at once; its share refills them."""
    all_reserve: float = 0.5
    """Seconds that all scripts together may use at once."""


@dataclass(slots=True)
class _Usage:
    """What one file has used, and what waits for its share."""

    budget: RateLimit
    waiting: deque[Callable[[], object]] = field(default_factory=deque)


class Shares:
    """The time that scripts use, by file, and the calls that wait."""

    def __init__(
        self,
        rules: ScriptShares,
        timetable: Timetable,
        now: Callable[[], Monotonic],
        slowed: Callable[[str, str], object],
        counters: Counter[str],
    ) -> None:
        """`slowed` is called with the file that waits, or "" for all of them, and the reason.

        `counters` counts what waits and what is dropped.
        """
        self._rules = rules
        self._now = now
        self._slowed = slowed
        self._usages: dict[str, _Usage] = {}
        self._all = RateLimit(rules.all, rules.all_reserve, now())
        self._timetable = timetable
        self._due: Deadlines[str, None] = timetable.deadlines(
            "calls that wait for their share", self._go_on
        )
        self._turn = timetable.turn
        self._spent, self._calls = 0.0, 0
        """What calls have used since the turn began, and how many there were."""
        self._sent: dict[tuple[str, int], RateLimit] = {}
        """The messages of each file in each zone."""
        self._counters = counters
        self.seconds = 0.0
        """CPU seconds of all calls so far."""

    @property
    def is_turn_over(self) -> bool:
        """Whether what is due should wait for the next turn."""
        if self._turn != self._timetable.turn:
            self._turn = self._timetable.turn
            self._spent, self._calls = 0.0, 0
        return self._spent >= TURN or self._calls >= AT_ONCE

    def used(self, path: str, seconds: float) -> None:
        """Count the CPU time of a call of a file."""
        now = self._now()
        self.seconds += seconds
        if not self.is_turn_over:
            self._spent += seconds
            self._calls += 1
        self._all.charge(seconds, now)
        if path.startswith(OF_PLAYERS):
            path = OF_PLAYERS
        self._usage(path, now).budget.charge(seconds, now)

    def may_send(self, path: str, zone_id: int) -> bool:
        """Count a message of a file to players of a zone; return False if it must be dropped.

        The list of errors has the file then. Each zone has a rate of its own: what scripts of all
        zones share, such as those of spells, must not fall silent because one place is crowded.
        """
        now, key = self._now(), (path, zone_id)
        pace = self._sent.get(key)
        if pace is None:
            if len(self._sent) >= MOST_SENDERS:
                self._forget_senders(now)
            pace = self._sent[key] = RateLimit(MESSAGES, MESSAGES_AT_ONCE, now)
        if pace.take(1, now):
            return True
        self._counters["messages dropped"] += 1
        self._slowed(
            path, f"sends players more than {MESSAGES:.0f} messages a second: some are lost"
        )
        return False

    def _forget_senders(self, now: Monotonic) -> None:
        """Forget the files that may send all at once again, then the oldest half."""
        kept = {one: pace for one, pace in self._sent.items() if pace.left(now) < MESSAGES_AT_ONCE}
        for one in list(kept)[: max(0, len(kept) - MOST_SENDERS // 2)]:
            del kept[one]
        self._sent = kept

    def pause(self, path: str) -> float:
        """Return the seconds until a file may be called again; 0 if it may be called now."""
        now = self._now()
        usage = self._usages.get(path)
        left = usage.budget.left(now) if usage is not None else self._rules.reserve
        own = -left / self._rules.file if left <= 0 else 0.0
        left = self._all.left(now)
        common = -left / self._rules.all if left <= 0 else 0.0
        if left > 0 and not own:
            return 0.0
        return max(own, common, LEAST_PAUSE)

    def do(self, path: str, act: Callable[[], object], *, is_bounded: bool = False) -> None:
        """Do what calls a file, now or when its share allows it, in the order of the requests.

        `is_bounded` says that the caller limits how much can wait.
        """
        usage = self._usages.get(path)
        has_waiting = usage is not None and bool(usage.waiting)
        pause = 0.0 if has_waiting else self.pause(path)
        if not has_waiting and not pause and not self.is_turn_over:
            act()
            return
        usage = self._usage(path, self._now())
        if not is_bounded and len(usage.waiting) >= MOST_WAITING:
            self._counters["calls left out"] += 1
            return
        usage.waiting.append(act)
        self._counters["calls delayed"] += 1
        if not has_waiting:
            self._wait(path, pause)

    def _go_on(self, path: str, _name: None, now: Monotonic) -> None:
        """Do what waits for a file, as much as its share and the turn allow."""
        waiting, was_served = self._usage(path, now).waiting, False
        while waiting:
            pause = self.pause(path)
            if pause or self.is_turn_over:
                # Of files that wait equally long, one that was served is behind the others.
                self._wait(path, pause + LEAST_PAUSE if pause and was_served else pause)
                break
            waiting.popleft()()
            was_served = True

    def forget(self) -> None:
        """Forget what waits: the scripts have ended."""
        for path in self._usages:
            self._due.clear(path, None)
        self._usages.clear()
        self._sent.clear()

    def _wait(self, path: str, pause: float) -> None:
        if pause:
            left = self._all.left(self._now())
            whose, share = ("", self._rules.all) if left <= 0 else (path, self._rules.file)
            self._slowed(whose, f"needs more than {share:.0%} of the processor: its timers wait")
        self._due.set(path, None, Monotonic(self._now() + pause))

    def _usage(self, path: str, now: Monotonic) -> _Usage:
        usage = self._usages.get(path)
        if usage is None:
            if len(self._usages) >= FORGOTTEN_AFTER:
                self._forget_idle(now)
            usage = self._usages[path] = _Usage(
                RateLimit(self._rules.file, self._rules.reserve, now)
            )
        return usage

    def _forget_idle(self, now: Monotonic) -> None:
        """Forget the files that have their whole reserve again: a new one is the same."""
        for path, usage in list(self._usages.items()):
            if not usage.waiting and usage.budget.left(now) >= self._rules.reserve:
                del self._usages[path]
