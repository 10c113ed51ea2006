"""Stand-ins for things that a file names and nothing describes."""

from pathlib import Path

import pytest

from emu.content.importing import import_content
from emu.content.items import ItemKinds
from emu.content.sources import dump_parts
from emu.content.stand_ins import NamedThing
from emu.errors import FileFormatError
from emu.items.kinds import Slot, Sort

DUMP = """
INSERT INTO `lootdrop` (`id`,`loot_table_id`,`item_id`,`probability`) VALUES (1,5,700,10);
INSERT INTO `loottable` (`id`,`name`) VALUES (5,'chest');
INSERT INTO `merchant_inventory` (`id`,`inventory_id`,`item_id`,`quantity`,`price_coins`)
 VALUES (1,9,701,255,120), (2,9,702,255,0), (3,9,703,255,30);
INSERT INTO `item_details_bag` (`id`,`item_id`,`num_slots`) VALUES (1,701,8);
INSERT INTO `item_details_skill` (`id`,`item_id`,`spell_id`,`spell_tier`) VALUES (1,702,33,5);
INSERT INTO `item_details_weapon` (`id`,`item_id`,`wield_style`,`dmg_base_low3`) VALUES (1,703,1,2);
INSERT INTO `spells` (`id`,`name`) VALUES (33,'Smite');
"""
OTHERS = {
    0: NamedThing("Nothing"), 700: NamedThing("Ring"), 702: NamedThing("Another"),
    710: NamedThing("Hat", "ItemScripts/hat.lua"), 711: NamedThing(),
}  # fmt: skip
"""Things that scripts name."""
REAL = "INSERT INTO `items` (`id`,`name`) VALUES (700,'Real Ring');"


def made(folder: Path, text: str) -> Path:
    dump, content = folder / "dump.sql", folder / "content.sqlite"
    dump.write_text(text, encoding="utf-8")
    report = import_content(dump_parts([dump]), content, stand_ins=OTHERS)
    assert report.stand_ins == 6
    return content


def test_named_things_get_a_row_and_others_none(tmp_path: Path) -> None:
    kinds = ItemKinds(made(tmp_path, DUMP))
    found = kinds.load(range(690, 720))
    assert {number: (one.name, one.sort) for number, one in found.items()} == {
        700: ("Ring", Sort.NORMAL), 701: ("Bag 701", Sort.BAG),
        702: ("Smite (5)", Sort.SCROLL), 703: ("Weapon 703", Sort.WEAPON),
        710: ("Hat", Sort.NORMAL), 711: ("Thing 711", Sort.NORMAL),
    }  # fmt: skip
    assert {number: one.script for number, one in found.items() if one.script} == {
        710: "ItemScripts/hat.lua"
    }
    assert all(one.is_stand_in for one in found.values())
    assert found[703].slots == (Slot.PRIMARY, Slot.SECONDARY)


def test_a_thing_without_a_price_is_worth_what_the_first_quest_needs(tmp_path: Path) -> None:
    # The shard of the Far Journey costs 36 copper in the public copy's merchant_inventory; the
    # player has the charm alone to sell for it, and no row names that.
    prices = {number: one.price for number, one in ItemKinds(made(tmp_path, DUMP)).load(
        range(690, 720)
    ).items()}  # fmt: skip
    assert prices == {700: 40, 701: 60, 702: 40, 703: 15, 710: 40, 711: 40}


def test_real_rows_are_never_mixed_with_them(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="import them without --stand-ins"):
        made(tmp_path, DUMP + REAL)
