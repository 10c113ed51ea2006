"""Answers that are too long for one datagram.

Source: docs/protocol/administration/a2s.md#splits. Raises `MalformedMessage`.
"""

from __future__ import annotations

from typing import Final

from emu.admin.a2s.messages import PREFIX
from emu.admin.reader import Reader
from emu.errors import MalformedMessage

MOST_BYTES: Final = 1400
"""Of one datagram that is not split."""
PART_SIZE: Final = 1248
"""Bytes of the answer in each datagram but the last."""
SPLIT_PREFIX: Final = b"\xfe\xff\xff\xff"
NUMBERS: Final = 0x7FFF
"""Answers are numbered up to here: clients take bits 15 and 31 for "compressed"."""
_COMPRESSED: Final = 0x80008000


def split(data: bytes, number: int) -> list[bytes]:
    """Return the datagrams of an answer; parts belong together by `number`, of 15 bits."""
    if len(data) <= MOST_BYTES:
        return [data]
    parts = [data[at : at + PART_SIZE] for at in range(0, len(data), PART_SIZE)]
    head = SPLIT_PREFIX + number.to_bytes(4, "little") + bytes((len(parts),))
    size = PART_SIZE.to_bytes(2, "little")
    return [head + bytes((index,)) + size + part for index, part in enumerate(parts)]


class Joiner:
    """Puts the parts of one answer together, whatever their order."""

    __slots__ = ("_id", "_parts")

    def __init__(self) -> None:
        self._parts: dict[int, bytes] = {}
        self._id: tuple[int, int] | None = None

    def take(self, data: bytes) -> bytes | None:
        """Take a datagram; returns the whole answer when it is there."""
        if data.startswith(PREFIX):
            return data
        if not data.startswith(SPLIT_PREFIX):
            raise MalformedMessage("no answer")
        reader = Reader(data, 4)
        number, total, index = reader.unsigned(4), reader.unsigned(1), reader.unsigned(1)
        reader.unsigned(2)
        if number & _COMPRESSED:
            raise MalformedMessage("compressed answer")
        if self._id is None or self._id[0] != number:
            self._id, self._parts = (number, total), {}
        if self._id[1] != total or index >= total:
            raise MalformedMessage("wrong split")
        self._parts[index] = reader.rest()
        if len(self._parts) < total:
            return None
        return b"".join(self._parts[one] for one in range(total))
