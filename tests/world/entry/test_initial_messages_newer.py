"""Bytes of what clients above 561 are sent on entering, against recordings of EQ2Emulator.

The recordings are `1096-zonein-alone`, `1208-zonein-alone`, `60114-zonein-alone` and
`64753-zonein-alone`.
"""

from __future__ import annotations

import pytest

from emu.model import KnownSkill
from emu.structs import shipped_catalog
from emu.structs.packed import unpack_counted
from emu.world.skills import skill_book
from emu.world_stream.deltas import BookReader
from tests.support.files.recordings import recorded_rows
from tests.support.world.ghost_views import dialect
from tests.support.world.world_fakes import world_character
from tests.support.world.worlds import KNOWLEDGE, Client, WorldHarness

GREAT_HAMMER = 1653482350
"""Fighters and everybody have a row for it; EQ2Emulator took the lower."""
JOURNALS = [
    (1096, "Aldanajeat", "000000000000000000000fa19f090a00416c64616e616a6561740000004b"),
    (1208, "Aldanakmat", "00000000000000000000d29730bf0a00416c64616e616b6d61740000004b"),
    (60114, "Aldanajuat", "000000000000000000007f02b9150a00416c64616e616a7561740000004b"),
    (64753, "Aldanakcbt", "000000000000000000001be9839e0a00416c64616e616b6362740000004b"),
]


def body(client: Client, name: str) -> bytes:
    (payload,) = [data for known, data in client.log if known == name]
    return payload


@pytest.mark.parametrize(("version", "name", "recorded"), JOURNALS)
def test_an_empty_journal_has_the_recorded_bytes(version: int, name: str, recorded: str) -> None:
    client = WorldHarness().stand(5, version, name=name)
    assert body(client, "OP_EqQuestJournalUpdateCmd").hex() == recorded


# By the structs WS_QuestJournalUpdate of EQ2Emulator: 562, 931 and 1028.
@pytest.mark.parametrize(
    ("version", "recorded"),
    [
        (562, "0000 0000 00000000 7dcb61ea 0600416c64616e61 0000"),
        (930, "0000 0000 00000000 7dcb61ea 0600416c64616e61 0000"),
        (931, "0000 0000 0000 00000000 7dcb61ea 0600416c64616e61 0000"),
        (1027, "0000 0000 0000 00000000 7dcb61ea 0600416c64616e61 0000"),
        (1028, "0000 0000 0000 00000000 7dcb61ea 0600416c64616e61 0000 00"),
        (1095, "0000 0000 0000 00000000 7dcb61ea 0600416c64616e61 0000 00"),
    ],
)
def test_an_empty_journal_between_the_recorded_versions(version: int, recorded: str) -> None:
    layout = shipped_catalog().layout("WS_QuestJournalUpdate", version)
    fields = {"player_crc": 0xEA61CB7D, "player_name": "Aldana"}
    assert layout.encode(fields).hex() == recorded.replace(" ", "")


@pytest.mark.parametrize(
    ("version", "name"),
    [(1096, "1096-zonein-alone"), (1208, "1208-zonein-alone"), (60114, "60114-zonein-alone"),
     (64753, "64753-zonein-alone")],
)  # fmt: skip
def test_the_recorded_skill_book_byte_for_byte(version: int, name: str) -> None:
    recorded = {row["hex"] for row in recorded_rows(name) if row.get("name") == "UpdateSkillBook"}
    skills = KNOWLEDGE.beginners.skills(world_character(class_=1))
    as_there = [KnownSkill(one.id, 1, 1) if one.id == GREAT_HAMMER else one for one in skills]
    assert {skill_book(dialect(version), KNOWLEDGE, as_there).hex()} == recorded


@pytest.mark.parametrize("version", [562, 908, 1011, 1096, 1208, 60114, 64753])
def test_a_skill_book_ends_with_one_byte(version: int) -> None:
    """Recorded of 1096, 1208, 60114 and 64753: 27 records of 21 bytes and one zero byte."""
    payload = body(WorldHarness().stand(5, version, class_=1), "OP_UpdateSkillBookMsg")
    lead = int(version > 864)
    count, records, tail = unpack_counted(payload, 21, 1, version, lead=lead)
    assert (count, len(records), tail) == (27, 27 * 21 + lead, b"\0")


def test_an_empty_skill_book_has_no_records() -> None:
    """docs/protocol/world/entering.md#books."""
    assert skill_book(dialect(1208), KNOWLEDGE, ()).hex() == "00000000000000"


@pytest.mark.parametrize("version", [546, 561, 908, 1208, 60114])
def test_a_skill_book_is_read_back(version: int) -> None:
    skills = [KnownSkill(GREAT_HAMMER, 3, 5), KnownSkill(540022425, 7, 9)]
    reader = BookReader(shipped_catalog().layout("WS_UpdateSkillBook", version), version)
    made = skill_book(dialect(version), KNOWLEDGE, skills)
    rows = reader.read(made)["skill_array"]
    assert [(row["skill_id"], row["current_val"], row["max_val"]) for row in rows] == [
        (GREAT_HAMMER, 3, 5), (540022425, 7, 9),
    ]  # fmt: skip


ENTRIES = [
    (1096, "1096-zonein-alone"), (1208, "1208-zonein-alone"), (57080, "57080-zonein-alone"),
    (60114, "60114-zonein-alone"), (64753, "64753-zonein-alone"),
]  # fmt: skip


@pytest.mark.parametrize(("version", "name"), ENTRIES)
def test_newer_clients_are_sent_no_recipe_book(version: int, name: str) -> None:
    number = dialect(version).table.number("OP_UpdateRecipeBookMsg")
    assert number not in [row["op"] for row in recorded_rows(name) if row["k"] == "app"]
    assert "OP_UpdateRecipeBookMsg" not in WorldHarness().stand(5, version).names
    assert "OP_UpdateRecipeBookMsg" in WorldHarness().stand(5, 561).names
