"""What every end of a connection has in common: what is to leave, what happened, and how it ended.

The base of the cores that `emu.net.stream` drives: login and world on their link, processes of one
world, RCON and the console. Knows neither socket nor clock, and nothing of what is said.
"""

from __future__ import annotations

from collections import deque

from emu.times import Monotonic


class StreamProtocol:
    """Keeps output and events until they are asked for; an end says which event is its last."""

    __slots__ = ("_events", "_output", "close_reason")

    def __init__(self) -> None:
        self._output: list[bytes] = []
        self._events: deque[object] = deque()
        self.close_reason: str | None = None
        """Why it is over, a short fixed text; None while it is open."""

    @property
    def closed(self) -> bool:
        """True once it is over; what is left to send should still be sent."""
        return self.close_reason is not None

    def receive_data(self, data: bytes, now: Monotonic) -> None:
        """Take bytes from the peer; what it does wrong ends the connection and raises nothing."""
        raise NotImplementedError

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called; None for never."""
        return None

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""

    def connection_lost(self, now: Monotonic) -> None:
        """The connection is gone; nothing more can be sent."""
        self.close("connection lost", now)
        self._output.clear()

    def close(self, reason: str, now: Monotonic) -> None:  # noqa: ARG002  # every input takes the time
        """End it; does nothing on a closed one."""
        if self.close_reason is None:
            self.close_reason = reason
            self._events.append(self._ended(reason))

    def data_to_send(self) -> list[bytes]:
        """Return and forget what is to be sent; each item is one write."""
        output, self._output = self._output, []
        return output

    def next_event(self) -> object | None:
        """Return the oldest event that was not returned yet."""
        return self._events.popleft() if self._events else None

    def _ended(self, reason: str) -> object:
        """Return the event that comes last."""
        raise NotImplementedError
