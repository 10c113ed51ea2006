"""The other side of a console: writes requests, reads replies. Knows no socket."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from emu.errors import MalformedMessage


@dataclass(frozen=True, slots=True)
class ConsoleReply:
    """What a command answered: lines for people, the same as data for programs."""

    ok: bool
    lines: tuple[str, ...]
    data: Any


class ConsoleClient:
    """One connection to a server."""

    def __init__(self) -> None:
        self._unfinished = b""

    def request(self, line: str) -> bytes:
        """Return the bytes that run a line."""
        return json.dumps({"line": line}).encode() + b"\n"

    def receive_data(self, data: bytes) -> list[ConsoleReply]:
        """Take bytes from the server and return the replies that are complete.

        Raises `MalformedMessage` when something else speaks there.
        """
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        return [_reply(line) for line in lines]


def _reply(line: bytes) -> ConsoleReply:
    try:
        value = json.loads(line)
        return ConsoleReply(bool(value["ok"]), tuple(map(str, value["lines"])), value["data"])
    except (ValueError, TypeError, LookupError, RecursionError):
        raise MalformedMessage("no reply of a server") from None
