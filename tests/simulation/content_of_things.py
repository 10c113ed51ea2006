"""The kinds of things of the simulation, who sells them, and what creatures leave."""

from __future__ import annotations

from typing import Any

from emu.items.kinds import Wield

Tables = dict[str, list[dict[str, Any]]]
STACK, BAG, SWORD = 501, 502, 503
"""One lies in stacks, one is a bag, and one is worn."""
ORE, BOOK, BUCKLE, SLAG = 504, 505, 506, 507
"""What a recipe needs beside apples, what teaches it, and what it makes."""
SCROLL = 508
"""It teaches the second tier of a spell."""
CHAIR, LEAF, SHELL = 509, 510, 511
"""One stands in houses, and two are pieces of a collection."""
BREAD, LENS, JEWEL, CHIPS, DUST = 512, 513, 514, 515, 516
"""One is eaten, one has charges, and one is broken into the last two."""
THINGS = (STACK, BAG, SWORD)
"""What people mostly buy and summon, and what creatures leave."""
NAMES = {
    STACK: "an apple", BAG: "a small pouch", SWORD: "a blunt sword", ORE: "a lump of ore",
    BOOK: "a smith's primer", BUCKLE: "a buckle", SLAG: "slag", SCROLL: "a scroll of healing",
    CHAIR: "a chair", LEAF: "a red leaf", SHELL: "a snail's shell", BREAD: "a loaf of bread",
    LENS: "a cracked lens", JEWEL: "a dull jewel", CHIPS: "chips of a jewel", DUST: "jewel dust",
}  # fmt: skip
PLAIN = (STACK, BAG, SWORD, ORE, BOOK, BUCKLE, SLAG, SCROLL, CHAIR, LEAF, SHELL)
"""The others are in the table of their uses."""
STACKED = (STACK, ORE, BUCKLE, SLAG, LEAF)
"""What lies in stacks of 20."""
COST = {STACK: 2, BAG: 9, SWORD: 5, ORE: 3, BOOK: 4, SCROLL: 6, CHAIR: 4, BREAD: 2, LENS: 5,
        JEWEL: 4}  # fmt: skip
"""Copper that each costs at the peddler."""


def tables() -> Tables:
    """Return the kinds of things, who sells them, and the creatures' loot."""
    commands = [
        ("Use", "use", 7), ("Buy", "frommerchant", 8), ("Bank", "bank", 9),
        ("Create", "create", 10), ("Collection", "hand_in_collections", 11),
        ("Access", "access", 12), ("Visit", "visit", 12),
        ("Repair", "repair", 13),
    ]  # fmt: skip
    return {
        "entity_commands": [
            {"id": number, "command_list_id": of, "command_text": text, "command": command,
             "distance": 60 if of == 7 else 10}
            for number, (text, command, of) in enumerate(commands, 1)
        ],
        "items": [
            {"id": number, "name": name, "item_type": "Normal",
             "sell_price": 2 * COST.get(number, 1), "stack_count": 20 if number in STACKED else 1,
             "weight": 1, "slots": 1 if number == SWORD else 0, "adventure_classes": 0,
             "collectable": int(number in (LEAF, SHELL))}
            for number, name in NAMES.items() if number in PLAIN
        ],
        "item_details_weapon": [
            {"id": 1, "item_id": SWORD, "wield_style": int(Wield.SINGLE), "dmg_low": 1,
             "dmg_high": 3, "delay": 20},
        ],
        "item_details_bag": [{"id": 1, "item_id": BAG, "num_slots": 4}],
        "merchants": [{"id": 1, "merchant_id": 6, "inventory_id": 60, "description": "A Peddler"}],
        "merchant_inventory": [
            {"id": number, "inventory_id": 60, "item_id": number, "quantity": 255,
             "price_coins": cost}
            for number, cost in COST.items()
        ],
        "loottable": [
            {"id": 4, "name": "of a wolf", "mincoin": 3, "maxcoin": 9, "maxlootitems": 2,
             "lootdrop_probability": 100, "coin_probability": 100},
        ],
        "lootdrop": [
            {"id": number, "loot_table_id": 4, "item_id": number, "item_charges": 1,
             "probability": 60}
            for number in THINGS
        ],
    }  # fmt: skip
