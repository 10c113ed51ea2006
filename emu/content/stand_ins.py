"""Rows of `items` for things that a content file names and that nothing describes.

The public copy of the community's database lacks the tables `items` and `item_mod_stats`. A trial
with that copy has no thing at all without such rows. They are made from what the file does say:
the spell of a scroll, the product of a recipe, the entry of a crate, the price of a merchant, the
tables of parts. Things that scripts alone name come from `emu.scripts.things`. The `kind` of such a
row is `STAND_IN`; it never stands beside real rows.

Source: docs/guides/items.md#stand-ins.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from emu.content.tables import content_tables
from emu.errors import FileFormatError
from emu.items.kinds import Slot

STAND_IN: Final = "stand-in"
"""The `kind` of a row of `items` that an import has made."""
_PRODUCTS: Final = [
    f"stage{phase}_{column}" for phase in range(5) for column in ("item", "byproduct")
]
_NAMED: Final = (
    "SELECT item_id FROM loot_drops",
    "SELECT item_id FROM merchant_items",
    "SELECT price_item FROM merchant_items",
    "SELECT second_price_item FROM merchant_items",
    "SELECT item_id FROM harvest_items",
    "SELECT item_id FROM collection_items",
    "SELECT value FROM collection_rewards WHERE kind IN ('item', 'selectable')",
    "SELECT item_id FROM starting_items",
    "SELECT value FROM quest_details WHERE kind = 'reward' AND subject IN ('item', 'selectable')",
    "SELECT item_id FROM component_items",
    *[f"SELECT {name} FROM recipes WHERE is_complete" for name in _PRODUCTS],  # noqa: S608  # our own
)  # fmt: skip
"""What names things; recipes only if their products are known."""
_NAMES: Final = (
    (
        "SELECT scroll.item_id, spells.name || CASE WHEN scroll.tier > 1"
        " THEN ' (' || scroll.tier || ')' ELSE '' END"
        " FROM item_scrolls AS scroll JOIN spells ON spells.id = scroll.spell_id"
    ),
    "SELECT item_id, title FROM item_books WHERE title <> ''",
    "SELECT stage4_item, name FROM recipes WHERE is_complete",
    "SELECT item_id, name FROM item_crate_items WHERE name <> ''",
)
"""Numbers and names of things; the first one of a thing counts."""


def _bit(slot: Slot) -> int:
    return 1 << slot


_SORTS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "item_weapons": ("Weapon", {"slots": _bit(Slot.PRIMARY), "icon": 158}),
    "item_shields": ("Shield", {"slots": _bit(Slot.SECONDARY), "icon": 160}),
    "item_armor": ("Armor", {"slots": _bit(Slot.CHEST), "icon": 162}),
    "item_ranged": ("Bow", {"slots": _bit(Slot.RANGE), "icon": 164}),
    "item_thrown": ("Arrow", {"slots": _bit(Slot.AMMO), "icon": 165, "stack": 100}),
    "item_foods": ("Food", {"slots": _bit(Slot.FOOD), "icon": 166, "stack": 20}),
    "item_bags": ("Bag", {"icon": 156}),
    "item_scrolls": ("Scroll", {"icon": 177}),
    "item_recipe_books": ("Recipe Book", {"icon": 188}),
    "item_baubles": ("Charm", {"slots": _bit(Slot.LEFT_CHARM) | _bit(Slot.RIGHT_CHARM)}),
    "item_furniture": ("Furniture", {"icon": 175}),
    "item_containers": ("Container", {"icon": 186}),
    "item_adornments": ("Adornment", {"icon": 187}),
    "item_books": ("Book", {"icon": 176}),
}  # fmt: skip
"""The word and the values of a thing with a part of a table; the first that has it counts."""
_NORMAL: Final = ("Thing", {"icon": 154, "stack": 20})
TIER: Final = 3
WEIGHT: Final = 10
LEAST_PRICE: Final = 1
UNPRICED: Final = 40
"""The price, in copper, of what no merchant has. What the first quest of the Far Journey gives must
pay for what it asks for next: the charm for the shard, for which the merchant wants 36."""
DRINK: Final = "SELECT item_id FROM item_foods WHERE kind = 0"
SECOND_HAND: Final = "SELECT item_id FROM item_weapons WHERE wield IN (1, 2)"


class NamedThing(NamedTuple):
    """What scripts say of a thing; each text may be empty."""

    name: str = ""
    script: str = ""
    """The path of its item script."""


def add_stand_ins(database: sqlite3.Connection, others: Mapping[int, NamedThing]) -> int:
    """Add a row for each thing that is named and has none; return how many.

    `others` are the things that scripts name, by number; a name that the file itself has counts
    before. Raises `FileFormatError` if the file has real rows: a
    thing that they lack does not exist.
    """
    if database.execute("SELECT 1 FROM items LIMIT 1").fetchone() is not None:
        raise FileFormatError(
            "the dumps have the table items; import them without --stand-ins, which is for dumps"
            " that lack it"
        )
    named = {
        number for statement in _NAMED for (number,) in database.execute(statement) if number > 0
    }
    named |= {number for number in others if number > 0}
    names: dict[int, str] = {}
    for statement in _NAMES:
        for number, name in database.execute(statement):
            names.setdefault(number, name)
    for number, other in others.items():
        names.setdefault(number, other.name)
    sorts = {
        number: sort for table, sort in reversed([*_SORTS.items()])
        for (number,) in database.execute(f'SELECT item_id FROM "{table}"')  # noqa: S608
    }  # fmt: skip
    prices = dict(
        database.execute(
            "SELECT item_id, min(price_coins) FROM merchant_items WHERE price_coins > 0"
            " GROUP BY item_id"
        )
    )
    drinks = {number for (number,) in database.execute(DRINK)}
    both = {number for (number,) in database.execute(SECOND_HAND)}
    table = content_tables()["items"]
    defaults = {column.name: column.default for column in table.columns}
    rows = []
    for number in sorted(named):
        word, values = sorts.get(number, _NORMAL)
        row = {
            **defaults, **values, "id": number, "kind": STAND_IN, "tier": TIER, "weight": WEIGHT,
            "name": names.get(number) or f"{word} {number}",
            "script": others.get(number, NamedThing()).script,
            # Merchants give less than they ask for.
            "price": max(LEAST_PRICE, prices[number] // 2) if number in prices else UNPRICED,
        }  # fmt: skip
        if number in drinks:
            row["slots"] = _bit(Slot.DRINK)
        if number in both:
            row["slots"] = _bit(Slot.PRIMARY) | _bit(Slot.SECONDARY)
        rows.append(tuple(row[column.name] for column in table.columns))
    database.executemany(table.insert(), rows)
    return len(rows)
