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
