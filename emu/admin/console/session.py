"""The server's side of one console. Knows no socket and no clock.

Who may connect decides the file system; nobody has to log in here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from emu.admin.command_session import CommandSession
from emu.admin.events import CommandGiven
from emu.commands import Caller, Reply
from emu.commands.arguments import one_line
from emu.times import Monotonic

LONGEST_LINE: Final = 16 * 1024
"""Bytes of a request."""


@dataclass(frozen=True, slots=True)
class _Request:
    id: Any
    line: str


class ConsoleSession(CommandSession[_Request]):
    """One connection, which may be left open for days.

    Its events are `CommandGiven` and `SessionEnded`.
    """

    def __init__(self, caller: Caller) -> None:
        """Run commands in the name of `caller`."""
        super().__init__()
        self._caller = caller
        self._unfinished = b""

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
        self._work(now)

    def _answer(self, asked: _Request, reply: Reply, now: Monotonic) -> None:  # noqa: ARG002
        value = {"id": asked.id, "ok": reply.ok, "lines": reply.lines, "data": reply.data}
        self._output.append(json.dumps(value, default=str).encode() + b"\n")

    def _work(self, now: Monotonic) -> None:  # noqa: ARG002  # nothing here takes time
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
            return _Request(value.get("id"), one_line(value["line"]))
    return _Request(None, one_line(text))
