"""Loot of NPCs and lists of merchants, as a content file has them.

Source: docs/guides/content.md#loot, docs/guides/content.md#merchants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from emu.content.file import ContentFile
from emu.content.rows import Row
from emu.rules.loot import LootDrop, LootTable

UNLIMITED: Final = 254
"""A merchant has as many of a thing as are asked for, from this quantity on."""


class GlobalLoot(NamedTuple):
    """A loot table of many NPCs: those of a level, a zone or a race."""

    table_id: int
    kind: str
    """``level``, ``zone`` or ``racial``."""
    subject: int
    """The number of the zone or of the race; 0 for levels."""
    levels: tuple[int, int]
    """The lowest and the highest level; (0, 0): any."""
    least_tier: int
    """The least loot tier of the NPC."""

    def fits(self, zone_id: int, race: int, level: int, tier: int) -> bool:
        """Return whether an NPC of a zone, a race, a level and a loot tier has this table."""
        own = {"zone": zone_id, "racial": race}.get(self.kind, self.subject)
        low, high = self.levels
        return (
            own == self.subject and tier >= self.least_tier
            and (self.levels == (0, 0) or low <= level <= high)
        )  # fmt: skip


class Ware(NamedTuple):
    """One thing in the list of a merchant; without a price it costs what the item is worth."""

    item_id: int
    quantity: int | None
    """None: as many as are asked for."""
    coins: int
    """In copper."""
    status: int
    tokens: tuple[tuple[int, int], ...]
    """Items that it costs, each with their number."""

    @property
    def has_price(self) -> bool:
        """Whether it has a price of its own."""
        return bool(self.coins or self.status or self.tokens)


def loot_tables(file: ContentFile, ids: Iterable[int]) -> dict[int, LootTable]:
    """Return loot tables by number; numbers without a table are left out."""
    wanted = sorted(set(ids))
    drops: dict[int, list[LootDrop]] = {}
    for row in file.rows("loot_drops", "table_id", wanted):
        drops.setdefault(row["table_id"], []).append(
            LootDrop(
                row["item_id"],
                row["charges"] or 1,
                bool(row["is_worn"]),
                row["weight"],
                row["unless_quest"],
            )
        )
    return {
        row["id"]: LootTable(
            row["id"], row["name"], _range(row["min_coins"], row["max_coins"]),
            row["coin_probability"], row["most_items"], row["drop_probability"],
            tuple(drops.get(row["id"], ())),
        )
        for row in file.rows("loot_tables", "id", wanted)
    }  # fmt: skip


def loot_of(file: ContentFile, spawns: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """Return the numbers of the loot tables of spawns, those of `spawn_loot`; by spawn."""
    found: dict[int, list[int]] = {}
    for row in file.rows("spawn_loot", "spawn_id", spawns):
        found.setdefault(row["spawn_id"], []).append(row["table_id"])
    return {spawn: tuple(tables) for spawn, tables in found.items()}


def global_loot(file: ContentFile) -> list[GlobalLoot]:
    """Return the loot tables of levels, zones and races, by their numbers."""
    return [_global(row) for row in file.table("global_loot")]


def _global(row: Row) -> GlobalLoot:
    values = [row[f"value{number}"] for number in range(1, 5)]
    is_level = row["kind"] == "level"
    subject, low, high = (0, *values[:2]) if is_level else tuple(values[:3])
    # A highest level below the lowest one means one level.
    return GlobalLoot(row["table_id"], row["kind"], subject, (low, max(low, high)), values[3])


def wares_of(file: ContentFile, merchants: Sequence[int]) -> Mapping[int, tuple[Ware, ...]]:
    """Return what merchants sell, by the number of the merchant, in the order of their windows."""
    lists: dict[int, list[int]] = {}
    for row in file.rows("merchants", "merchant_id", merchants):
        # The list that was added last comes first.
        lists.setdefault(row["merchant_id"], []).insert(0, row["inventory_id"])
    inventories = sorted({one for several in lists.values() for one in several})
    wares: dict[int, dict[int, Ware]] = {}
    for row in file.rows("merchant_items", "inventory_id", inventories):
        # Nobody has station cash. Of a thing that is twice in a list the first counts.
        if not row["price_station_cash"]:
            wares.setdefault(row["inventory_id"], {}).setdefault(row["item_id"], _ware(row))
    return {
        merchant: tuple(ware for one in several for ware in wares.get(one, {}).values())
        for merchant, several in lists.items()
    }


def _ware(row: Row) -> Ware:
    tokens = (
        (row["price_item"], row["price_item_quantity"]),
        (row["second_price_item"], row["second_price_item_quantity"]),
    )
    return Ware(
        row["item_id"], None if row["quantity"] >= UNLIMITED else row["quantity"],
        row["price_coins"], row["price_status"],
        # A price of quantity 0 is ignored.
        tuple(token for token in tokens if all(token)),
    )  # fmt: skip


def _range(low: int, high: int) -> tuple[int, int]:
    """Return two bounds in their order: some tables have them crossed."""
    return min(low, high), max(low, high)
