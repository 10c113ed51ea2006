"""Skills and languages as clients are sent them."""

from __future__ import annotations

import pytest

from emu.model import KnownSkill
from emu.world.entry.initial_messages import skill_book
from emu.world_stream.deltas import BookReader
from tests.support.files.recordings import recording
from tests.support.world.ghost_views import dialect
from tests.support.world.world_fakes import world_character
from tests.support.world.worlds import KNOWLEDGE, Client, WorldHarness

FIRST = "009916302003000000050005000500"
"""The beginning of the recorded book: a byte, and parry (docs/protocol/world/recorded.md)."""


CRUSHING = 3421494576
"""Fighters and everybody have a row for it; EQ2Emulator took the lower."""


def book(client: Client) -> bytes:
    (payload,) = [data for name, data in client.log if name == "OP_UpdateSkillBookMsg"]
    return payload


def test_names_come_once_and_not_with_a_change_of_the_zone() -> None:
    client = WorldHarness().stand(5)
    (reported,) = client.decoded("WS_SkillMap")
    assert reported["skill_count"] == len(KNOWLEDGE.skills) + len(KNOWLEDGE.languages)
    names = {row["skill_id"]: (row["name"], row["description"]) for row in reported["skill_array"]}
    assert names[1] == ("Halasian", "language")
    assert names[540022425] == ("Parry", "avoidance")


@pytest.mark.parametrize("version", [546, 561])
def test_a_fighter_has_the_recorded_skills(version: int) -> None:
    client = WorldHarness().stand(5, version, class_=1)
    reader = BookReader(dialect(version).layout("WS_UpdateSkillBook"), version)
    fields = reader.read(book(client))
    assert fields["skill_count"] == 27
    first = fields["skill_array"][0]
    assert (first["skill_id"], first["current_val"], first["display_minval"]) == (540022425, 5, 1)


def test_the_recorded_book_byte_for_byte() -> None:
    _, rows = recording("546-zonein-alone")
    reported = {row["hex"] for row in rows if row.get("name") == "OP_UpdateSkillBookMsg"}
    skills = KNOWLEDGE.beginners.skills(world_character(class_=1))
    as_there = [KnownSkill(one.id, 1, 5) if one.id == CRUSHING else one for one in skills]
    assert {skill_book(dialect(546), KNOWLEDGE, as_there).hex()} == reported


def test_races_have_their_languages() -> None:
    client = WorldHarness().stand(5, race=11)
    (reported,) = client.decoded("WS_Languages")
    assert [row["language_id"] for row in reported["language_array"]] == [13]


def test_a_character_s_own_skills_and_languages_replace_those_of_beginners() -> None:
    client = WorldHarness().stand(
        5, class_=1, race=11, skills=(KnownSkill(CRUSHING, 90, 100),), languages=(2, 5)
    )
    reader = BookReader(dialect(546).layout("WS_UpdateSkillBook"), 546)
    (skill,) = reader.read(book(client))["skill_array"]
    assert (skill["skill_id"], skill["current_val"], skill["max_val"]) == (CRUSHING, 90, 100)
    (reported,) = client.decoded("WS_Languages")
    assert [row["language_id"] for row in reported["language_array"]] == [2, 5]
