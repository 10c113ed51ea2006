"""Files of knowledge: the shipped ones, and an operator's that add to them or stand in for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import FileFormatError
from emu.model import KnownSkill, Title
from emu.world.knowledge import read_knowledge
from tests.support.world.world_fakes import world_character

FIGHTER_SKILLS = 27
"""As many as EQ2Emulator was recorded to give a fighter (docs/protocol/world/entering.md#order)."""


def test_the_shipped_files_hold_together() -> None:
    knowledge = read_knowledge()
    for number in range(45):
        beginner = world_character(class_=number, race=number % 21)
        known = knowledge.beginners.skills(beginner)
        assert {one.id for one in known} <= set(knowledge.skills)
        assert set(knowledge.beginners.languages(beginner)) <= set(knowledge.languages)
    assert len(knowledge.beginners.skills(world_character(class_=1))) == FIGHTER_SKILLS
    assert knowledge.beginners.languages(world_character(race=11)) == [13]


def test_an_operator_adds_rows_and_replaces_lists_of_beginners(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        """
        skill = [{ id = 4037812502, name = "Small Shields" }, { id = 99, name = "Whistling" }]
        title = [{ id = 900, text = "Duke", prefix = true }]
        [beginner]
        skill = [{ id = 99, value = 2, most = 7, classes = [1] }]
        title = [{ id = 900, genders = [2] }]
        """
    )
    knowledge = read_knowledge(tmp_path)
    assert knowledge.skills[4037812502].name == "Small Shields"
    assert len(knowledge.skills) == len(read_knowledge().skills) + 1
    assert knowledge.beginners.skills(world_character(class_=3)) == [KnownSkill(99, 2, 7)]
    assert knowledge.beginners.skills(world_character(class_=21)) == []
    assert knowledge.beginners.titles(world_character(gender=2)) == [Title("Duke", is_prefix=True)]
    assert knowledge.beginners.languages(world_character(race=11)) == [13], "as shipped"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("skill = [", "own.toml"),
        ('skill = [{ name = "x" }]', r"own.toml, line 1: skill\[0\]\.id: is missing"),
        ("skill = [{ id = 5, name = 3 }]", "name: must be a text"),
        ('skill = [{ id = -5, name = "x" }]', "id: must be a whole number from 0 to 4294967295"),
        ('skill = [{ id = 5, name = "x", colour = 3 }]', "colour"),
        ("spell = []", "spell: unknown key"),
        ("beginner.spell = []", "spell: unknown key"),
        ("skill = 5", "skill: must be a list"),
        ("title = [1, 2]", r"title\[0\]: must be a table; line 1: title\[1\]: must be a table"),
        ("beginner = 5", "beginner: must be a table"),
        ("beginner.hotkey = [1]", r"beginner\.hotkey\[0\]: must be a table"),
        (
            "beginner.language = [{ id = inf }]",
            r"language\[0\]\.id: must be a whole",
        ),
        ("beginner.language = [{ id = 256 }]", "id: must be a whole number from 0 to 255"),
        ("language = [{ id = 256, name = 'x' }]", "id: must be a whole number from 0 to 255"),
        (
            "beginner.hotkey = [{ bar = 100, slot = 0, type = 1 }]",
            "bar: .* from 0 to 99",
        ),
        (
            "beginner.hotkey = [{ bar = 0, slot = 0, type = 1, icon = 65536 }]",
            "icon: .* 0 to 65535",
        ),
        (f"title = [{{ id = 1, text = '{'x' * 256}' }}]", "text: must be a text of up to 255"),
        (
            "older = { last_version = inf, types = [] }",
            "older.last_version: must be a whole",
        ),
        ("beginner.title = [{ id = 12345 }]", "there is no title 12345"),
        (
            "beginner.skill = [{ id = 1, value = 1, most = 1, classes = 3 }]",
            r"\.classes: must be a list",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_file(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(FileFormatError, match=complaint):
        read_knowledge(tmp_path)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"cannot be listed .*see world\.knowledge"):
        read_knowledge(tmp_path / "none")


def test_a_skill_that_never_rises_has_no_greatest_value(tmp_path: Path) -> None:
    row = "{ id = 613995491, value = 0, most = 0 }"
    (tmp_path / "own.toml").write_text(f"beginner.skill = [{row}]")
    skills = read_knowledge(tmp_path).beginners.skills(world_character())
    assert skills == [KnownSkill(613995491, 0, 0)]
