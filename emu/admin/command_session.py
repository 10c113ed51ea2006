"""What every session has on which commands are run one at a time: RCON's and the console's.

What is asked waits in its order; what is said, what happened and how it ended is there for the
shell. Knows no socket and no clock.
"""

from __future__ import annotations

from collections import deque
from typing import Final, Generic, TypeVar

from emu.admin.events import SessionEnded
from emu.commands import Reply
from emu.times import Monotonic

MOST_WAITING: Final = 64
"""What is asked waits on our side up to so many; then the peer is read from no more."""

Asked = TypeVar("Asked")


class CommandSession(Generic[Asked]):
    """Base of both. They take bytes, put what is asked into `_waiting`, and write the answers."""

    def __init__(self) -> None:
        self._waiting: deque[Asked] = deque()
        self._running: Asked | None = None
        """What the last `CommandGiven` was asked by, until it is answered."""
        self._output: list[bytes] = []
        self._events: deque[object] = deque()
        self.close_reason: str | None = None

    @property
    def closed(self) -> bool:
        """True once the session is over; what is left to send should still be sent."""
        return self.close_reason is not None

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

    def connection_lost(self, now: Monotonic) -> None:
        """The connection is gone; nothing more can be sent."""
        self.close("connection lost", now)
        self._output.clear()

    def close(self, reason: str, now: Monotonic) -> None:  # noqa: ARG002  # every input takes the time
        """End the session."""
        if self.close_reason is None:
            self.close_reason = reason
            self._waiting.clear()
            self._events.append(SessionEnded(reason))

    def data_to_send(self) -> list[bytes]:
        """Return and forget what is to be sent; each item is one write."""
        output, self._output = self._output, []
        return output

    def next_event(self) -> object | None:
        """Return the oldest event that was not returned yet."""
        return self._events.popleft() if self._events else None

    def _answer(self, asked: Asked, reply: Reply, now: Monotonic) -> None:
        """Write what a command answered."""
        raise NotImplementedError

    def _work(self, now: Monotonic) -> None:
        """Deal with what waits until something has to be waited for."""
        raise NotImplementedError
