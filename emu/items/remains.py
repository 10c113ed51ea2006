"""`Remains`: what lies in a body or a chest, and who may have it.

Source: docs/protocol/world/trade.md#loot.
"""

from __future__ import annotations

import enum
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from emu.items.kinds import ItemKind

CHEST_TIER: Final = 2
"""From this tier on, things lie in a chest."""


class LootMethod(enum.IntEnum):
    """How a group shares what it finds."""

    LEADER = 0
    FREE = 1
    LOTTO = 2
    NEED = 3
    ROUND_ROBIN = 4


@dataclass(slots=True)
class Lot:
    """Things of one kind that lie there."""

    kind: ItemKind
    count: int
    number: int
    """Its number among the things of the same body."""
    is_taken: bool = False
    """Whether somebody takes it just now."""
    owner: int = 0
    """The character whose turn it was, or who has won it; 0: all that may loot."""
    is_unwanted: bool = False
    """Whether lots were drawn and nobody wanted it: all may take it now."""
    answers: dict[int, Choice] = field(default_factory=dict)
    """What members of the group want."""


class Choice(enum.IntEnum):
    """What somebody wants of a thing that a group draws lots for, as clients number it."""

    NEED = 1
    GREED = 2
    DECLINE = 3


@dataclass(slots=True)
class Remains:
    """What lies in one body or chest."""

    coins: int
    lots: list[Lot]
    entitled: frozenset[int]
    """The characters that may loot it; all may from `free_at` on."""
    free_at: float
    method: LootMethod = LootMethod.FREE
    leader: int = 0
    decides_at: float | None = None
    """When lots are drawn whatever is answered; None before the first window."""
    is_paying: bool = False
    """Whether somebody is given its coins just now; they come back if that is not stored."""
    openers: set[int] = field(default_factory=set)
    """The characters that have its window open."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return not self.coins and not self.lots and not self.is_paying

    def may_loot(self, char_id: int, now: float) -> bool:
        """Return whether a character may open it."""
        return char_id in self.entitled or now >= self.free_at

    def lots_for(self, char_id: int, now: float) -> list[Lot]:
        """Return what a character may take at once."""
        if now >= self.free_at:
            return [one for one in self.lots if not one.is_taken]
        if self.method is LootMethod.LEADER and char_id != self.leader:
            return []
        if self.draws_lots:
            return [
                one for one in self.lots
                if not one.is_taken and (one.is_unwanted or one.owner == char_id)
            ]  # fmt: skip
        return [one for one in self.lots if not one.is_taken and one.owner in (0, char_id)]

    @property
    def draws_lots(self) -> bool:
        """Whether the group draws lots for the things."""
        return len(self.entitled) > 1 and self.method in (LootMethod.LOTTO, LootMethod.NEED)

    def take_turns(self, order: list[int], begin: int) -> int:
        """Give things to members by turns, `begin` first; return whose turn it is next."""
        for lot in self.lots:
            if order:
                lot.owner = order[begin % len(order)]
                begin += 1
        return begin

    def answer(self, char_id: int, number: int, choice: Choice) -> None:
        """Note what a member wants of a thing; the first answer counts."""
        for lot in self.lots:
            if lot.number == number and char_id in self.entitled:
                lot.answers.setdefault(char_id, choice)

    def decided(self, now: float) -> list[Lot]:
        """Return the things for which all have answered, or whose time is over.

        Lots are drawn once for each.
        """
        if not self.draws_lots or self.decides_at is None:
            return []
        is_over = now >= self.decides_at
        return [
            one for one in self.lots
            if not (one.is_taken or one.owner or one.is_unwanted)
            and (is_over or one.answers.keys() >= self.entitled)
        ]  # fmt: skip


def drawn_among(lot: Lot, present: Collection[int]) -> list[int]:
    """Return the members among whom a thing is drawn: those who need it before the others.

    A member that is not present wins nothing.
    """
    for choice in (Choice.NEED, Choice.GREED):
        found = sorted(
            one for one, answer in lot.answers.items() if answer is choice and one in present
        )
        if found:
            return found
    return []
