"""Spells, quests and recipes of a content file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.knowledge import (
    Component,
    NpcSpell,
    Product,
    npc_spells,
    quests,
    recipes,
    recipes_of_book,
    spells,
)
from emu.content.sources import dump_parts
from tests.support.content.dumps import write_dumps
from tests.support.content.subjects import knowledge


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContentFile]:
    folder: Path = tmp_path_factory.mktemp("knowledge")
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", knowledge())]), target)
    with ContentFile(target) as content:
        yield content


def test_an_npc_knows_when_it_casts(file: ContentFile) -> None:
    assert npc_spells(file, [4, 5]) == {
        4: (NpcSpell(11, 2, False, True, 0), NpcSpell(99, 1, True, False, 0))
    }


def test_a_spell_has_its_tiers_with_the_arguments_of_its_script(file: ContentFile) -> None:
    (spell,) = spells(file, [11, 12]).values()
    assert (spell.row["name"], spell.row["script"]) == ("Smite", "Spells/smite.lua")
    assert {tier: one.row["cast_time"] for tier, one in spell.tiers.items()} == {1: 200, 2: 150}
    data = spell.tiers[1].data
    assert data == (12, 2.5, "Stunned", 1, 0)
    assert [type(value) for value in data] == [int, float, str, int, int]
    assert [row["text"] for row in spell.tiers[1].effects] == ["first", "second"]
    assert spell.tiers[2].data == ()
    assert [(row["class"], row["level"]) for row in spell.classes] == [(13, 5)]


def test_a_quest_asks_and_gives_only_what_means_something(file: ContentFile) -> None:
    (quest,) = quests(file, [8, 9]).values()
    assert quest.row["name"] == "The Well"
    assert [(row["subject"], row["value"]) for row in quest.prerequisites] == [("advlevel", 5)]
    assert [(row["subject"], row["value"]) for row in quest.rewards] == [
        ("coin", 70), ("faction", 50),
    ]  # fmt: skip


def test_a_recipe_has_components_of_which_any_item_fits(file: ContentFile) -> None:
    bread = recipes(file, [21])[21]
    assert bread.primary == Component((801, 802), 2, "flour")
    assert bread.fuel == Component((803,), 1, "coal")
    # The other one has a quantity that means none.
    assert bread.secondary == (Component((803,), 4, "coal"),)
    assert bread.phases[0] == Product(0, 0, 0, 0)
    assert bread.phases[4] == Product(701, 3, 702, 1)


def test_a_recipe_with_an_empty_list_or_unknown_products_cannot_be_made(file: ContentFile) -> None:
    found = recipes(file, [21, 22, 23, 24])
    assert {number: one.can_be_made for number, one in found.items()} == {
        21: True, 22: False, 23: False,
    }  # fmt: skip
    assert found[22].primary == Component((), 1, "sugar")
    assert found[22].fuel is None


def test_a_book_names_its_recipes_by_their_codes(file: ContentFile) -> None:
    assert recipes_of_book(file, 900) == [21, 23]
    assert recipes_of_book(file, 901) == []
