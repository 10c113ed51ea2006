"""Loot and merchants of a content file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.content.trade import (
    GlobalLoot,
    TomlTrade,
    TradeTables,
    Ware,
    global_loot,
    loot_of,
    loot_tables,
    wares_of,
    wearers,
)
from emu.errors import FileFormatError
from emu.rules.loot import LootDrop
from tests.support.content.dumps import write_dumps
from tests.support.content.subjects import trade


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContentFile]:
    folder: Path = tmp_path_factory.mktemp("trade")
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", trade())]), target)
    with ContentFile(target) as content:
        yield content


def test_a_spawn_has_several_loot_tables(file: ContentFile) -> None:
    assert loot_of(file, [90001, 90002]) == {90001: (3, 2)}


def test_a_loot_table_has_its_coins_in_order_and_its_drops(file: ContentFile) -> None:
    tables = loot_tables(file, [2, 3, 2, 999])
    assert sorted(tables) == [2, 3]
    assert tables[2].coins == (5, 50)
    assert (tables[2].most_items, tables[2].drop_probability) == (1, 6.0)
    assert tables[2].drops == (
        LootDrop(501, 1, True, 30.0, 0), LootDrop(502, 5, False, 120.0, 8),
    )  # fmt: skip
    assert tables[3].drops == ()


def test_loot_of_levels_zones_and_races(file: ContentFile) -> None:
    level, zone, race = global_loot(file)
    assert (level.kind, level.subject, level.levels) == ("level", 0, (5, 9))
    assert (zone.kind, zone.subject, zone.levels) == ("zone", 12, (0, 0))
    # The highest level is below the lowest: it is that one.
    assert (race.kind, race.subject, race.levels, race.least_tier) == ("racial", 300, (8, 8), 3)


@pytest.mark.parametrize(
    ("npc", "fitting"),
    [
        ({"zone_id": 1, "race": 1, "level": 5, "tier": 0}, [True, False, False]),
        ({"zone_id": 1, "race": 1, "level": 10, "tier": 0}, [False, False, False]),
        ({"zone_id": 12, "race": 1, "level": 90, "tier": 0}, [False, True, False]),
        ({"zone_id": 1, "race": 300, "level": 8, "tier": 3}, [True, False, True]),
        ({"zone_id": 1, "race": 300, "level": 8, "tier": 2}, [True, False, False]),
    ],
)
def test_an_npc_has_the_tables_that_fit(
    file: ContentFile, npc: dict[str, int], fitting: list[bool]
) -> None:
    assert [loot.fits(**npc) for loot in global_loot(file)] == fitting


def test_a_merchant_sells_its_last_list_first_and_each_thing_once(file: ContentFile) -> None:
    assert wares_of(file, [7]) == {
        7: (
            Ware(504, None, 0, 40, ()),
            Ware(501, None, 100, 0, ()),
            Ware(502, 2, 0, 0, ((601, 3),)),
        )
    }
    assert [ware.has_price for ware in wares_of(file, [7])[7]] == [True, True, True]


def test_a_thing_in_two_lists_of_a_merchant_is_shown_once(file: ContentFile) -> None:
    """30 merchants of the community's content have 697 such things."""
    found = wares_of(file, [6])[6]
    assert [(one.item_id, one.coins) for one in found] == [(501, 70), (502, 0)]


def test_a_merchant_without_things_has_an_empty_window(file: ContentFile) -> None:
    assert wares_of(file, [8, 9]) == {8: ()}


def test_the_tables_of_a_world_are_its_own_and_those_that_fit(file: ContentFile) -> None:
    tables = TradeTables(file.path)

    def numbers(zone_id: int, level: int) -> list[int]:
        found = tables.loot(90001, zone_id=zone_id, model=5, level=level, tier=3)
        return [table.id for table in found]

    assert numbers(1, 30) == [3, 2]
    assert numbers(1, 5) == [3, 2, 2]
    assert numbers(12, 5) == [3, 2, 2, 3]
    assert numbers(12, 5) == [3, 2, 2, 3]
    assert tables.wares(7) == wares_of(file, [7])[7]
    assert tables.wares(99) == ()
    assert [table.id for table in tables.tables([2, 77])] == [2]


def test_somebody_decides_about_the_tables_of_many_creatures(file: ContentFile) -> None:
    tables, asked = TradeTables(file.path), list[tuple[str, int]]()

    def allows(one: GlobalLoot) -> bool:
        asked.append((one.kind, one.table_id))
        return one.kind != "zone"

    found = tables.loot(90001, zone_id=12, model=5, level=5, tier=3, allows=allows)
    assert [table.id for table in found] == [3, 2, 2]
    assert sorted(asked) == [("level", 2), ("zone", 3)]


def test_few_spawns_wear_their_loot(file: ContentFile) -> None:
    worn = [drop for table in loot_tables(file, [1, 2, 3]).values() for drop in table.drops
            if drop.is_worn]  # fmt: skip
    assert bool(worn) is bool(wearers(file))
    tables = TradeTables(file.path)
    assert [number for number in (90001, 90002, 1) if tables.wears_loot(number)] == sorted(
        wearers(file)
    )
    assert not TradeTables().wears_loot(90001)


def test_a_world_without_a_content_file_has_the_tables_of_toml_files(tmp_path: Path) -> None:
    path = tmp_path / "trade.toml"
    path.write_text(
        """
        [[merchant]]
        id = 5
        items = [{ item = 8 }, { item = 9, quantity = 2, coins = 75, status = 3 }]
        [[loot]]
        id = 6
        min_coins = 3
        max_coins = 9
        most_items = 2
        drops = [{ item = 8, charges = 4, weight = 40 }]
        """
    )
    tables = TradeTables(None, TomlTrade([path]))
    assert tables.wares(5) == (Ware(8, None, 0, 0, ()), Ware(9, 2, 75, 3, ()))
    (table,) = tables.tables([6, 7])
    assert (table.coins, table.most_items, table.drop_probability) == ((3, 9), 2, 100.0)
    assert table.drops == (LootDrop(8, 4, is_worn=False, weight=40.0, unless_quest=0),)
    assert tables.loot(90001, zone_id=1, model=1, level=1, tier=0) == ()
    tables.reload(None)
    assert len(tables.wares(5)) == 2


@pytest.mark.parametrize(
    "text", ["[[merchant]]\nid = 5", "[[merchant]]\nid = 5\nitems = [{ item = -1 }]", "[[loot]]"]
)
def test_a_faulty_file_names_itself(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trade.toml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"trade\.toml: merchant or loot"):
        TomlTrade([path])
