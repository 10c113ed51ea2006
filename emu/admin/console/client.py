"""The other side of a console: writes requests, reads replies. Knows no socket."""

from __future__ import annotations

import json

from emu.commands import Reply
from emu.errors import MalformedMessage


class ConsoleClient:
    """One connection to a server."""

    def __init__(self) -> None:
        self._unfinished = b""

    def request(self, line: str) -> bytes:
        """Return the bytes that run a line."""
        return json.dumps({"line": line}).encode() + b"\n"

    def receive_data(self, data: bytes) -> list[Reply]:
        """Take bytes from the server and return the replies that are complete.

        Raises `MalformedMessage` when something else speaks there.
        """
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        return [_reply(line) for line in lines]


def _reply(line: bytes) -> Reply:
    try:
        value = json.loads(line)
        return Reply(tuple(map(str, value["lines"])), value["data"], bool(value["ok"]))
    except (ValueError, TypeError, LookupError, RecursionError):
        raise MalformedMessage("no reply of a server") from None
