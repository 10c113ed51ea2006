"""Searching and describing the subjects of a content file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.content.subjects import MOST_ROWS, SUBJECTS, Found, describe, find, named
from emu.content.tables import content_tables
from tests.support.content.dumps import meadow, write_dumps
from tests.support.content.subjects import knowledge, others, trade


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContentFile]:
    folder: Path = tmp_path_factory.mktemp("subjects")
    tables = meadow() | knowledge() | others()
    tables |= {name: rows for name, rows in trade().items() if name not in tables}
    tables["loottable"].append({"id": 4, "name": "many", "mincoin": 0, "maxcoin": 0})
    tables["lootdrop"] += [{"id": 10 + n, "loot_table_id": 4, "item_id": 504} for n in range(30)]
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", tables)]), target)
    with ContentFile(target) as content:
        yield content


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("GUARD", [("spawn", 90001, "a guard"), ("faction", 11, "Guards")]),
        ("exp01", [("zone", 9, "meadow")]),
        ("well", [("quest", 8, "The Well")]),
        ("smi", [("spell", 11, "Smite"), ("merchant", 7, "A Smith")]),
        ("pond", [("area", 1, "The Pond")]),
        ("%", []),
    ],
)
def test_names_of_all_subjects_are_searched(
    file: ContentFile, word: str, found: list[tuple[str, int, str]]
) -> None:
    assert list(find(file, word, 20)) == [Found(*one) for one in found]


def test_a_search_can_be_of_one_subject_and_has_a_limit(file: ContentFile) -> None:
    assert list(find(file, "a", 2, "item")) == [
        Found("item", 501, "a rusty sword"), Found("item", 502, "a ring"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("subject", "number", "tables"),
    [
        ("zone", 9, ["zones", "revive_points", "areas", "flight_paths", "placements"]),
        ("quest", 8, ["quests", "quest_details"]),
        ("spell", 11, ["spells", "spell_tiers", "spell_data", "spell_effects", "spell_classes"]),
        ("recipe", 21, ["recipes", "recipe_components"]),
        ("collection", 1, ["collections", "collection_items", "collection_rewards"]),
        ("achievement", 60, ["achievements", "achievement_requirements", "achievement_rewards"]),
        ("home", 2, ["homes"]),
        ("harvest", 6, ["harvests", "harvest_items"]),
        ("merchant", 7, ["merchants"]),
        ("loot", 2, ["loot_tables", "loot_drops"]),
        ("flight", 5, ["flight_paths", "flight_points"]),
        ("opportunity", 3, ["heroic_opportunities"]),
        ("loot", 99, []),
    ],
)
def test_a_subject_has_the_rows_that_belong_to_it(
    file: ContentFile, subject: str, number: int, tables: list[str]
) -> None:
    assert {one.table for one in describe(file, subject, number)} == set(tables)


def test_an_item_has_its_parts_and_all_that_names_it(file: ContentFile) -> None:
    tables = {one.table for one in describe(file, "item", 501)}
    assert {"items", "item_weapons", "loot_drops", "merchant_items", "starting_items"} <= tables


def test_long_lists_are_cut(file: ContentFile) -> None:
    (drops,) = (one for one in describe(file, "loot", 4) if one.table == "loot_drops")
    assert (len(drops.rows), drops.has_more) == (MOST_ROWS, True)
    (drops,) = (one for one in describe(file, "loot", 2) if one.table == "loot_drops")
    assert (len(drops.rows), drops.has_more) == (2, False)


def test_numbers_are_shown_with_the_names_of_what_they_mean(file: ContentFile) -> None:
    (row,) = file.rows("starting_spells", "id", [1])
    assert dict(named(file, "starting_spells", row))["spell_id"] == "11 (Smite)"


def test_every_subject_has_its_columns() -> None:
    for subject in SUBJECTS.values():
        columns = {column.name for column in content_tables()[subject.table].columns}
        assert {*subject.columns, subject.key} <= columns
