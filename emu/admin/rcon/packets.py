"""RCON packets: ``size, id, type`` as signed 32-bit little-endian, a text, two NULs; a client.

`size` counts what follows it. A client that writes one NUL only is understood. An answer that is
longer than a packet's text is divided; all parts but the last have exactly `LONGEST_TEXT` bytes and
end with a whole character, because that is how clients know that more follows.

Behind every command goes an empty RESPONSE_VALUE with an id of its own; servers answer in order, so
when that one is answered the command's answer is complete, however many packets it took. Knows no
socket and no clock.
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
    """What a packet is; 2 is another thing in each direction."""

    RESPONSE_VALUE = 0
    EXECCOMMAND = 2
    AUTH_RESPONSE = 2
    AUTH = 3


@dataclass(frozen=True, slots=True)
class RconPacket:
    """One packet; `body` without the NULs."""

    id: int
    type: int
    body: bytes = b""

    def encode(self) -> bytes:
        """Return the packet's bytes. The body must not hold a NUL."""
        return _HEADER.pack(_REST + len(self.body) + 2, self.id, self.type) + self.body + b"\0\0"


class PacketReader:
    """Cuts a stream of bytes into packets."""

    __slots__ = ("_data", "largest")

    def __init__(self, largest: int) -> None:
        """Take packets whose `size` is at most `largest`; that may be changed at any time."""
        self._data = bytearray()
        self.largest = largest

    @property
    def unfinished(self) -> bool:
        """Whether the beginning of a packet is here whose end is not."""
        return bool(self._data)

    def receive(self, data: bytes) -> Iterator[RconPacket]:
        """Take bytes and yield the packets that are complete.

        Raises `LimitExceeded` for a packet that is too large, `MalformedMessage` for an impossible
        one; nothing can be read behind either.
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
    """Return the bodies in which an answer is sent: one at least, empty for an empty answer.

    Where a character would be cut it goes to the next body, and blanks fill this one up: in front
    of its last line's end, where nobody sees them, or else at its end. NULs are left out.
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
        return data + RconPacket(behind, PacketType.RESPONSE_VALUE).encode()

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
        return RconPacket(number, kind, body).encode()
