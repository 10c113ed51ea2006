"""What every session has on which commands are run one at a time: RCON's and the console's.

What is asked waits in its order; what is said, what happened and how it ended is there for the
shell. Knows no socket and no clock.
"""

from __future__ import annotations

from collections import deque
from typing import Final, Generic, TypeVar

from emu.admin.events import SessionEnded
from emu.commands import Reply
from emu.stream_end import StreamEnd
from emu.times import Monotonic

MOST_WAITING: Final = 64
"""What is asked waits on our side up to so many; then the peer is read from no more."""

Asked = TypeVar("Asked")


class CommandSession(StreamEnd, Generic[Asked]):
    """Base of both. They take bytes, put what is asked into `_waiting`, and write the answers."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[Asked] = deque()
        self._running: Asked | None = None
        """What the last `CommandGiven` was asked by, until it is answered."""

    @property
    def wants_data(self) -> bool:
        """Whether there is room for more commands."""
        return len(self._waiting) < MOST_WAITING

    def answered(self, reply: Reply, now: Monotonic) -> None:
        """Send what the command of the last `CommandGiven` answered."""
        asked, self._running = self._running, None
        if asked is not None and not self.closed:
            self._answer(asked, reply, now)
            self._work(now)

    def close(self, reason: str, now: Monotonic) -> None:
        """End the session; what waits is not run any more."""
        self._waiting.clear()
        super().close(reason, now)

    def _ended(self, reason: str) -> SessionEnded:
        return SessionEnded(reason)

    def _answer(self, asked: Asked, reply: Reply, now: Monotonic) -> None:
        """Write what a command answered."""
        raise NotImplementedError

    def _work(self, now: Monotonic) -> None:
        """Deal with what waits until something has to be waited for."""
        raise NotImplementedError
