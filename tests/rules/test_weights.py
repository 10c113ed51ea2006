"""Weights: 90 is the most with the usual strength of 20 (recorded), and each 40 coins weigh 1."""

import pytest

from emu.rules.weights import carried_weight, most_weight


@pytest.mark.parametrize(
    ("things", "coins", "weight"),
    [(0, 0, 0), (29, 0, 2), (0, 40, 1), (0, 40_40, 2), (100, 1_00_00_00, 10), (0, 99_99_99, 7)],
)
def test_things_and_coins_weigh(things: int, coins: int, weight: int) -> None:
    assert carried_weight(things, coins) == weight


def test_strength_carries() -> None:
    assert (most_weight(20), most_weight(0), most_weight(-5)) == (90, 50, 50)
