"""Kinds of things: from rows of a content file, and from TOML files above it."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.content.items import OWN_NUMBERS, ItemKinds, TomlItems, shipped_items
from emu.errors import FileFormatError
from emu.items.kinds import (
    Armor,
    Bag,
    BookRecipe,
    Flag,
    ItemLook,
    Range,
    RecipeBook,
    Slot,
    Sort,
    Stat,
    Weapon,
)
from tests.support.world.item_recordings import recorded_kinds


def written(folder: Path, text: str) -> TomlItems:
    path = folder / "items.toml"
    path.write_text(text, encoding="utf-8")
    return TomlItems([path])


def test_every_kind_of_the_recorded_set_is_read() -> None:
    kinds = recorded_kinds()
    sword = kinds.get(910005)
    assert sword is not None
    assert (sword.name, sword.sort, sword.slots) == (
        "Notched Training Sword", Sort.WEAPON, (Slot.PRIMARY, Slot.SECONDARY),
    )  # fmt: skip
    assert sword.part == Weapon(2, 0, Range(2, 7), Range(3, 9), Range(1, 6), 16, 3.5)
    assert sword.stats == (Stat(0, 0, 3), Stat(0, 2, 2), Stat(5, 0, 12))
    assert sword.look == ItemLook(2123, (10, 20, 30), (40, 50, 60))
    assert [one.text for one in sword.effects] == ["When drawn:", "It hums a little."]
    book = kinds.get(910035)
    assert book is not None
    assert book.part == RecipeBook(
        910035, 0, (BookRecipe(910001, 910077, "Plain Belt Buckle", 192),)
    )
    flags = {910015: Flag.LORE, 910016: Flag.NO_TRADE, 910030: Flag.STACK_LORE}
    for number, flag in flags.items():
        found = kinds.get(number)
        assert found is not None
        assert found.flags == flag
    assert kinds.get(5) is None
    assert kinds.get(1 << 40) is None
    assert {kind.sort for kind in kinds.load(range(910001, 910041)).values()} >= {
        Sort.NORMAL, Sort.WEAPON, Sort.RANGED, Sort.ARMOR, Sort.SHIELD, Sort.BAG, Sort.SCROLL,
        Sort.RECIPE_BOOK, Sort.FOOD, Sort.BAUBLE, Sort.FURNITURE, Sort.THROWN, Sort.CONTAINER,
        Sort.ADORNMENT, Sort.BOOK,
    }  # fmt: skip
    assert kinds.search("river") == [(910002, "Grey River Pebble")]


def test_a_kind_is_one_object_for_all(tmp_path: Path) -> None:
    layer = written(tmp_path, '[[item]]\nid = 2000000009\nname = "Stone"\n')
    kinds = ItemKinds(None, layer)
    assert kinds.get(2000000009) is kinds.get(2000000009)
    kinds.reload(None, layer)
    assert kinds.get(2000000009) is not None


def test_a_toml_file_changes_an_item_and_adds_others(tmp_path: Path) -> None:
    below = recorded_kinds()
    assert below._path is not None  # of the recorded kinds
    layer = written(
        tmp_path,
        """
[[item]]
id = 910008
level = 7
[item.armor]
low = 50
high = 80
[[item]]
id = 2000000100
name = "Sack"
bags = {slots = 4}
stats = [{kind = 0, subkind = 1, integer = 2}]
[[item]]
id = 77
level = 3
""",
    )
    kinds = ItemKinds(below._path, layer)
    cap, sack = kinds.get(910008), kinds.get(2000000100)
    assert cap is not None
    assert (cap.name, cap.level, cap.part) == ("Dented Iron Cap", 7, Armor(Range(50, 80)))
    assert sack is not None
    assert (sack.sort, sack.part, sack.stats) == (Sort.BAG, Bag(4, 0), (Stat(0, 1, 2),))
    assert kinds.get(77) is None  # it changes what does not exist


def test_columns_have_the_limits_and_the_order_of_the_windows(tmp_path: Path) -> None:
    """Source: eq2-items.md 2.1, 2.3; windows have two bytes for icon, stack and charges."""
    layer = written(
        tmp_path,
        """
[[item]]
id = 2000000001
name = "Ring"
adornment_slot1 = 1
adornment_slot2 = 2
adornment_slot3 = 3
adornment_slot4 = 4
adornment_slot5 = 5
adornment_slot6 = 6
skill = 4294967295
second_skill = 7
icon = 65535
stack = 65535
most_charges = 65535
stats = [
  {kind = 6, subkind = 1, decimal = 1.5, integer = 9, index = 2},
  {kind = 5, subkind = 2, decimal = 2.5, index = 0},
  {kind = 4, subkind = 3, decimal = 2.5, integer = 4, index = 1},
]
[[item]]
id = 2000000002
name = "Rag"
stack = 0
bags = {slots = 255}
""",
    )
    ring, rag = (ItemKinds(None, layer).get(number) for number in (2000000001, 2000000002))
    assert ring is not None
    assert rag is not None
    assert ring.adornment_slots == (1, 2, 3, 4, 5, 6)
    assert ring.skills == (0, 7)
    assert (ring.icon, ring.stack, ring.most_charges) == (0xFFFF, 0xFFFF, 0xFFFF)
    assert ring.stats == (Stat(5, 2, 2), Stat(4, 3, 4), Stat(6, 1, 1.5))
    assert (rag.stack, rag.most_charges, rag.price, rag.status_price) == (1, 0, 0, 0)
    assert rag.part == Bag(255, 0)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[[item]]\nname = 'x'\n", "id must be a number above 0"),
        ("[[item]]\nid = 5\nnonsense = 1\n", "nonsense: items has no such key"),
        ("[[item]]\nid = 5\ntier = 4000\n", "tier: 4000 is no usable value"),
        ("[[item]]\nid = 5\nbags = {places = 3}\n", "places: item_bags has no such key"),
        ("item = 5\n", r"item: must be written as \[\[item\]\]"),
        ("starting_item = 5\n", r"starting_item: must be written as \[\[starting_item\]\]"),
    ],
)
def test_a_fault_names_file_item_and_key(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(FileFormatError, match=fault):
        written(tmp_path, text)


def test_the_shipped_items_are_our_own() -> None:
    layer = TomlItems([shipped_items()])
    assert layer.numbers
    assert min(layer.numbers) >= OWN_NUMBERS
    found = ItemKinds(None, layer).load(layer.numbers)
    assert found.keys() == layer.numbers
