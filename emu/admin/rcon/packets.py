"""RCON packets (``size, id, type`` as signed 32-bit little-endian, a text, two NULs), and a client.

`size` counts what follows it. A client that sends only one NUL is understood. A long answer is
divided: all packets but the last have exactly `LONGEST_TEXT` bytes of text, which is how clients
know that more follows. The client sends an empty RESPONSE_VALUE with its own id after every
command. Servers answer in order; so when that one is answered, the command's answer is complete.
Sans-IO.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

from emu.binary import I32, LITTLE, RecordLayout
from emu.errors import CommandError, LimitExceeded, MalformedMessage

_SIZE: Final = RecordLayout("RconPacket.size", LITTLE, size=I32)
_HEADER: Final = RecordLayout("RconPacket", LITTLE, size=I32, id=I32, type=I32)
_REST: Final = 8
"""Bytes of id and type, which `size` counts."""
LEAST_SIZE: Final = 9
"""Id, type and one NUL."""
LONGEST_TEXT: Final = 4096
FAILED_ID: Final = -1
"""Id of the answer to a wrong password."""


class PacketType(enum.IntEnum):
    """The types of packets; 2 has a different meaning in each direction."""

    RESPONSE_VALUE = 0
    EXECCOMMAND = 2
    AUTH_RESPONSE = 2
    AUTH = 3


@dataclass(frozen=True, slots=True)
class RconPacket:
    """One packet; `body` is without the NULs."""

    id: int
    type: int
    body: bytes = b""

    def encode(self) -> bytes:
        """Return the packet's bytes. The body must not contain a NUL."""
        return _HEADER.pack(_REST + len(self.body) + 2, self.id, self.type) + self.body + b"\0\0"


class PacketReader:
    """Cuts a stream of bytes into packets."""

    __slots__ = ("_data", "largest")

    def __init__(self, largest: int) -> None:
        """Accept packets whose `size` is at most `largest`, which may be changed at any time."""
        self._data = bytearray()
        self.largest = largest

    @property
    def unfinished(self) -> bool:
        """Whether an incomplete packet is waiting for more bytes."""
        return bool(self._data)

    def receive(self, data: bytes) -> Iterator[RconPacket]:
        """Handle bytes; yield the complete packets.

        Raises `LimitExceeded` for a packet that is too large, `MalformedMessage` for an impossible
        one; the stream cannot be read any further.
        """
        self._data += data
        while len(self._data) >= _SIZE.size:
            (size,) = _SIZE.unpack(self._data)
            if size > self.largest:
                raise LimitExceeded("packet too large")
            if size < LEAST_SIZE:
                raise MalformedMessage("packet too small")
            end = _SIZE.size + size
            if len(self._data) < end:
                return
            _, number, kind = _HEADER.unpack(self._data)
            text = bytes(self._data[_HEADER.size : end])
            del self._data[:end]
            yield RconPacket(number, kind, text.partition(b"\0")[0])


def divide(text: bytes) -> list[bytes]:
    """Return the bodies of an answer: at least one, empty for an empty answer.

    A character is never cut: it moves to the next body, and blanks fill this one up, before its
    last line feed if it has one, where they are invisible. NULs are removed.
    """
    rest = text.replace(b"\0", b"")
    bodies = []
    while len(rest) > LONGEST_TEXT:
        cut = LONGEST_TEXT
        while rest[cut] & 0xC0 == 0x80:
            cut -= 1
        piece, rest = rest[:cut], rest[cut:]
        at = piece.rfind(b"\n")
        at = len(piece) if at < 0 else at
        bodies.append(piece[:at] + b" " * (LONGEST_TEXT - cut) + piece[at:])
    return [*bodies, rest]


LARGEST = 1 << 16
"""Maximum size of a server's packet; some servers exceed the specified 4096 bytes."""


@dataclass(frozen=True, slots=True)
class LoginAnswered:
    """The server has answered the login."""

    ok: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """A command's whole answer."""

    line: str
    text: str


class RconClient:
    """The client's side of one connection."""

    def __init__(self) -> None:
        self._reader = PacketReader(LARGEST)
        self._ids = count(1)
        self._pending: deque[tuple[int, int, str]] = deque()
        """Unanswered commands: id, id of the packet after it, line."""
        self._bodies: list[bytes] = []

    def log_in(self, password: str) -> bytes:
        """Return the login request. Raises `CommandError` if the password contains a NUL."""
        return self._packet(next(self._ids), PacketType.AUTH, password, "a password")

    def command(self, line: str) -> bytes:
        """Return the request for a line. Raises `CommandError` as `log_in` does."""
        number, behind = next(self._ids), next(self._ids)
        data = self._packet(number, PacketType.EXECCOMMAND, line, "a command")
        self._pending.append((number, behind, line))
        return data + RconPacket(behind, PacketType.RESPONSE_VALUE).encode()

    def receive_data(self, data: bytes) -> list[LoginAnswered | Answered]:
        """Handle bytes from the server; return completed answers. Raises `PeerError`."""
        events: list[LoginAnswered | Answered] = []
        for packet in self._reader.receive(data):
            if packet.type == PacketType.AUTH_RESPONSE:
                events.append(LoginAnswered(packet.id != FAILED_ID))
            elif self._pending:
                number, behind, _ = self._pending[0]
                if packet.id == number:
                    self._bodies.append(packet.body)
                elif packet.id == behind:
                    events.append(self.take_unfinished())
        return events

    @property
    def has_unfinished(self) -> bool:
        """Whether some of the oldest command's answer is here."""
        return bool(self._bodies)

    def take_unfinished(self) -> Answered:
        """Return what is here of the oldest command's answer as all of it.

        For servers that say nothing to the packet behind a command; one has to be pending.
        """
        _, _, line = self._pending.popleft()
        text = b"".join(self._bodies).decode("utf-8", "replace")
        self._bodies.clear()
        return Answered(line, text)

    def _packet(self, number: int, kind: PacketType, text: str, what: str) -> bytes:
        body = text.encode("utf-8", "surrogateescape")
        if b"\0" in body:
            raise CommandError(f"{what} cannot hold a NUL character")
        return RconPacket(number, kind, body).encode()
