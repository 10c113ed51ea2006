"""The client's side of RCON: logs in, and puts the parts of each answer together.

Behind every command goes an empty RESPONSE_VALUE with an id of its own; servers answer in order, so
when that one is answered the command's answer is complete, however many packets it took. Knows no
socket and no clock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import count

from emu.admin.rcon.packets import FAILED_ID, Packet, PacketReader, PacketType
from emu.errors import CommandError

LARGEST = 1 << 16
"""Largest packet taken from a server; some send more than the 4096 bytes that are agreed on."""


@dataclass(frozen=True, slots=True)
class LoginAnswered:
    """The server has judged the password."""

    ok: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """A command's whole answer."""

    line: str
    text: str


class RconClient:
    """One connection to a server."""

    def __init__(self) -> None:
        self._reader = PacketReader(LARGEST)
        self._ids = count(1)
        self._pending: deque[tuple[int, int, str]] = deque()
        """Commands that are not answered yet: id, id of the packet behind it, line."""
        self._parts: list[bytes] = []

    def log_in(self, password: str) -> bytes:
        """Return the bytes that log in. Raises `CommandError` for one that cannot be carried."""
        return self._packet(next(self._ids), PacketType.AUTH, password, "a password")

    def command(self, line: str) -> bytes:
        """Return the bytes that run a line. Raises `CommandError` as `log_in` does."""
        number, behind = next(self._ids), next(self._ids)
        data = self._packet(number, PacketType.EXECCOMMAND, line, "a command")
        self._pending.append((number, behind, line))
        return data + Packet(behind, PacketType.RESPONSE_VALUE).encode()

    def receive_data(self, data: bytes) -> list[LoginAnswered | Answered]:
        """Take bytes from the server and return what is complete by them. Raises `PeerError`."""
        events: list[LoginAnswered | Answered] = []
        for packet in self._reader.receive(data):
            if packet.type == PacketType.AUTH_RESPONSE:
                events.append(LoginAnswered(packet.id != FAILED_ID))
            elif self._pending:
                number, behind, _ = self._pending[0]
                if packet.id == number:
                    self._parts.append(packet.body)
                elif packet.id == behind:
                    events.append(self.take_parts())
        return events

    @property
    def has_parts(self) -> bool:
        """Whether some of the oldest command's answer is here."""
        return bool(self._parts)

    def take_parts(self) -> Answered:
        """Return what is here of the oldest command's answer as all of it.

        For servers that say nothing to the packet behind a command; one has to be pending.
        """
        _, _, line = self._pending.popleft()
        text = b"".join(self._parts).decode("utf-8", "replace")
        self._parts.clear()
        return Answered(line, text)

    def _packet(self, number: int, kind: PacketType, text: str, what: str) -> bytes:
        body = text.encode("utf-8", "surrogateescape")
        if b"\0" in body:
            raise CommandError(f"{what} cannot hold a NUL character")
        return Packet(number, kind, body).encode()
