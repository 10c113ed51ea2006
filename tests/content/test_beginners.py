"""The things of new characters: those of a content file, and of TOML files."""

from pathlib import Path

import pytest

from emu.content.beginners import (
    ANY,
    StartingHotkey,
    StartingThing,
    starting_hotkeys,
    starting_things,
)
from emu.content.importing import import_content
from emu.content.items import ItemKinds, TomlItems, shipped_items
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from emu.world.knowledge import class_line


def test_hotkeys_of_a_dump_are_read(tmp_path: Path) -> None:
    dump, content = tmp_path / "dump.sql", tmp_path / "content.sqlite"
    dump.write_text(
        "INSERT INTO `starting_skillbar` (`id`,`race_id`,`class_id`,`type`,`hotbar`,`spell_id`,"
        "`slot`,`text_val`) VALUES (7,255,31,1,0,8441,10,'tracking'), (3,9,255,4,1,0,0,'attack'),"
        " (8,255,255,1,100,5,0,''), (9,255,255,1,0,5,-1,''), (10,255,255,5,0,5,1,'');",
        encoding="utf-8",
    )
    import_content(dump_parts([dump]), content)
    assert starting_hotkeys(content) == (
        StartingHotkey(ANY, 9, 4, 1, 0, 0, "attack"),
        StartingHotkey(31, ANY, 1, 0, 10, 8441, "tracking"),
    )
    assert starting_hotkeys(None) == ()


def test_rows_of_a_dump_are_read(tmp_path: Path) -> None:
    dump, content = tmp_path / "dump.sql", tmp_path / "content.sqlite"
    dump.write_text(
        "INSERT INTO `starting_items` (`id`,`class_id`,`race_id`,`type`,`item_id`,`creator`,"
        "`condition_`,`attuned`,`count`) VALUES (1,3,255,'EQUIPPED',77,'',100,0,1),"
        " (2,255,10,'NOT-EQUIPPED',78,'Meg',90,1,50);",
        encoding="utf-8",
    )
    import_content(dump_parts([dump]), content)
    found = starting_things(content, {})
    assert found == (
        StartingThing(3, ANY, 77, 1, is_worn=True),
        StartingThing(ANY, 10, 78, 50, is_attuned=True, condition=90, creator="Meg"),
    )
    guardian, warrior, priest = [class_line(number) for number in (3, 2, 11)]
    assert [one.fits(guardian, 10) for one in found] == [True, True]
    assert [one.fits(warrior, 10) for one in found] == [False, True]
    assert [one.fits(priest, 9) for one in found] == [False, False]


def test_every_class_begins_with_things_that_exist() -> None:
    items = TomlItems([shipped_items()])
    kinds, things = ItemKinds(None, items), starting_things(None, items.beginners)
    for class_ in range(41):
        own = [one for one in things if one.fits(class_line(class_), 0)]
        assert any(one.is_worn for one in own)
        assert all(kinds.get(one.item_id) is not None for one in own)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("item_id = 0", "needs item_id"), ("item_id = 5\nclasses = [9, 3]", "needs item_id"),
        ("item_id = 5\nsize = 3", "size: there is no such key"),
        ("item_id = 5\nclasses = 3", "cannot unpack"),
    ],
)  # fmt: skip
def test_a_fault_names_the_table(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "items.toml"
    path.write_text(f"[[starting_item]]\n{text}\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=f"starting_item 1: .*{fault}"):
        starting_things(None, TomlItems([path]).beginners)
