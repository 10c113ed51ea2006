"""`Dealing`: what a spawn sells, repairs and leaves behind, by the numbers of the content."""

from __future__ import annotations

import enum
from typing import Final, NamedTuple


class MerchantKind(enum.IntFlag):
    """The bits of a merchant's kind, as the content file has them."""

    BUYS_NOTHING = 1
    """It buys nothing from players."""
    SELLS_NOTHING_BACK = 2
    SPELLS = 4
    """It shows only what the player's class may use."""
    CRAFTING = 8
    MENDER = 16
    LOTTO = 32
    CITY = 64
    """It takes status points."""


class Dealing(NamedTuple):
    """What a spawn sells, repairs and leaves behind."""

    number: int = 0
    """Its number in the content file; 0 for a spawn of a zone file."""
    merchant: int = 0
    """The number of its list; 0 if it sells nothing."""
    merchant_kind: MerchantKind = MerchantKind(0)
    levels: tuple[int, int] = (0, 0)
    """The lowest and the highest level of those whom it serves; a highest of 0: all."""
    loot: tuple[int, ...] = ()
    """The loot tables that a zone file names; the content file has those of its spawns."""
    loot_tier: int = 0
    model: int = 0
    """The model of its race, by which it has loot."""

    @property
    def is_merchant(self) -> bool:
        """Whether it sells, buys or repairs something."""
        return bool(self.merchant or self.merchant_kind)


NOTHING: Final = Dealing()
