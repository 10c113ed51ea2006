"""Prices of merchants and menders, in copper.

Source: docs/guides/content.md#merchants.
"""

from __future__ import annotations

from typing import Final

FEW, MANY = 1, 255
"""The least and the greatest number of things of one purchase or sale."""
WHOLE: Final = 10
"""Steps of the condition of what is whole."""
_LEGENDARY, _FABLED, _MYTHICAL = 7, 9, 12
_TIMES: Final = ((_MYTHICAL, 12), (_FABLED, 8), (_LEGENDARY, 4))
"""How many times dearer the repair of a thing of a tier, or of a higher one, is."""


def selling_price(worth: int, paid: int) -> int:
    """Return what a merchant gives for one thing.

    It never gives more than was paid for the thing; `paid` is 0 for what was never bought.
    """
    return min(worth, paid) if paid else worth


def repair_price(level: int, tier: int, condition: int) -> int:
    """Return the price to make a thing whole; `condition` is percent."""
    missing = WHOLE - condition / WHOLE
    times = next((times for least, times in _TIMES if tier >= least), 1)
    return int(max(1, level) * missing * times)
