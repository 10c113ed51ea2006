"""Loot and merchants of a content file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.content.trade import Ware, global_loot, loot_of, loot_tables, wares_of
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


def test_a_merchant_without_things_has_an_empty_window(file: ContentFile) -> None:
    assert wares_of(file, [8, 9]) == {8: ()}
