"""Coroutines that take turns: one of them goes on in each turn of the reactor."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from twisted.internet.defer import Deferred


class TurnQueue:
    """Lets one coroutine go on in each turn of the reactor; the others wait in their order.

    A database answers many questions at once. What follows an answer would otherwise be done for
    all who asked, and nobody else would be served meanwhile.
    """

    def __init__(self, soon: Callable[[Callable[[], object]], object]) -> None:
        """`soon` makes a call before the reactor waits again."""
        self._soon = soon
        self._is_taken = False
        self._waiting: deque[Deferred[None]] = deque()

    def __len__(self) -> int:
        """Return how many wait."""
        return len(self._waiting)

    async def wait(self) -> None:
        """Wait for a turn; that is this one if nobody has it."""
        if not self._is_taken:
            self._take()
            return
        waiting: Deferred[None] = Deferred()
        self._waiting.append(waiting)
        await waiting

    def _take(self) -> None:
        self._is_taken = True
        # Answers of threads come before the calls of the same turn, so the first call is too soon.
        self._soon(lambda: self._soon(self._pass_on))

    def _pass_on(self) -> None:
        if not self._waiting:
            self._is_taken = False
            return
        self._take()
        self._waiting.popleft().callback(None)
