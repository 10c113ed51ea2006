"""What there is to know, and how it is looked up."""

from __future__ import annotations

import pytest

from emu.model import Title
from emu.world.knowledge import (
    Knowledge,
    Language,
    NewerTypes,
    OlderTypes,
    Skill,
    read_knowledge,
)

KNOWLEDGE = Knowledge(
    skills=[Skill(540022425, "Parry", type=3), Skill(2, "Odd")],
    languages=[Language(1, "Halasian"), Language(22, "Words of Shade"), Language(2, "Thexian")],
    titles={7: Title("Sir", is_prefix=True), 9: Title("of the Isle")},
)


def test_languages_are_named_as_skills_of_their_number() -> None:
    assert [(one.id, one.name, one.type) for one in KNOWLEDGE.named] == [
        (1, "Halasian", 13), (2, "Odd", 0), (22, "Words of Shade", 13), (540022425, "Parry", 3),
    ]  # fmt: skip
    assert KNOWLEDGE.named[2].short_name == "wordsofshade"


def test_older_clients_call_some_types_otherwise() -> None:
    knowledge = Knowledge(older=OlderTypes(561, {12: 11}))
    swimming = Skill(5, "Swimming", type=12)
    assert [knowledge.skill_type(swimming, version) for version in (546, 561, 562)] == [11, 11, 12]
    assert knowledge.skill_type(Skill(6, "Parry", type=3), 546) == 3


def test_ranges_of_later_clients_call_some_types_otherwise() -> None:
    knowledge = Knowledge(newer=[NewerTypes(562, 600, {12: 13})])
    swimming = Skill(5, "Swimming", type=12)
    assert [knowledge.skill_type(swimming, version) for version in (561, 562, 601)] == [12, 13, 12]


@pytest.mark.parametrize(
    ("version", "recorded"),
    [
        (546, (11, 13, 15)), (561, (11, 13, 15)), (1096, (13, 15, 17)), (1208, (13, 15, 17)),
        (57080, (13, 15, 17)), (60114, (12, 14, 16)), (64659, (12, 14, 16)), (64753, (12, 14, 16)),
    ],
)  # fmt: skip
def test_shipped_types_are_those_of_the_recorded_skill_books(
    version: int, recorded: tuple[int, ...]
) -> None:
    knowledge = read_knowledge()
    skills = [Skill(5, "One", type=number) for number in (12, 15, 17)]
    assert tuple(knowledge.skill_type(skill, version) for skill in skills) == recorded


def test_titles_are_found_by_number_and_text() -> None:
    assert KNOWLEDGE.title("9") == KNOWLEDGE.title("OF THE ISLE") == Title("of the Isle")
    assert KNOWLEDGE.title("8") is None
