"""Lines of sight between two spawns, kept for a second: combat asks for a pair many times."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from emu.ground.ground_layout import Point
from emu.ground.ground_map import GroundMap
from emu.times import Monotonic

KEPT: Final = 1.0
"""Seconds for which an answer counts."""
MOST_PAIRS: Final = 4096


class ViewCache:
    """Answers of one zone's ground by the numbers of two spawns."""

    def __init__(self, ground: GroundMap | None) -> None:
        """Without a map everybody sees everybody."""
        self._ground = ground
        self._without: Container[int] = ()
        self._known: dict[tuple[int, int], tuple[float, bool]] = {}

    def sees(self, one: tuple[int, Point], other: tuple[int, Point], now: Monotonic) -> bool:
        """Return whether two spawns have a line of sight; each is a number and its place."""
        if self._ground is None:
            return True
        (number, place), (other_number, other_place) = sorted((one, other))
        pair = number, other_number
        known = self._known.get(pair)
        if known is not None and now < known[0]:
            return known[1]
        if len(self._known) >= MOST_PAIRS:
            self._known.clear()
        answer = self._ground.sees(place, other_place, self._without)
        self._known[pair] = now + KEPT, answer
        return answer

    def remove_widgets(self, groups: Container[int]) -> None:
        """Let groups of removed widgets, as `GroundMap.groups_of` returns them, block nothing."""
        self._without = groups
        self._known.clear()
