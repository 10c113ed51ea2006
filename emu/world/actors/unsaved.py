"""Changes of a player that are not stored yet, and what waits until they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.errors import StoreError
from emu.limits.rates import RateLimit
from emu.mailbox import PendingAnswer
from emu.model import SavedKind
from emu.times import Monotonic

AT_ONCE: Final = 10
"""Changes of a player that are each saved at once."""
RATE: Final = 1.0
"""Further saves of such changes in a second; the changes in between share one of them."""
Settled = Callable[[StoreError | None], None]
"""Called when a change is stored (with None), or with the reason why it is not stored yet."""


class Confirmation:
    """The wait of one answer for its save; it ends once."""

    __slots__ = ("_done", "is_given", "is_over")

    def __init__(self, done: PendingAnswer) -> None:
        self._done = done
        self.is_given = False
        """Whether the saver has it."""
        self.is_over = False

    def over(self, error: StoreError | None) -> None:
        """End the wait: the change is stored, or it is not stored yet."""
        if self.is_over:
            return
        self.is_over = True
        if error is None:
            self._done.callback(None)
        else:
            self._done.errback(error)


class Unsaved:
    """The changes of one player that are not stored yet, and their confirmations and pace."""

    __slots__ = ("_pace", "kinds", "waiting")

    def __init__(self, now: Monotonic) -> None:
        self._pace = RateLimit(RATE, AT_ONCE, now)
        self.kinds: set[SavedKind] = set()
        """Kinds that have changed and were not given to the saver yet."""
        self.waiting: list[Confirmation] = []
        """Confirmations of changes that are stored before the server confirms them."""

    def may_save(self, now: Monotonic) -> bool:
        """Count a save; return False if there are more than the pace allows."""
        return self._pace.take(1, now)

    def give(self) -> list[Settled]:
        """Return those that the next save answers, as functions to call then."""
        given = [one for one in self.waiting if not one.is_given]
        for one in given:
            one.is_given = True
        return [one.over for one in given]
