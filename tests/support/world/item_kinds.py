# ruff: noqa: E501
"""Kinds of things for tests: the facts of those of the recorded set, as TOML rows of our own.

The numbers and names are those of ../shared/data/recordings/items-set-A.json, so that a test can
compare what it sees with a recording.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from emu.content.items import ItemKinds, TomlItems

MARBLE, PEBBLE, SATCHEL, PURSE, SWORD = 910001, 910002, 910003, 910004, 910005
CLUB, BUCKLER, CAP, TUNIC, RING = 910006, 910007, 910008, 910009, 910010
SEAL, TOKEN, STONE, VISOR, COWL = 910015, 910016, 910018, 910019, 910020
CHARM, HAT = 910025, 910026
QUILL, THIMBLE, BRASS, BOOTS = 910017, 910029, 910031, 910032

_ROWS = r"""
id = 910001, name = "Chipped Marble", price = 12, icon = 154, weight = 5, description = "It has seen many games."
id = 910002, name = "Grey River Pebble", price = 3, icon = 155, weight = 2, stack = 20
id = 910003, name = "Patched Satchel", price = 50, icon = 156, weight = 20, bags = {slots = 6, weight_reduction = 5}
id = 910004, name = "Threadbare Purse", icon = 157, weight = 4, bags = {slots = 2}
id = 910005, name = "Notched Training Sword", price = 110, icon = 158, tier = 4, weight = 30, slots = 3, \
recommended_level = 3, description = "Blunted on purpose.", weapons = {wield = 2, low = 2, high = 7, \
mastery_low = 3, mastery_high = 9, base_low = 1, base_high = 6, delay = 16, rating = 3.5}, \
stats = [{integer = 3}, {subkind = 2, integer = 2}, {kind = 5, integer = 12}], \
appearances = {id = 1, model = 2123, red = 10, green = 20, blue = 30, highlight_red = 40}
id = 910006, name = "Oaken Greatclub", icon = 159, weight = 120, slots = 1, weapons = {wield = 4}
id = 910007, name = "Rimmed Buckler", icon = 160, weight = 40, slots = 2, shields = {low = 30, high = 130}
id = 910008, name = "Dented Iron Cap", price = 70, icon = 161, tier = 4, weight = 22, slots = 4, level = 1, \
armor = {low = 5, high = 8}, stats = [{subkind = 1, integer = 4}], \
appearances = {id = 1, model = 1513, red = 200, green = 100, blue = 50}
id = 910009, name = "Quilted Recruit Tunic", icon = 162, weight = 10, slots = 8, attuneable = 1, \
armor = {low = 11, high = 14}
id = 910010, name = "Bent Copper Ring", price = 45, icon = 163, weight = 1, slots = 512, baubles = {cast_time = 10}
id = 910015, name = "Cracked Royal Seal", icon = 168, weight = 10, lore = 1
id = 910016, name = "Sworn Token", price = 20, icon = 169, weight = 10, notrade = 1
id = 910017, name = "Broken Quill", icon = 170, price = 9, novalue = 1
id = 910018, name = "Lodestone Shard", icon = 171, weight = 10, nodestroy = 1
id = 910019, name = "Champion's Visor", icon = 172, weight = 10, slots = 4, level = 60, \
armor = {low = 200, high = 260}
id = 910020, name = "Acolyte's Cowl", icon = 173, weight = 10, slots = 4, level = 1, \
classes = 536870912, armor = {low = 2, high = 3}
id = 910025, name = "Whistling Charm", icon = 178, weight = 10, most_charges = 3, is_usable = 1, \
baubles = {cast_time = 20}
id = 910026, name = "Festival Hat", price = 9, icon = 179, weight = 10, slots = 4, appearance_only = 1, \
armor = {low = 0}, appearances = {id = 1, model = 1525, red = 9, green = 9, blue = 9}
id = 910029, name = "Grandmother's Thimble", icon = 182, weight = 10, heirloom = 1
id = 910031, name = "Brass Work Token", icon = 184, weight = 10, price = 1, stack = 50
id = 910032, name = "Worn Patrol Boots", icon = 185, weight = 10, price = 40, slots = 256, level = 1, \
armor = {low = 4, high = 6}
"""


def item_kinds(rows: Iterable[str] = ()) -> ItemKinds:
    """Return the kinds of the set and of further rows, each an inline table without its braces."""
    return ItemKinds(None, _layer(tuple(rows)))


@cache
def _layer(rows: tuple[str, ...]) -> TomlItems:
    lines = [*_ROWS.strip().replace("\\\n", "").splitlines(), *rows]
    text = "item = [\n" + ",\n".join(f"{{{line}}}" for line in lines) + "\n]\n"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "items.toml"
        path.write_text(text, encoding="utf-8")
        return TomlItems([path])
