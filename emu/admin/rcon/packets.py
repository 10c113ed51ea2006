"""RCON packets: ``size, id, type`` as signed 32-bit little-endian, a text, and two NULs.

`size` counts what follows it. A client that writes one NUL only is understood. An answer that is
longer than a packet's text is divided; all parts but the last have exactly `LONGEST_TEXT` bytes and
end with a whole character, because that is how clients know that more follows.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from emu.errors import LimitExceeded, MalformedMessage

_HEADER: Final = struct.Struct("<iii")
_SIZE: Final = struct.Struct("<i")
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
class Packet:
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

    def receive(self, data: bytes) -> Iterator[Packet]:
        """Take bytes and yield the packets that are complete.

        Raises `LimitExceeded` for a packet that is too large, `MalformedMessage` for an impossible
        one; nothing can be read behind either.
        """
        self._data += data
        while len(self._data) >= _SIZE.size:
            (size,) = _SIZE.unpack_from(self._data)
            if size > self.largest:
                raise LimitExceeded("packet too large")
            if size < LEAST_SIZE:
                raise MalformedMessage("packet too small")
            end = _SIZE.size + size
            if len(self._data) < end:
                return
            _, number, kind = _HEADER.unpack_from(self._data)
            text = bytes(self._data[_HEADER.size : end])
            del self._data[:end]
            yield Packet(number, kind, text.partition(b"\0")[0])


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
