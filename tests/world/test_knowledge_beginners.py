"""What beginners have, by class, race and gender."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.content.importing import import_content
from emu.content.sources import dump_parts
from emu.model import Hotkey, KnownSkill, SavedKind, Title
from emu.world.actors.past import Past
from emu.world.knowledge import Beginners, For, class_line, read_knowledge
from tests.support.world.world_fakes import world_character
from tests.support.world.worlds import WorldHarness


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (0, {0}), (1, {1}), (2, {1, 2}), (3, {1, 2, 3}), (7, {1, 5, 7}), (10, {1, 8, 10}),
        (20, {11, 18, 20}), (21, {21}), (29, {21, 28, 29}), (31, {31}), (40, {31, 38, 40}),
        (42, {42}),
    ],
)  # fmt: skip
def test_a_class_has_what_it_grew_out_of(number: int, line: set[int]) -> None:
    assert class_line(number) == line


def test_rows_fit_by_class_race_and_gender() -> None:
    beginners = Beginners(
        skills=[
            For(KnownSkill(5, 1, 5)),
            For(KnownSkill(5, 3, 3), classes=frozenset((1,))),
            For(KnownSkill(4, 1, 1), classes=frozenset((2,))),
        ],
        languages=[For(13, races=frozenset((11,))), For(9), For(9)],
        titles=[For(Title("Sir", is_prefix=True), genders=frozenset((1,)))],
        hotkeys=[For(Hotkey(0, 1, 4, text="hail")), For(Hotkey(0, 1, 4, text="wave")),
                 For(Hotkey(0, 0, 4, text="sit"))],
    )  # fmt: skip
    guardian = world_character(class_=3, race=11, gender=1)
    mage = world_character(class_=21, race=9, gender=2)
    assert beginners.skills(guardian) == [KnownSkill(4, 1, 1), KnownSkill(5, 3, 5)]
    assert beginners.skills(mage) == [KnownSkill(5, 1, 5)]
    assert (beginners.languages(guardian), beginners.languages(mage)) == ([9, 13], [9])
    assert beginners.titles(guardian) == [Title("Sir", is_prefix=True)]
    assert beginners.titles(mage) == []
    assert [key.text for key in beginners.hotkeys(mage)] == ["sit", "wave"]


# Recorded (real-entry-1208-start-fighter-priest): of rows 4 and 64 a guardian has the spell of row
# 4, and the notes of the database's authors beside spells are not sent.
def test_hotkeys_of_a_content_file_lie_between_the_shipped_and_the_operator_s(
    tmp_path: Path,
) -> None:
    dump, content = tmp_path / "dump.sql", tmp_path / "content.sqlite"
    dump.write_text(
        "INSERT INTO `starting_skillbar` (`id`,`race_id`,`class_id`,`type`,`hotbar`,`spell_id`,"
        "`slot`,`text_val`) VALUES (4,255,3,1,0,30118,2,'overpower'), (64,255,1,1,0,10019,2,''),"
        " (65,9,255,4,0,0,3,'hail');",
        encoding="utf-8",
    )
    import_content(dump_parts([dump]), content)
    guardian, fighter = world_character(class_=3, race=9), world_character(class_=1, race=1)
    begins = read_knowledge(None, content).beginners
    assert begins.hotkeys(guardian) == [
        Hotkey(0, 2, 1, ability=30118), Hotkey(0, 3, 4, text="hail"),
    ]  # fmt: skip
    assert begins.hotkeys(fighter) == [Hotkey(0, 2, 1, ability=10019)]
    own = tmp_path / "knowledge"
    own.mkdir()
    file = own / "mine.toml"
    file.write_text("title = []\n", encoding="utf-8")
    assert read_knowledge(own, content).beginners.hotkeys(fighter) == begins.hotkeys(fighter)
    file.write_text(
        '[beginner]\nhotkey = [{ bar = 1, slot = 0, type = 4, text = "wave" }]\n', encoding="utf-8"
    )
    assert read_knowledge(own, content).beginners.hotkeys(fighter) == [Hotkey(1, 0, 4, text="wave")]


def test_a_content_file_says_what_factions_think_of_new_characters(tmp_path: Path) -> None:
    """By the city that a player chooses; recorded of city 1 (real-entry-*)."""
    dump, content = tmp_path / "dump.sql", tmp_path / "content.sqlite"
    dump.write_text(
        "INSERT INTO `factions` (`id`,`name`,`type`,`description`,`default_level`) VALUES"
        " (11,'The City of Qeynos','City Factions','The City.',0),(12,'Freeport','','',0);"
        "INSERT INTO `starting_factions` (`id`,`starting_city`,`faction_id`,`value`) VALUES"
        " (1,1,11,20000),(2,1,12,-50000),(3,2,12,20000);"
        "INSERT INTO `starting_details` (`id`,`class_id`,`race_id`,`heat`,`cold`,`poison`) VALUES"
        " (1,255,0,4,5,6),(2,3,0,9,9,9);",
        encoding="utf-8",
    )
    import_content(dump_parts([dump]), content)
    knowledge = read_knowledge(None, content)
    assert knowledge.factions[11] == {
        "name": "The City of Qeynos", "kind": "City Factions", "description": "The City.",
    }  # fmt: skip
    begins = knowledge.beginners
    assert begins.standings(world_character(starting_zone=1)) == {11: 20_000, 12: -50_000}
    assert begins.standings(world_character(starting_zone=4)) == {}
    assert read_knowledge().beginners.standings(world_character(starting_zone=1)) == {}
    found = begins.resistances(world_character(race=0))
    assert [found[name] for name in ("heat", "cold", "magic", "poison")] == [4, 5, 0, 6]
    assert set(begins.resistances(world_character(race=9)).values()) == {3}


def test_a_new_character_keeps_what_it_begins_with() -> None:
    harness = WorldHarness()
    begins = harness.world.knowledge.beginners
    begins._standings = {4: {11: 20_000}}
    try:
        client = harness.stand(5, class_=3)
    finally:
        begins._standings = {}
    assert client.player is not None
    assert dict(client.player.past.standings) == {11: 20_000}
    assert client.player.character.skills == tuple(begins.skills(client.player.character))
    client.player.past.change_standing(11, -20_000)
    harness.world.saves.changed(client.player, SavedKind.PAST, harness.now)
    harness.run(5.0)
    harness.departures.leave(client.player, "quit", harness.now)
    begins._standings = {4: {11: 20_000}}
    try:
        back = harness.stand(5)
    finally:
        begins._standings = {}
    assert back.player is not None
    assert back.player.past.standing(11) == 0, "only once"
    assert Past(harness.store.rows[5].past).standing(11) == 0
    assert harness.store.rows[5].skills == client.player.character.skills
