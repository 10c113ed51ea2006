"""Harvests: which table of a node applies, and what one try gives.

Chance decides; the same source of chance gives the same things.
Source: docs/protocol/world/crafting.md#harvest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from emu.rules.loot import ALL, Chance

COMMON, RARE, IMBUED = 0, 1, 2
"""Rarities of the things of a node."""
ANYWHERE: Final = 0
"""The cell of the map of a thing that is found in all cells."""


class HarvestTable(NamedTuple):
    """One table of a node: what it needs, and how often a try gives what, in percent."""

    min_skill: int
    min_level: int
    is_bonus: bool
    """Whether the level of the adventurer counts too."""
    one: float
    three: float
    five: float
    imbued: float
    rare: float
    ten: float
    """Ten common things, and a rare one."""


class HarvestItem(NamedTuple):
    """One thing that a node can give."""

    item_id: int
    rarity: int
    grid: int
    """The cell of the map in which it is found."""


@dataclass(frozen=True)
class HarvestNode:
    """The tables and the things of one kind of node."""

    tables: tuple[HarvestTable, ...]
    items: tuple[HarvestItem, ...]

    @property
    def needed(self) -> int:
        """The least skill with which somebody harvests it."""
        return min((one.min_skill for one in self.tables), default=0)


class Found(NamedTuple):
    """What one try gives of one thing."""

    item_id: int
    amount: int
    rarity: int


def table_of(node: HarvestNode, skill: int, level: int, chance: Chance) -> HarvestTable | None:
    """Return the table of one harvest; None if the skill is too small for all of them.

    A number from the least needed skill to the own one is drawn; of the tables that it reaches the
    most demanding one counts.
    """
    known = [
        one for one in node.tables
        if one.min_skill <= skill and (not one.is_bonus or one.min_level <= level)
    ]  # fmt: skip
    if not known:
        return None
    least = min(one.min_skill for one in known)
    drawn = least + int(chance.random() * (skill - least + 1))
    return max((one for one in known if one.min_skill <= drawn), key=lambda one: one.min_skill)


def harvest(
    table: HarvestTable, items: Iterable[HarvestItem], grid: int, chance: Chance
) -> list[Found]:
    """Return what one try gives in a cell of the map; nothing if it fails.

    One number is drawn. The percentages are tried in their order, the smallest first; the first
    that reaches the number wins. Without things of its rarity the next one that can be given wins.
    """
    here = [one for one in items if one.grid in (ANYWHERE, grid)]
    drawn = chance.random() * ALL
    for percent, kinds in sorted(_outcomes(table), key=lambda one: one[0]):
        if drawn >= percent:
            continue
        found = [_pick(here, rarity, count, chance) for rarity, count in kinds]
        given = [one for one in found if one is not None]
        if given:
            return given
    return []


def _outcomes(table: HarvestTable) -> Sequence[tuple[float, tuple[tuple[int, int], ...]]]:
    return (
        (table.ten, ((COMMON, 10), (RARE, 1))),
        (table.rare, ((RARE, 1),)),
        (table.imbued, ((IMBUED, 1),)),
        (table.five, ((COMMON, 5),)),
        (table.three, ((COMMON, 3),)),
        (table.one, ((COMMON, 1),)),
    )


def _pick(items: Sequence[HarvestItem], rarity: int, count: int, chance: Chance) -> Found | None:
    known = [one for one in items if one.rarity == rarity]
    if not known:
        return None
    one = known[int(chance.random() * len(known))]
    return Found(one.item_id, count, rarity)
