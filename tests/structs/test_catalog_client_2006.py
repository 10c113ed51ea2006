"""Messages in the form that a study of the 2006 client's program says it reads."""

from __future__ import annotations

import pytest

from emu.structs import shipped_catalog

TEXT = "0200 4162"
"""A u16 length and `Ab`."""
READ = [
    ("WS_ReceiveOffer", {"type": 2, "name": "Ab", "guild_name": "Ab"}, f"02 {TEXT} {TEXT} 00"),
    ("WS_ChatRelationship", {"name_array": [{"name": "Ab"}, {"name": "Ab"}]},
     f"00000000 00 02000000 {TEXT} 0000 {TEXT} 0000"),
    ("WS_PlayVoice", {"spawn_id": 1, "mp3": "Ab", "key1": 2, "key2": 3},
     f"01000000 {TEXT} 00000000 0000 02000000 03000000 00000000"),
    ("WS_ServerUpdateTarget", {"spawn_id": 1}, "01000000"),
    ("WS_ChatChannelUpdate", {"action": 2, "channel_name": "Ab"}, f"02 {TEXT}"),
    ("WS_ChoiceWindow", {"text": "Ab", "seconds": 5, "longest": 9},
     f"{TEXT} 0000 0000 0000 0000 05000000 00 00 09000000 00 00"),
    ("WS_LeaveGuildNotify", {"guild_id": 1, "character_id": 2}, "01000000 02000000 0000"),
    ("WS_WaypointUpdate", {"unknown": 0xFFFFFFFF}, "00000000 00 ffffffff"),
    ("WS_SetRemoteCmdsMsg", {"commands_array": [{"name": "say"}]}, "0100 03 736179 0000"),
    ("WS_QuickBarUpdateRequest", {"hotkey_slot": 4, "type": 1, "text": "Ab", "unknown2": "Ab"},
     f"00000000 00000000 04000000 01000000 00000000 {'00' * 12} {TEXT} {TEXT}"),
    ("LS_DeleteCharacterResponse", {"response": 1, "server_id": 2, "char_id": 3, "name": "Ab"},
     f"01 02000000 03000000 {TEXT} 00000000"),
    # Section 3 and 4, messages that nobody has recorded.
    ("WS_SpellNoLand", {"spawn_id": 1, "target_array": [{"target": 2}], "spell_id": 3},
     "01000000 0100 02000000 03000000"),
    ("WS_Lottery", {"lottery_digits": [1, 2, 3, 4, 5, 6]},
     f"{'00' * 24} 01000000 02000000 03000000 04000000 05000000 06000000"),
    ("WS_TrackingUpdate", {
        "mode": 3, "list_order": [{"list_spawn_id": 1, "list_number": 2}],
        "spawn_array": [{"spawn_id": 1, "spawn_name": "Ab", "spawn_type": 4}],
     }, "03 01 01000000 024162 04 00 00 01 01000000 02"),
    ("WS_DisplayEvent", {"text": "Ab", "mode": 255, "command_array": [{"command": "Ab"}]},
     f"{TEXT} ff 01 024162"),
    ("WS_DisplayEvent", {"text": "Ab", "mode": 1}, f"{TEXT} 01 00 00 00000000 00"),
    ("WS_EnableWindow", {"window": "Ab", "enabled": 1}, f"{TEXT} 01"),
    ("WS_InstructionWindowTask", {"goal_num": 1, "task_num": 2}, "01 02"),
    ("WS_UpdateSign", {"title": "Ab", "spawn_id": 7}, f"{TEXT} 0000 07000000"),
    ("WS_GuildEventAdd", {"guild_id": 1, "event_id": 2, "event_type": 3, "description": "Ab"},
     f"01000000 0200000000000000 03000000 00000000 {TEXT}"),
    ("WS_PlayerHousePurchase", {"house_name": "Ab", "house_id": 1, "enable_buy": 1},
     f"{TEXT} 01000000 {'00' * 24} 0000 01"),
    ("WS_PlayerHouseBaseScreen", {
        "spawn_id": 7, "house_name": "Ab", "upkeep_cost_coins": 1, "upkeep_cost_status": 2,
        "escrow_balance_coins": 3, "escrow_balance_status": 4, "upkeep_due": 5,
        "privlage_level": 6, "inside_house": 1, "unknown3": 1, "public_access_level": 8,
        "access_array": [{"access_id": 9, "access_name": "Ab", "access_level": 10}],
        "deposit_array": [{
            "deposit_id": 11, "deposit_name": "Ab", "deposit_total_coin": 12,
            "deposit_total_status": 13, "deposit_last_coin": 14, "deposit_last_status": 15,
            "deposit_time_stamp": 16,
        }],
        "history_array": [{
            "history_id": 17, "history_name": "Ab", "history_coins": 18, "history_status": 19,
            "history_time_stamp": 20,
        }],
        "allow_item_collection": 21, "placed_item_count": 22, "max_placed_items": 23,
        "actual_item_count": 24,
     }, (f"07000000 {TEXT} 0100000000000000 02000000 0300000000000000 04000000 05000000 06 00 01 01"
        f" 01 09000000 {TEXT} 0a 08"
        f" 01 0b000000 {TEXT} 0c00000000000000 0d000000 0e00000000000000 0f000000 10000000"
        f" 01 11000000 {TEXT} 1200000000000000 13000000 14000000 15 1600 1700 1800")),
    ("WS_PlayerHouseBaseScreen", {"spawn_id": 7, "house_name": "Ab"},
     f"07000000 {TEXT} {'00' * 41}"),
    ("WS_PlayerHouseAccessUpdateMsg", {"unique_id": 1, "access_name": "Ab", "access_level": 2},
     f"01000000 00 {TEXT} 02"),
    ("WS_PlayerHouseAccessUpdateMsg", {"unique_id": 1, "access_delete": 1}, "01000000 01"),
    ("WS_DisplayVisitScreen", {
        "visithouse_array": [{"house_id": 1, "house_owner": "Ab", "access_level": 2}],
     }, f"01000000 01000000 {TEXT} 00000000 02"),
    ("WS_WaypointReplyMsg", {
        "waypoint_array": [{"location": "Ab", "type": 1, "index": 2}], "selected_waypoint": 3,
     }, f"01000000 {TEXT} 01 02000000 03000000"),
    ("WS_QuestJournalInspectMsg", {"quest_id": 1, "unknown1": 2},
     "01000000 00000000 0000 02000000"),
]  # fmt: skip


@pytest.mark.parametrize("version", [546, 561])
def test_what_the_2006_client_reads_has_its_form(version: int) -> None:
    for name, values, expected in READ:
        layout = shipped_catalog().layout(name, version)
        data = layout.encode(values)
        assert data == bytes.fromhex(expected), name
        assert layout.encode(layout.decode(data)) == data


@pytest.mark.parametrize("version", [546, 561])
def test_the_alternate_looks_end_with_size_age_and_colors(version: int) -> None:
    # The study, section 2.2: size, age, three hair colors, then hair and beard with their colors.
    layout = shipped_catalog().layout("CharSelectProfile", version)
    values = {
        "soga_nose_type": [1, 2, 3], "soga_body_size": 4, "soga_bump_scale": 5,
        "soga_hair_color1": [6, 7, 8], "soga_hair_color2": [9, 10, 11],
        "soga_hair_color3": [12, 13, 14], "soga_hair_type": 0x100F,
    }  # fmt: skip
    tail = bytes(range(1, 16)) + b"\x10" + bytes(6) + bytes(8)
    assert layout.encode(values).endswith(tail)


def test_an_effect_has_a_type_and_its_texts() -> None:
    # The study, section 2.4: u32, two u16, u8, effects (u8, text, u8), name, description.
    values = {
        "packettype": 1,
        "effect": {"id": 1, "type": 2, "effect_array": [{"effect": "Ab"}], "name": "Ab"},
    }
    data = shipped_catalog().layout("WS_ExamineInfo", 546).encode(values)
    effect = "01000000 0000 0000 02 01 00 02004162 00 024162 0000"
    assert data == bytes.fromhex(f"00 00 00 01000000 {effect}")


def test_the_messages_of_guilds_and_mail_end_where_the_client_stops() -> None:
    # The study: 110 ends with a u64, a u32 and a count; 291 with a u16; 275 with a u64 and a byte.
    lengths = {
        name: shipped_catalog().layout(name, 546).empty_size()
        for name in ("WS_GuildUpdate", "WS_JoinGuildNotify", "WS_MailGetMessage")
    }
    ranks = 8 * (2 + 8 + 4 * (4 + 8))
    member = 4 + 4 + 2 + 8 * 4 + 1 + 1 + 2 + 4 + 4 + 2 + 2 + 2 + 4 + 2
    mail = 3 * 4 + 3 * 2 + 1 + 4 + 1 + 4 + 4 * 4 + 2 + 4 + 4 + 8 + 1
    assert lengths == {
        "WS_GuildUpdate": 2 * 2 + 4 + 2 + 3 * 4 + 2 * 8 + 6 * 4 + ranks + 16,
        "WS_JoinGuildNotify": member,
        "WS_MailGetMessage": mail,
    }
