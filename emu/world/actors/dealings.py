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


class NodeSkill(enum.StrEnum):
    """The skills with which nodes are harvested, as the content file has them."""

    NONE = ""
    GATHERING = "gathering"
    COLLECTING = "collecting"
    """Done with the skill of gathering."""
    MINING = "mining"
    TRAPPING = "trapping"
    FORESTING = "foresting"
    FISHING = "fishing"


class Dealing(NamedTuple):
    """What a spawn sells, repairs, gives who harvests it, and leaves behind."""

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
    node: int = 0
    """The number of its tables of harvest; 0 if it is not harvested."""
    node_skill: NodeSkill = NodeSkill.NONE
    node_uses: int = 3
    """How many times each player harvests it."""
    node_tries: int = 1
    """How many times one harvest tries."""
    device: int = 0
    """The number of a device of crafting; 0 for what is none."""
    loot_drop_kind: int = 0
    """1: all loot lies on the body, also what would be in a chest."""

    @property
    def is_merchant(self) -> bool:
        """Whether it sells, buys or repairs something."""
        return bool(self.merchant or self.merchant_kind)


NOTHING: Final = Dealing()
