"""The base of every protocol over a TCP connection, without input or output.

`emu.net.stream` drives these protocols: the link of login and world servers, the bus of processes,
RCON and the console. The base keeps output, events and the close reason.
"""

from __future__ import annotations

from collections import deque

from emu.times import Monotonic


class StreamProtocol:
    """Output and events of one connection. A subclass defines the event that comes last."""

    __slots__ = ("_events", "_output", "close_reason", "closed")

    def __init__(self) -> None:
        self._output: list[bytes] = []
        self._events: deque[object] = deque()
        self.close_reason: str | None = None
        """Why the connection is closed, a short fixed text; None while it is open."""
        self.closed = False
        """Whether the connection is closed; remaining output should still be sent."""

    def receive_data(self, data: bytes, now: Monotonic) -> None:
        """Take bytes from the peer; an error in them closes the connection and raises nothing."""
        raise NotImplementedError

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` should be called; None for never."""
        return None

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""

    def connection_lost(self, now: Monotonic) -> None:
        """Note that the connection is lost; nothing more can be sent."""
        self.close("connection lost", now)
        # Nothing can be sent any more.
        self._output.clear()

    def close(self, reason: str, now: Monotonic) -> None:  # noqa: ARG002  # every input takes the time
        """Close the connection; does nothing if it is closed."""
        # Only the first reason counts: later ones are its consequences.
        if self.close_reason is None:
            self.close_reason = reason
            self.closed = True
            self._events.append(self._ended(reason))

    def data_to_send(self) -> list[bytes]:
        """Return and forget the output; each item is one write."""
        output, self._output = self._output, []
        return output

    def next_event(self) -> object | None:
        """Return the oldest event not taken yet, or None."""
        return self._events.popleft() if self._events else None

    def _ended(self, reason: str) -> object:
        """Return the last event."""
        raise NotImplementedError
