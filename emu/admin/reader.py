"""Reader for the query protocols: little-endian numbers, and texts that end with a NUL.

Texts are UTF-8. The only exception raised is `MalformedMessage`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from emu.binary import RecordLayout
from emu.errors import MalformedMessage

_SPACES: Final = dict.fromkeys((*range(1, 32), 127), " ") | {0: None}


class Reader:
    """A reading position in one message."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    @property
    def is_done(self) -> bool:
        """Whether the whole message has been read."""
        return self.at >= len(self.data)

    def take(self, count: int) -> bytes:
        """Read `count` bytes."""
        start, end = self.at, self.at + count
        if end > len(self.data):
            raise MalformedMessage("message too short")
        self.at = end
        return self.data[start:end]

    def rest(self) -> bytes:
        """Read the rest."""
        return self.take(len(self.data) - self.at)

    def unsigned(self, size: int) -> int:
        """Read an unsigned number of `size` bytes."""
        return int.from_bytes(self.take(size), "little")

    def record(self, layout: RecordLayout) -> Sequence[Any]:
        """Read the fields of a fixed record."""
        return layout.unpack(self.take(layout.size))

    def text(self) -> str:
        """Read a text up to its NUL. Invalid UTF-8 becomes U+FFFD."""
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise MalformedMessage("text without an end")
        text = self.data[self.at : end].decode("utf-8", "replace")
        self.at = end + 1
        return text


def text_bytes(text: str) -> bytes:
    """Return a text with its final NUL, without inner NULs; control characters become spaces."""
    return text.translate(_SPACES).encode("utf-8", "replace") + b"\0"


def clamped(number: int, size: int) -> bytes:
    """Return a number in `size` bytes. A number out of range becomes the nearest limit."""
    return max(0, min(number, (1 << 8 * size) - 1)).to_bytes(size, "little")
