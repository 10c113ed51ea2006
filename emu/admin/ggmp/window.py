"""Which of a peer's messages have come: every one is delivered once, however often it is sent."""

from __future__ import annotations

from typing import Final

WIDTH: Final = 1024
"""Messages remembered; what is older counts as one that has come."""


class Window:
    """The last ids of one counter, which begins anew after its largest number."""

    __slots__ = ("_half", "_highest", "_mask", "_seen")

    def __init__(self, bits: int) -> None:
        """Watch a counter of so many bits."""
        self._mask = (1 << bits) - 1
        self._half = 1 << bits - 1
        self._highest: int | None = None
        self._seen = 0
        """Bit n: the message n before the highest has come."""

    def take(self, number: int) -> bool:
        """Note a message; False when it had come already."""
        if self._highest is None:
            self._highest, self._seen = number, 1
            return True
        ahead = (number - self._highest) & self._mask
        if 0 < ahead < self._half:
            moved = self._seen << ahead if ahead < WIDTH else 0
            self._seen = (moved | 1) & (1 << WIDTH) - 1
            self._highest = number
            return True
        back = (self._highest - number) & self._mask
        if back >= WIDTH or self._seen >> back & 1:
            return False
        self._seen |= 1 << back
        return True

    def has_all(self, first: int, last: int) -> bool:
        """Say whether all from `first` to `last` have come, and are still remembered."""
        count = ((last - first) & self._mask) + 1
        if self._highest is None or count > WIDTH:
            return False
        back = (self._highest - last) & self._mask
        if back + count > WIDTH:
            return False
        wanted = (1 << count) - 1
        return self._seen >> back & wanted == wanted
