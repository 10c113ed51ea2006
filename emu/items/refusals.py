"""`Refusal`: the reasons for which an act with things changes nothing."""

from __future__ import annotations

import enum
from typing import NamedTuple

from emu.items.kinds import ItemKind


class Why(enum.Enum):
    """Why nothing changes; the world has a text for each but `SILENT`."""

    SILENT = enum.auto()
    """Nothing is said."""
    NO_THING = enum.auto()
    NO_SUCH_PLACE = enum.auto()
    """The place does not exist, or the thing cannot lie there."""
    NO_FREE_PLACE = enum.auto()
    NO_FREE_BANK = enum.auto()
    NOT_SHARED = enum.auto()
    """It may not lie in a shared bank, or something in it may not."""
    IN_USE = enum.auto()
    """It is locked, and would be moved."""
    DESTROY_IN_USE = enum.auto()
    NO_DESTROY = enum.auto()
    LORE = enum.auto()
    STACK_LORE = enum.auto()
    TOO_FEW = enum.auto()
    EVIL_ONLY = enum.auto()
    GOOD_ONLY = enum.auto()
    NOT_WORN = enum.auto()
    """Nobody can wear such things."""
    NO_SKILL = enum.auto()
    """`Refusal.number` is the skill that it needs."""
    NO_CLASS = enum.auto()
    TOO_LOW = enum.auto()
    """`Refusal.number` is the level that it needs."""
    ONLY_APPEARANCE = enum.auto()
    LORE_WORN = enum.auto()
    LORE_EQUIPPED = enum.auto()
    MUST_ATTUNE = enum.auto()
    IN_COMBAT = enum.auto()
    CANNOT_UNEQUIP = enum.auto()
    CANNOT_SWAP = enum.auto()
    OCCUPIED = enum.auto()
    """Something lies where a waiting thing should go."""


class Refusal(NamedTuple):
    """The reason, and what its text names."""

    reason: Why
    kind: ItemKind | None = None
    number: int = 0
