"""The local console's protocol: commands and replies as lines, one command at a time. Sans-IO.

A request is a JSON object with a `line` and an optional `id` of any type, or the bare command. A
reply is a JSON object on one line: the request's `id`, `ok`, `lines` for people and `data` for
programs. Replies come in the order of the requests.

There is no login: the permissions of the socket's file decide who can connect. On Windows, where
the console is a TCP port of the loopback address, the file has the port and a token
(`ConsoleFile`), and the token is the first line of a connection.
"""

from __future__ import annotations

import hmac
import json
from collections import deque
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

from emu.admin.ports import CommandGiven, SessionEnded
from emu.commands import Caller, Reply
from emu.commands.registry import one_line
from emu.errors import MalformedMessage
from emu.stream_end import StreamProtocol
from emu.times import Monotonic

MOST_WAITING: Final = 64
"""Requests that may wait in a session; beyond that, the server stops reading from the peer."""

Asked = TypeVar("Asked")


class CommandSession(StreamProtocol, Generic[Asked]):
    """Base of the console's and RCON's sessions.

    A subclass reads requests from bytes, queues them in `_waiting`, and writes the replies.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[Asked] = deque()
        self._running: Asked | None = None
        """The request behind the last `CommandGiven`, until `answered` is called."""

    @property
    def wants_data(self) -> bool:
        """Whether the session can queue more requests."""
        # The shell stops reading then, so the peer is slowed down by TCP and nothing is lost.
        return len(self._waiting) < MOST_WAITING

    def answered(self, reply: Reply, now: Monotonic) -> None:
        """Send the reply to the last `CommandGiven`, and start the next request."""
        # A second answer to the same request finds None here and is dropped.
        asked, self._running = self._running, None
        if asked is not None and not self.closed:
            self._answer(asked, reply, now)
            self._work(now)

    def close(self, reason: str, now: Monotonic) -> None:
        """End the session and drop the waiting requests."""
        # Cleared first, so that no waiting command runs after the end.
        self._waiting.clear()
        super().close(reason, now)

    def _ended(self, reason: str) -> SessionEnded:
        return SessionEnded(reason)

    def _answer(self, asked: Asked, reply: Reply, now: Monotonic) -> None:
        """Write the reply to a request."""
        raise NotImplementedError

    def _work(self, now: Monotonic) -> None:
        """Handle waiting requests until one has to wait."""
        raise NotImplementedError


LONGEST_LINE: Final = 16 * 1024
"""Maximum length of a request, in bytes."""
LONGEST_TOKEN: Final = 128
"""Maximum length of the line with the token, in bytes."""
_FILE_MARK: Final = "emu-console"


@dataclass(frozen=True, slots=True)
class _Request:
    id: Any
    line: str


class ConsoleSession(CommandSession[_Request]):
    """One connection. It has no idle limit: a console may stay open for days.

    Its events are `CommandGiven` and `SessionEnded`.
    """

    def __init__(self, caller: Caller, token: str = "") -> None:
        """Run commands as `caller`, if a token is given only after a first line that has it."""
        super().__init__()
        self._caller = caller
        self._token = token
        self._unfinished = b""

    def receive_data(self, data: bytes, now: Monotonic) -> None:
        """Handle bytes from the peer."""
        if self.closed:
            return
        # The last piece has no line feed yet; it begins the next line.
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        # The unfinished line counts as well: a peer that never ends its line would fill the memory.
        longest = LONGEST_TOKEN if self._token and not lines else LONGEST_LINE
        if any(len(line) > LONGEST_LINE for line in lines) or len(self._unfinished) > longest:
            self.close("line too long", now)
            return
        if self._token and lines:
            if not hmac.compare_digest(lines.pop(0).strip(), self._token.encode()):
                self.close("wrong token", now)
                return
            self._token = ""
        for line in lines:
            text = line.decode("utf-8", "replace").strip()
            if text:
                self._waiting.append(_read(text))
        self._work(now)

    def _answer(self, asked: _Request, reply: Reply, now: Monotonic) -> None:  # noqa: ARG002
        # `default=str`: data may contain paths and enums, which JSON does not know.
        value = {"id": asked.id, "ok": reply.ok, "lines": reply.lines, "data": reply.data}
        self._output.append(json.dumps(value, default=str).encode() + b"\n")

    def _work(self, now: Monotonic) -> None:  # noqa: ARG002  # nothing here takes time
        # One at a time: replies then come in the order of the requests.
        if self._running is None and self._waiting:
            self._running = self._waiting.popleft()
            self._events.append(CommandGiven(self._caller, self._running.line))


def _read(text: str) -> _Request:
    """Return the request of a line. A line that is not a JSON object is the bare command."""
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            # RecursionError: deeply nested JSON must not end the session.
            return _Request(None, text)
        if isinstance(value, dict) and isinstance(value.get("line"), str):
            return _Request(value.get("id"), one_line(value["line"]))
    return _Request(None, one_line(text))


class ConsoleFile(NamedTuple):
    """What the file of a console has that is a TCP port: only its owner can read the token."""

    port: int
    token: str

    def written(self) -> str:
        """Return the text of the file."""
        return f"{_FILE_MARK} {self.port} {self.token}\n"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return what a file has; None for a file of anything else."""
        match text.split():
            case [mark, port, token] if mark == _FILE_MARK and port.isdecimal():
                return cls(int(port), token)
        return None


class ConsoleClient:
    """The client's side of one connection."""

    def __init__(self) -> None:
        self._unfinished = b""

    def request(self, line: str) -> bytes:
        """Return the request for a command line."""
        return json.dumps({"line": line}).encode() + b"\n"

    def receive_data(self, data: bytes) -> list[Reply]:
        """Return the replies that bytes from the server complete.

        Raises `MalformedMessage` for anything but replies.
        """
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        return [_reply(line) for line in lines]


def _reply(line: bytes) -> Reply:
    try:
        value = json.loads(line)
        return Reply(tuple(map(str, value["lines"])), value["data"], bool(value["ok"]))
    except (ValueError, TypeError, LookupError, RecursionError):
        raise MalformedMessage("not a reply of a server") from None
