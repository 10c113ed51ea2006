"""The server's side of one console. Knows no socket and no clock.

Who may connect decides the file system; nobody has to log in here.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.events import CommandGiven, SessionEnded
from emu.commands import Caller, Reply
from emu.times import Monotonic

LONGEST_LINE: Final = 16 * 1024
"""Bytes of a request."""
MOST_WAITING: Final = 64
"""Requests that wait before the peer is read from no more."""


@dataclass(frozen=True, slots=True)
class _Request:
    id: Any
    line: str


class ConsoleSession:
    """One connection. Its events are `CommandGiven` and `SessionEnded`."""

    def __init__(self, caller: Caller) -> None:
        """Run commands in the name of `caller`."""
        self._caller = caller
        self._unfinished = b""
        self._waiting: deque[_Request] = deque()
        self._running: _Request | None = None
        self._output: list[bytes] = []
        self._events: deque[object] = deque()
        self.close_reason: str | None = None

    @property
    def closed(self) -> bool:
        """True once the session is over; what is left to send should still be sent."""
        return self.close_reason is not None

    @property
    def wants_data(self) -> bool:
        """Whether there is room for more requests."""
        return len(self._waiting) < MOST_WAITING

    def receive_data(self, data: bytes, now: Monotonic) -> None:
        """Take bytes from the peer."""
        if self.closed:
            return
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        if any(len(line) > LONGEST_LINE for line in (*lines, self._unfinished)):
            self.close("line too long", now)
            return
        for line in lines:
            text = line.decode("utf-8", "replace").strip()
            if text:
                self._waiting.append(_read(text))
        self._work()

    def answered(self, reply: Reply, now: Monotonic) -> None:  # noqa: ARG002  # as every input
        """Send what the command of the last `CommandGiven` answered."""
        request, self._running = self._running, None
        if request is None or self.closed:
            return
        self._output.append(_written(request, reply))
        self._work()

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
        """Return and forget what is to be sent."""
        output, self._output = self._output, []
        return output

    def next_event(self) -> object | None:
        """Return the oldest event that was not returned yet."""
        return self._events.popleft() if self._events else None

    def get_timer(self) -> Monotonic | None:
        """Return None: a console may be left open for days."""
        return None

    def handle_timer(self, now: Monotonic) -> None:
        """Do nothing."""

    def _work(self) -> None:
        if self._running is None and self._waiting:
            self._running = self._waiting.popleft()
            self._events.append(CommandGiven(self._caller, self._running.line))


def _read(text: str) -> _Request:
    """Return what a line asks for; one that is no JSON object is the command itself."""
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return _Request(None, text)
        if isinstance(value, dict) and isinstance(value.get("line"), str):
            return _Request(value.get("id"), _one_line(value["line"]))
    return _Request(None, _one_line(text))


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text).strip()


def _written(request: _Request, reply: Reply) -> bytes:
    value = {"id": request.id, "ok": reply.ok, "lines": reply.lines, "data": reply.data}
    return json.dumps(value, default=str).encode() + b"\n"
