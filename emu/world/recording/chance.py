"""Chance that follows from a secret seed and a count: it can be recorded, and repeated.

Whoever does not know the seed can predict no number, whatever numbers were seen before.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Final

COUNT_BYTES: Final = 8
SPARE_BYTES: Final = 8
"""Bytes beyond those of the largest number: all numbers are then equally likely, to 1 in 2**64."""
STEPS: Final = 1 << 53
"""Steps of a number from 0 up to 1."""


class SeededChance:
    """The chance of one zone."""

    __slots__ = ("drawn", "seed")

    def __init__(self, seed: bytes, drawn: int = 0) -> None:
        """Go on after `drawn` numbers of a seed of up to 64 bytes."""
        self.seed = seed
        self.drawn = drawn

    def below(self, count: int) -> int:
        """Return a number from 0 to one below `count`."""
        self.drawn += 1
        size = min(64, (count.bit_length() + 7) // 8 + SPARE_BYTES)
        drawn = blake2b(
            self.drawn.to_bytes(COUNT_BYTES, "little"), key=self.seed, digest_size=size
        ).digest()
        return int.from_bytes(drawn, "little") % count


class RolledChances:
    """Numbers between two others, out of a source of numbers below a limit."""

    __slots__ = ("_roll",)

    def __init__(self, roll: Callable[[int], int]) -> None:
        """`roll` returns a number from 0 to one below its argument."""
        self._roll = roll

    def uniform(self, a: float, b: float, /) -> float:
        """Return a number between two others."""
        return a + (b - a) * self._roll(STEPS) / STEPS

    def randint(self, a: int, b: int, /) -> int:
        """Return a whole number from a to b, both included."""
        return a + self._roll(b - a + 1)
