"""Chance that a test decides."""

from __future__ import annotations


class Rolls:
    """Gives numbers that a test has chosen."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = list(numbers)
        self.asked: list[tuple[int, int]] = []

    def randint(self, low: int, high: int, /) -> int:
        self.asked.append((low, high))
        return self.numbers.pop(0)
