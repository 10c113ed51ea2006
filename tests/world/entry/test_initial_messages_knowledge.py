"""Skills and languages as clients are sent them."""

from __future__ import annotations

import pytest

from emu.model import KnownSkill
from emu.world.skills import skill_book
from emu.world_stream.deltas import BookReader
from tests.support.files.recordings import recorded_rows, recording
from tests.support.world.ghost_views import dialect
from tests.support.world.world_fakes import world_character
from tests.support.world.worlds import KNOWLEDGE, Client, WorldHarness

FIRST = "009916302003000000050005000500"
"""The beginning of the recorded book: a byte, and parry (docs/protocol/world/recorded.md)."""


CRUSHING = 3421494576
"""Fighters and everybody have a row for it; EQ2Emulator took the lower."""

HOTKEYS = {
    3: [(0, 4, 0), (1, 4, 0), (2, 1, 30118), (3, 1, 10019), (4, 1, 10000), (11, 1, 8308),
        (12, 1, 8057), (13, 1, 8278)],
    13: [(0, 4, 0), (1, 1, 130106), (2, 1, 130027), (3, 1, 180013), (4, 1, 110002), (11, 1, 8308),
         (12, 1, 8057), (13, 1, 8278)],
}  # fmt: skip
"""Slot, type and spell of the recorded hotkeys of new characters, by class."""


def book(client: Client) -> bytes:
    (payload,) = [data for name, data in client.log if name == "OP_UpdateSkillBookMsg"]
    return payload


def test_names_come_once_and_not_with_a_change_of_the_zone() -> None:
    client = WorldHarness().stand(5)
    (reported,) = client.decoded("WS_SkillMap")
    # Recorded of every version: 135 skills and 41 languages.
    assert reported["skill_count"] == 176
    names = {row["skill_id"]: (row["name"], row["description"]) for row in reported["skill_array"]}
    assert names[1] == ("Halasian", "language")
    assert names[540022425] == ("Parry", "avoidance")


@pytest.mark.parametrize("name", ["546-zonein-alone", "1208-zonein-alone", "60114-zonein-alone"])
def test_all_recorded_skills_have_their_names(name: str) -> None:
    rows = recorded_rows(name)
    version = next(row["ver"] for row in rows if row["k"] == "meta")
    names = ("PopulateSkillMaps", "OP_PopulateSkillMapsMsg")
    recorded = next(row["hex"] for row in rows if row.get("name") in names)
    there = dialect(version).layout("WS_SkillMap").decode(bytes.fromhex(recorded))["skill_array"]
    (here,) = WorldHarness().stand(5, version).decoded("WS_SkillMap")
    shown = [(row["skill_id"], row.get("short_name"), row["name"]) for row in here["skill_array"]]
    # The name of one language has another letter in EQ2Emulator's list of skills.
    assert [
        (row["skill_id"], row.get("short_name"), row["name"].replace("Fayfolk", "Fayefolk"))
        for row in there
    ] == shown


def test_a_new_character_has_the_recorded_hotkeys() -> None:
    """`1208-zonein-alone`, a fighter, and `546-zonein-alone`, whose character has no class."""
    fighter = WorldHarness().stand(5, 1208, class_=1)
    (bars,) = fighter.decoded("WS_QuickBarInit")
    keys = bars["ability_array"]
    assert [(key["slot"], key["type"], key["id"], key["text"]) for key in keys] == [
        (0, 4, 0, "attack"), (1, 4, 0, "ranged_attack"), (2, 1, 10019, ""), (11, 1, 8308, ""),
        (12, 1, 8057, ""), (13, 1, 8278, ""),
    ]  # fmt: skip
    commoner = WorldHarness().stand(5, class_=0)
    (bars,) = commoner.decoded("WS_QuickBarInit")
    assert [key["slot"] for key in bars["ability_array"]] == [0, 11, 12, 13]


def test_a_class_has_the_recorded_hotkeys_of_its_line() -> None:
    """`real-entry-1208-start-fighter-priest`."""
    for class_, recorded in HOTKEYS.items():
        (bars,) = WorldHarness().stand(5, 1208, class_=class_).decoded("WS_QuickBarInit")
        keys = [(key["slot"], key["type"], key["id"]) for key in bars["ability_array"]]
        assert keys == recorded


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
