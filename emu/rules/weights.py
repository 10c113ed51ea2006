"""The weight of what somebody carries, and the most that somebody can carry.

Source: docs/protocol/world/items.md#weight.
"""

from __future__ import annotations

from typing import Final

COINS_OF_NEXT: Final = 100
COINS_OF_A_POUND: Final = 40
TENTHS: Final = 10
LEAST: Final = 50
OF_STRENGTH: Final = 2


def carried_weight(things: int, coins: int) -> int:
    """Return the weight of things, in tenths, and of a purse of coins, in copper."""
    pieces = 0
    for _ in range(3):
        coins, rest = divmod(coins, COINS_OF_NEXT)
        pieces += rest
    return things // TENTHS + (pieces + coins) // COINS_OF_A_POUND


def most_weight(strength: int) -> int:
    """Return the most that somebody with this strength can carry."""
    return LEAST + OF_STRENGTH * max(0, strength)
