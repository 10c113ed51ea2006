"""Nodes, collections and recipes of a content file and of TOML files."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from emu.content.crafts import (
    CollectionReward,
    CraftTables,
    TomlCrafts,
    shipped_crafts,
)
from emu.content.importing import import_content
from emu.content.items import ItemKinds, TomlItems, shipped_items
from emu.content.sources import dump_parts
from emu.errors import FileFormatError
from emu.rules.crafting import CraftChange, CraftEvent
from emu.rules.harvest import COMMON, RARE, HarvestItem, HarvestTable, harvest
from emu.rules.transmuting import TransmuteTier
from tests.support.content.dumps import write_dumps
from tests.support.content.subjects import knowledge

Tables = dict[str, list[dict[str, Any]]]


def rows() -> Tables:
    """A node of two tables, one of them switched off; collections with odd rows; events."""
    table = {"groundspawn_id": 6, "harvest3": 20, "harvest5": 8, "harvest_imbue": 1,
             "harvest_rare": 0.7, "harvest10": 0.3}  # fmt: skip
    return {
        "groundspawns": [
            {**table, "id": 1, "harvest1": 70, "min_skill_level": 20, "enabled": 1},
            {**table, "id": 2, "harvest1": 100, "enabled": 0},
        ],
        "groundspawn_items": [
            {"id": 1, "groundspawn_id": 6, "item_id": 501, "is_rare": 0, "grid_id": 44},
            {"id": 2, "groundspawn_id": 6, "item_id": 502, "is_rare": 1},
            {"id": 3, "groundspawn_id": 6, "item_id": 0, "is_rare": 0},
        ],
        "collections": [
            {"id": 1, "collection_name": "Leaves", "collection_category": "Wood", "level": 5},
            {"id": 2, "collection_name": "Nothing", "level": 1},
        ],
        "collection_details": [
            {"id": 1, "collection_id": 1, "item_id": 502, "item_index": 1},
            {"id": 2, "collection_id": 1, "item_id": 501, "item_index": 0},
            {"id": 3, "collection_id": 1, "item_id": 0, "item_index": 2},
            {"id": 4, "collection_id": 1, "item_id": 502, "item_index": 3},
        ],
        "collection_rewards": [
            {"id": 1, "collection_id": 1, "reward_type": "Coin", "reward_value": 90},
            {"id": 2, "collection_id": 1, "reward_type": "Selectable", "reward_value": 503,
             "reward_quantity": 2},
            {"id": 3, "collection_id": 1, "reward_type": "None", "reward_value": 5},
        ],
        "transmuting": [
            {"tier_id": 2, "min_level": 10, "max_level": 19, "fragment": 5, "powder": 6,
             "infusion": 7, "mana": 8},
            {"tier_id": 1, "min_level": 1, "max_level": 9, "fragment": 1, "powder": 2,
             "infusion": 3, "mana": 4},
        ],
        "tradeskillevents": [
            {"id": 1, "name": "Soft Metal", "icon": 427, "technique": 77},
            {"id": 2, "name": "Hot Metal", "icon": 428, "technique": 77, "success_progress": 5,
             "fail_durability": -9},
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> CraftTables:
    folder: Path = tmp_path_factory.mktemp("crafts")
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", knowledge() | rows())]), target)
    return CraftTables(target, TomlCrafts([shipped_crafts()]))


def test_a_node_has_its_tables_and_things(tables: CraftTables) -> None:
    node = tables.node(6)
    assert node is not None
    assert node.tables == (HarvestTable(20, 0, False, 70.0, 20.0, 8.0, 1.0, 0.7, 0.3),)
    assert node.items == (HarvestItem(501, COMMON, 44), HarvestItem(502, RARE, 0))
    assert tables.node(7) is None


def test_a_collection_has_its_pieces_in_order_and_its_rewards(tables: CraftTables) -> None:
    (leaves,) = tables.collections([1, 2, 99]).values()
    assert (leaves.name, leaves.category, leaves.level) == ("Leaves", "Wood", 5)
    assert leaves.pieces == (501, 502)
    assert leaves.rewards == (
        CollectionReward("coin", 90, 1), CollectionReward("selectable", 503, 2),
    )  # fmt: skip
    assert (leaves.place_of(502), leaves.place_of(1)) == (1, None)
    assert [one.id for one in tables.collections_with(501)] == [1]
    assert tables.collections_with(777) == []


def test_recipes_of_a_book_with_their_titles(tables: CraftTables) -> None:
    numbers = tables.recipes_of_book(900)
    assert numbers == [21]  # the other one of the book has no known products
    (bread,) = tables.recipes(numbers).values()
    assert bread.primary is not None
    assert bread.primary.quantity == 2
    assert tables.recipes([999]) == {}


def test_events_by_technique(tables: CraftTables) -> None:
    assert tables.events(77) == (
        CraftEvent("Soft Metal", 427),
        CraftEvent("Hot Metal", 428, CraftChange(0, 5), CraftChange(-9, 0)),
    )  # fmt: skip
    assert tables.events(1) == ()


def test_the_materials_of_transmuting_by_level(tables: CraftTables) -> None:
    assert tables.transmuting() == (
        TransmuteTier(1, 9, 1, 2, 3, 4), TransmuteTier(10, 19, 5, 6, 7, 8),
    )  # fmt: skip
    assert CraftTables().transmuting() == ()


def test_a_reload_reads_anew(tables: CraftTables) -> None:
    path = tables._path
    tables.reload(None)
    assert (tables.node(6), tables.collections([1]), tables.recipes([21])) == (None, {}, {})
    assert tables.node(2_000_000_001) is not None  # the shipped ones stay
    tables.reload(path)
    assert tables.node(6) is not None


def test_the_shipped_nodes_give_shipped_things() -> None:
    layer = TomlCrafts([shipped_crafts()])
    kinds = ItemKinds(None, TomlItems([shipped_items()]))
    for node in layer.nodes.values():
        assert all(kinds.get(one.item_id) for one in node.items)
        assert harvest(node.tables[0], node.items, 0, Random(1))
    for collection in layer.collections.values():
        found = [kinds.get(one) for one in collection.pieces]
        assert all(one is not None and one.is_collectable for one in found)
    for recipe in layer.recipes.values():
        assert recipe.can_be_made
        assert all(kinds.get(one.item_id) for one in recipe.phases)


@pytest.mark.parametrize(
    "text",
    [
        "[[node]]\nid = 1\none = 101\nitems = []",
        "[[node]]\nid = -1\nitems = []",
        "[[node]]\nid = 1\nitems = [{ item = 1, rarity = 'odd' }]",
        "[[collection]]\nid = 1\nname = 'x'\nitems = [1]\nrewards = [{ kind = 'y', value = 1 }]",
        "[[recipe]]\nid = 1\nname = 'x'\nproducts = []",
        "[[recipe]]\nid = 1\nlevel = 'x'\nproducts = []",
        "node = 5",
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"own\.toml"):
        TomlCrafts([path])
