"""When a place is filled again."""

from __future__ import annotations

from random import Random

import pytest

from emu.rules.respawn import respawn_wait


class Fixed:
    """Chance that returns one of its bounds."""

    def __init__(self, *, highest: bool) -> None:
        self.highest = highest

    def randint(self, low: int, high: int, /) -> int:
        return high if self.highest else low


@pytest.mark.parametrize(
    ("seconds", "low", "high", "least", "most"),
    [
        (300, 0, 0, 300, 300),
        (300, -60, 60, 240, 360),
        (300, 30, 10, 330, 330),
        (10, -60, 0, 0, 10),
    ],
)
def test_chance_adds_to_the_usual_time_within_its_bounds(
    seconds: int, low: int, high: int, least: int, most: int
) -> None:
    assert respawn_wait(seconds, low, high, Fixed(highest=False)) == least
    assert respawn_wait(seconds, low, high, Fixed(highest=True)) == most
    assert least <= (respawn_wait(seconds, low, high, Random(1)) or 0) <= most


def test_a_place_without_a_time_stays_empty() -> None:
    assert respawn_wait(0, 5, 10, Random(1)) is None
