"""Prices of merchants and menders, with the amounts of recordings of EQ2Emulator."""

from __future__ import annotations

import pytest

from emu.rules.prices import repair_price, selling_price


@pytest.mark.parametrize(
    ("worth", "paid", "price"),
    [(3, 3, 3), (110, 0, 110), (10, 6, 6), (6, 10, 6), (0, 0, 0)],
    ids=["recorded", "never bought", "cheaply bought", "dearly bought", "worth nothing"],
)
def test_a_merchant_gives_no_more_than_was_paid(worth: int, paid: int, price: int) -> None:
    assert selling_price(worth, paid) == price


@pytest.mark.parametrize(
    ("level", "tier", "condition", "price"),
    [(1, 3, 90, 1), (20, 3, 100, 0), (50, 7, 90, 200), (50, 9, 0, 4000), (50, 12, 55, 2700)],
    ids=["items-546-deal", "whole", "legendary", "fabled", "mythical"],
)
def test_the_price_of_a_repair(level: int, tier: int, condition: int, price: int) -> None:
    assert repair_price(level, tier, condition) == price
