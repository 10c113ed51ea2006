"""Messages by which a client has something kept, or asks about what does not exist yet.

The bytes of the journal's messages are recorded (`fight-546-quest-a`, `fight-1208-quest-a`), those
to examine something as well (`fight-546-priest-a`, `items-1208-carry`). The layouts of the others
are those of EQ2Emulator's structs and of the client of 2006 (client study, sections 3.3 to 3.5).
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from tests.support.world.worlds import Client, WorldHarness

MACRO_546 = bytes.fromhex("03 05" + b"Hello".hex() + "02 0800" + b"say Hail".hex() + "0400")
MACRO_546 += b"wave" + bytes.fromhex("0700")


def says(client: Client, name: str, fields: dict[str, Any], struct_name: str) -> None:
    client.say(name, client.dialect.layout(struct_name).encode(fields))


def kept(harness: WorldHarness) -> str:
    harness.run(3.0)
    return harness.store.rows[5].client_data


def again(harness: WorldHarness, version: int = 546) -> Client:
    """Restart the player: its client comes back with what was stored."""
    harness.run(3.0)
    harness.console("kick Name5")
    return harness.stand(5, version)


def test_a_macro_is_stored_and_sent_on_the_next_entry() -> None:
    harness = WorldHarness()
    client = harness.stand(5)
    assert "OP_MacroInitMsg" not in client.names
    client.say("OP_MacroUpdateMsg", MACRO_546)
    (bars,) = [data for name, data in again(harness).log if name == "OP_MacroInitMsg"]
    assert bars == bytes.fromhex("01000000") + MACRO_546


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_macros_of_all_layouts_come_back(version: int) -> None:
    harness = WorldHarness()
    client = harness.stand(5, version)
    fields = {
        "number": 3, "name": "Hello", "macro_count": 2, "icon": 7,
        "macro_array": [{"command": "say Hail"}, {"command": "wave"}],
    }  # fmt: skip
    says(client, "OP_MacroUpdateMsg", fields, "WS_MacroUpdate")
    (init,) = again(harness, version).decoded("WS_MacroInit")
    (macro,) = init["macro_array"]
    assert (macro["number"], macro["name"], macro["icon"]) == (3, "Hello", 7)
    assert [one["command"] for one in macro["macro_details_array"]] == ["say Hail", "wave"]


@pytest.mark.parametrize("version", [546, 1208])
def test_the_slots_of_spells_are_stored_and_sent_on_the_next_entry(version: int) -> None:
    harness = WorldHarness()
    harness.stand(5, version).say(
        "OP_KnowledgeWindowSlotMappingMsg", bytes.fromhex("0200 74200000 0100 bead0100 0400")
    )
    (mapping,) = again(harness, version).decoded("WS_SpellSlotMapping")
    assert [(row["spell_id"], row["slot_id"]) for row in mapping["spell_array"]] == [
        (0x2074, 1), (0x1ADBE, 4),
    ]  # fmt: skip


def test_the_fog_of_a_map_is_stored_and_sent_in_its_zone() -> None:
    harness = WorldHarness()
    place = "01 07000000 0200" + b"at".hex() + "00000000" * 4 + "01 02 03aabbcc"
    harness.stand(5).say("OP_MapFogDataUpdateMsg", bytes.fromhex(place))
    (sent,) = [data for name, data in again(harness).log if name == "OP_MapFogDataInitMsg"]
    assert sent == bytes(8) + bytes.fromhex(place) + bytes(1)


def test_a_biography_is_stored_shown_to_others_and_sent_back() -> None:
    harness = WorldHarness()
    one, two = harness.stand(5), harness.stand(6)
    text = "I am Aldana\x07 of the Isle"
    one.say("OP_BioUpdateMsg", struct.pack("<H", len(text)) + text.encode())
    two.types("/inspect_player Name5")
    (shown,) = two.decoded("WS_InspectPlayer")
    assert bytes(shown["biography"]).rstrip(b"\0") == b"I am Aldana of the Isle"
    (sent,) = again(harness).decoded("WS_BioUpdate")
    assert sent["biography"] == "I am Aldana of the Isle"


def test_a_muted_player_cannot_write_a_biography() -> None:
    harness = WorldHarness()
    one = harness.stand(5)
    harness.console("mute Name5 10")
    one.say("OP_BioUpdateMsg", b"\5\0words")
    assert kept(harness) == ""


@pytest.mark.parametrize(
    ("version", "chosen"), [(546, "020001000100"), (1208, "020001000100010201")]
)
def test_group_options_are_stored_and_sent(version: int, chosen: str) -> None:
    harness = WorldHarness()
    client = harness.stand(5, version)
    client.say("OP_DefaultGroupOptionsMsg", bytes.fromhex(chosen))
    client.say("OP_DefaultGroupOptionsRequestMsg")
    back = again(harness, version)
    for one in (client, back):
        sent = [data for name, data in one.log if name == "OP_DefaultGroupOptionsMsg"]
        assert sent[-1].hex() == chosen


@pytest.mark.parametrize(
    ("version", "body"),
    [
        (546, "03ffffffffbead01000001"),
        (1208, "03ffffffff000000000100000000000000bead01000000"),
    ],
)  # fmt: skip
def test_who_examines_what_is_no_thing_is_answered(version: int, body: str) -> None:
    client = WorldHarness().stand(5, version)
    client.say("OP_ExamineInfoRequestMsg", bytes.fromhex(body))
    (row,) = client.decoded("WS_DisplayText")
    assert (row["color"], row["text"]) == (3, "There is nothing to examine.")


@pytest.mark.parametrize("body", ["00947b6901947b69010000", "0100000000000000010000"])
def test_a_thing_that_nobody_has_is_not_answered(body: str) -> None:
    client = WorldHarness().stand(5, 546)
    client.say("OP_ExamineInfoRequestMsg", bytes.fromhex(body))
    assert client.decoded("WS_DisplayText") == []


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_quests_that_nobody_has_change_nothing(version: int) -> None:
    harness = WorldHarness()
    client = harness.stand(5, version)
    before = list(client.log)
    tracked = "a1bb0d00" if version == 546 else "01000000a1bb0d0001"
    client.say("OP_QuestJournalOpenMsg")
    client.say("OP_QuestJournalInspectMsg", bytes.fromhex("a1bb0d00"))
    client.say("OP_QuestJournalInspectMsg", bytes.fromhex("a1bb0d000000000000000000ffff"))
    client.say("OP_QuestJournalSetVisibleMsg", bytes.fromhex("01000000a1bb0d0000"))
    client.say("OP_QuestJournalWaypointMsg", bytes.fromhex(tracked))
    assert client.log == before
    assert harness.world.faults.drops["quest unknown"] == 4
    assert kept(harness) == ""


def test_the_name_of_a_skill_is_sent_and_an_unknown_one_is_not() -> None:
    client = WorldHarness().stand(5, 1208)
    for number in (540022425, 4):
        client.say("OP_SkillInfoRequest", struct.pack("<III", 2, 9, number))
    (row,) = client.decoded("WS_SkillInfoResponse")
    assert (row["request_type"], row["unique_id"], row["id"]) == (2, 9, 540022425)
    assert row["name"] == "Parry"


def test_a_map_that_nobody_has_is_answered_with_none() -> None:
    client = WorldHarness().stand(5, 1208)
    client.say("OP_MapRequest", b"\6\0qeynos\0")
    maps = [data for name, data in client.log if name == "OP_MapFogDataInitMsg"]
    assert maps == [bytes(18)] * 2


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("OP_ClientFellMsg", struct.pack("<fI", 12.5, 1)),
        ("OP_PaperdollImage", bytes(500)),
    ],
)  # fmt: skip
def test_what_needs_no_answer_is_no_unknown_message(name: str, body: bytes) -> None:
    harness = WorldHarness()
    client = harness.stand(5, 60114)
    before = list(client.log)
    client.say(name, body)
    assert client.log == before
    assert harness.world.faults.drops["unknown message"] == 0
    assert not client.player.client.drops


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("OP_MacroUpdateMsg", MACRO_546[:-1]), ("OP_MacroUpdateMsg", b"\3"),
        ("OP_KnowledgeWindowSlotMappingMsg", b"\xff\xff"), ("OP_MapFogDataUpdateMsg", bytes(5000)),
        ("OP_BioUpdateMsg", b"\x58\2" + b"x" * 600), ("OP_DefaultGroupOptionsMsg", bytes(5)),
        ("OP_ExamineInfoRequestMsg", b"\1"), ("OP_ExamineInfoRequestMsg", bytes(500)),
        ("OP_QuestJournalInspectMsg", b"\1"), ("OP_QuestJournalWaypointMsg", b"\1"),
        ("OP_QuestJournalSetVisibleMsg", b"\xff\xff\xff\xff\1\0\0\0\1"),
        ("OP_ClientFellMsg", struct.pack("<fI", float("nan"), 1)),
    ],
)  # fmt: skip
def test_a_malformed_message_is_counted_and_keeps_nothing(name: str, body: bytes) -> None:
    harness = WorldHarness()
    client = harness.stand(5)
    before = list(client.log)
    client.say(name, body)
    assert client.log == before
    assert sum(client.player.client.drops.values()) == 1
    assert kept(harness) == ""
