"""Reads what the query protocols are made of: little-endian numbers, and texts that end with a NUL.

Texts are UTF-8. Raises nothing but `MalformedMessage`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from emu.binary import RecordLayout
from emu.errors import MalformedMessage

_SPACES: Final = dict.fromkeys((*range(1, 32), 127), " ") | {0: None}


class Reader:
    """Reads one message from front to back."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    @property
    def is_done(self) -> bool:
        """Whether everything was read."""
        return self.at >= len(self.data)

    def take(self, count: int) -> bytes:
        """Read so many bytes."""
        start, end = self.at, self.at + count
        if end > len(self.data):
            raise MalformedMessage("message too short")
        self.at = end
        return self.data[start:end]

    def rest(self) -> bytes:
        """Read all that is left."""
        return self.take(len(self.data) - self.at)

    def unsigned(self, size: int) -> int:
        """Read a number of `size` bytes."""
        return int.from_bytes(self.take(size), "little")

    def record(self, layout: RecordLayout) -> Sequence[Any]:
        """Read the fields of a fixed record."""
        return layout.unpack(self.take(layout.size))

    def text(self) -> str:
        """Read a text up to its NUL; bytes that are no UTF-8 become U+FFFD."""
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise MalformedMessage("text without an end")
        text = self.data[self.at : end].decode("utf-8", "replace")
        self.at = end + 1
        return text


def text_bytes(text: str) -> bytes:
    """Return a text as it is written, with its NUL: NULs inside fall away, controls are spaces."""
    return text.translate(_SPACES).encode("utf-8", "replace") + b"\0"


def clamped(number: int, size: int) -> bytes:
    """Return a number of `size` bytes; what does not fit is the nearest that does."""
    return max(0, min(number, (1 << 8 * size) - 1)).to_bytes(size, "little")
