"""Loot: what a creature has with it when it spawns, and what it drops only for some.

Chance decides; the same source of chance gives the same loot.
Source: docs/guides/content.md#loot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final, NamedTuple, Protocol

ALL: Final = 100.0
"""The sum of the weights of a table that does not always give something."""


class Chance(Protocol):
    """Chooses numbers; `random.Random` does."""

    def random(self) -> float:
        """Return a number from 0 up to 1."""


class LootDrop(NamedTuple):
    """One thing that a loot table can give."""

    item_id: int
    charges: int
    is_worn: bool
    """Whether the NPC wears it."""
    weight: float
    """Its part among the drops of its table; not a chance."""
    unless_quest: int
    """It drops only for who has not completed this quest; 0: for everybody."""


@dataclass(frozen=True)
class LootTable:
    """Coins and things of which some are won; probabilities are percentages."""

    id: int
    name: str
    coins: tuple[int, int]
    """The least number of coins, in copper, and the first that is too great."""
    coin_probability: float
    most_items: int
    """How many times one thing is won or not; 0: none."""
    drop_probability: float
    """Of each of these times."""
    drops: tuple[LootDrop, ...]

    @cached_property
    def pieces(self) -> tuple[float, ...]:
        """The sums of the weights up to each drop."""
        return tuple(accumulate(drop.weight for drop in self.drops))

    @cached_property
    def is_even(self) -> bool:
        """Whether all drops have one weight."""
        return len({drop.weight for drop in self.drops}) == 1

    @cached_property
    def has_bound(self) -> bool:
        """Whether a drop depends on a quest."""
        return any(drop.unless_quest for drop in self.drops)


@dataclass(slots=True)
class Loot:
    """What was won: coins in copper, and drops."""

    coins: int
    drops: list[LootDrop]


def _happens(percent: float, chance: Chance) -> bool:
    """Return whether something of this probability happens; 0 never, 100 always."""
    return chance.random() * ALL < percent


def roll(tables: Iterable[LootTable], chance: Chance) -> Loot:
    """Return what a creature has with it; drops that depend on a quest are left out.

    A thing that was won already is not won again.
    """
    coins, drops, won = 0, list[LootDrop](), set[int]()
    for table in tables:
        low, high = table.coins
        if high > 0 and _happens(table.coin_probability, chance):
            # Below the greatest number, as EQ2Emulator (recorded): 21 to 22 is always 21.
            coins += low + int(chance.random() * (high - low))
        for drop in _win(table, won, chance):
            if not drop.unless_quest:
                won.add(drop.item_id)
                drops.append(drop)
    return Loot(coins, drops)


def roll_bound(
    tables: Iterable[LootTable],
    has_completed: Callable[[int], bool],
    chance: Chance,
    has: Collection[int] = (),
) -> list[LootDrop]:
    """Return what a creature drops besides for its killer, of drops that depend on a quest.

    `has` are the items that the creature has already.
    """
    drops, won = list[LootDrop](), set(has)
    for table in tables:
        if not table.has_bound:
            continue
        for drop in _win(table, won, chance):
            if drop.unless_quest and not has_completed(drop.unless_quest):
                won.add(drop.item_id)
                drops.append(drop)
    return drops


def _win(table: LootTable, won: Collection[int], chance: Chance) -> Iterable[LootDrop]:
    """Yield the drops that a table gives, at most one each time that it is asked.

    `won` grows meanwhile.
    """
    if not table.drops or table.pieces[-1] <= 0:
        return
    for _ in range(table.most_items):
        if not _happens(table.drop_probability, chance):
            continue
        drop = _one(table, chance)
        if drop is not None and drop.item_id not in won:
            yield drop


def _one(table: LootTable, chance: Chance) -> LootDrop | None:
    """Return one drop.

    With weights of at most 100 together, a drop is won by its share of them. With more, drops are
    looked at in random order, and the one at which the sum of their weights passes a number from 0
    to 100 is won: so a rare drop beside many others is won less often than its weight says.
    """
    drops, total = table.drops, table.pieces[-1]
    if total > ALL:
        # Every order is as likely as any other: of equal weights each is won as often.
        if table.is_even:
            return drops[int(chance.random() * len(drops))]
        return _in_random_order(drops, chance)
    found = chance.random() * total
    return next((drop for drop, end in zip(drops, table.pieces, strict=True) if found < end), None)


def _in_random_order(drops: tuple[LootDrop, ...], chance: Chance) -> LootDrop | None:
    left = ALL * chance.random()
    order = list(drops)
    while order:
        # Only as much of the order is drawn as is needed: a table may have hundreds of drops.
        place = int(chance.random() * len(order))
        drop = order[place]
        order[place] = order[-1]
        order.pop()
        left -= drop.weight
        if left < 0:
            return drop
    return None
