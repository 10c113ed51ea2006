"""The world's messages: the three layouts of login by number, and every answer read back."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.client.events import Unexpected
from emu.client.world.events import (
    BlowSeen,
    CampBegun,
    CampStopped,
    CastBegun,
    CastRefused,
    ChannelChanged,
    ChannelMembers,
    DeathSeen,
    DialogClosed,
    DialogOpened,
    Emoted,
    GroupOffered,
    GuildMemberChanged,
    GuildMemberLeft,
    GuildMemberRow,
    GuildMembersListed,
    GuildOffered,
    GuildShown,
    Heard,
    LetterShown,
    LineShown,
    MailboxShown,
    MailCoins,
    MailHeader,
    MailSent,
    OptionRow,
    OptionsShown,
    PutSomewhere,
    Refused,
    RevivalOffered,
    ScreenShown,
    WayRow,
    WaysShown,
    WhoListed,
    WorldEvent,
)
from emu.client.world.messages import ClientWorldMessages
from emu.errors import CommandError, MalformedMessage
from tests.support.sessions.raw_client import by_number
from tests.support.world.ghost_views import dialect

MEMBER = {
    "character_id": 6, "name": "Borvik", "adventure_level": 3, "rank": 7, "zone": "Antonica",
    "note": "n", "officer_note": "o",
}  # fmt: skip
READ = [
    ("LS_LoginResponse", {"reply_code": 9}, Refused(9, "unknown reason")),
    ("LS_LoginResponse", {"reply_code": 0}, None),
    ("WS_DisplayText", {"color": 5, "text": "hello"}, LineShown("system", "hello")),
    ("WS_OnScreenMsg", {"text": "Beware"}, ScreenShown("Beware")),
    ("WS_Camp", {"seconds": 20}, CampBegun(20)),
    ("WS_MailSendMessageReply", {"reply_type": 5, "player_to": "Bo"}, MailSent(5, "Bo")),
    ("WS_UpdatePlayerMail", {"coin_copper": 7, "coin_silver": 3, "coin_plat": 1},
     MailCoins(1_000_307)),
    (
        "WS_GetMailHeader",
        {"num_messages": 1, "postage_cost": 10,
         "message_array": [{"mail_id": 4, "player_from": "Al", "subject": "Hi", "coin_gold": 1}]},
        MailboxShown((MailHeader(4, "Al", "Hi", False, 10_000),), 10),
    ),
    (
        "WS_MailGetMessage",
        {"mail_id": 4, "player_from": "Al", "subject": "Hi", "mail_body": "Well?"},
        LetterShown(4, "Al", "Hi", "Well?", 0),
    ),
    ("WS_MoveClient", {"x": 1.0, "y": 2.0, "z": 3.0, "heading": 360.0},
     PutSomewhere(1.0, 2.0, 3.0, 360.0)),
    ("WS_ServerDialogClose", {"conversation_id": 7}, DialogClosed(7)),
    ("WS_TeleportList", {"spawn_id": 9, "num_destinations": 1, "destination_array": [
        {"unique_id": 51, "display_name": "North", "zone_name": "Antonica", "cost": 3}]},
     WaysShown(9, (WayRow(51, "North", "Antonica", 3),))),
    (
        "WS_DialogOpen",
        {"conversation_id": 7, "title": "Guard", "text": "Halt", "num_responses": 2,
         "response_array": [{"response": "Why?"}, {"response": "Bye"}]},
        DialogOpened(7, "Guard", "Halt", ("Why?", "Bye")),
    ),
    (
        "WS_ChatChannelUpdate",
        {"action": 2, "channel_name": "trade"},
        ChannelChanged("joined", "trade", ""),
    ),
    (
        "WS_WhoChannelQueryReply",
        {"channel_name": "trade", "num_players": 1, "player_array": [{"player_name": "Borvik"}]},
        ChannelMembers("trade", ("Borvik",)),
    ),
    (
        "WS_WhoQueryReply",
        {"num_characters": 1, "characters_array": [
            {"char_name": "Borvik", "level": 3, "zone": "Antonica"}]},
        WhoListed((("Borvik", 3, "Antonica"),)),
    ),
    (
        "WS_HearChat",
        {"from_spawn_id": 0xFFFFFFFF, "from": "Borvik", "to": "Aldana", "channel": 26,
         "message": "psst"},
        Heard("tell", "Borvik", "Aldana", "psst", "", None),
    ),
    ("WS_ReceiveOffer", {"type": 1, "name": "Aldana"}, GroupOffered("Aldana")),
    ("WS_ReceiveOffer", {"type": 2, "name": "Aldana", "guild_name": "The Wolves"},
     GuildOffered("Aldana", "The Wolves")),
    ("WS_GuildUpdate",
     {"guild_id": 1, "guild_name": "The Wolves", "guild_motd": "Hi", "ranks": [{"name": "Alpha"}]},
     GuildShown(1, "The Wolves", "Hi", ("Alpha", *[""] * 7))),
    ("WS_GuildMembershipResponse", {"num_members": 1, "member_array": [MEMBER]},
     GuildMembersListed((GuildMemberRow(6, "Borvik", 3, 7, "Antonica", "n", "o"),))),
    ("WS_JoinGuildNotify", MEMBER,
     GuildMemberChanged(GuildMemberRow(6, "Borvik", 3, 7, "Antonica", "n", "o"))),
    ("WS_LeaveGuildNotify", {"character_id": 6}, GuildMemberLeft(6)),
    (
        "WS_CannedEmote",
        {"spawn_id": 2, "emote_msg": "Borvik waves.", "anim_type": 883},
        Emoted(2, "Borvik waves.", 883),
    ),
    ("WS_HearSimpleDamage",
     {"packet_type": 192, "attacker": 1, "defender": 4, "result_type": 1, "damage": 7,
      "num_dmg": 1, "dmg_array": [{"damage": 7}]},
     BlowSeen(1, 4, 7)),
    ("WS_DisplaySpellFailed", {"error_code": 34}, CastRefused(34)),
    ("WS_StartCastSpell", {"spell_name": "Smite", "cast_time": 2.0}, CastBegun("Smite", 2.0)),
    ("WS_HearDeath", {"attacker": 1, "defender": 4}, DeathSeen(1, 4)),
    ("WS_DeathWindow",
     {"location_count": 1, "location_array": [{"location_id": 2, "location_name": "The Docks"}]},
     RevivalOffered(((2, "The Docks"),))),
]  # fmt: skip


@pytest.mark.parametrize("version", [546, 561, 562, 1096, 1208, 60114])
def test_login_by_number_has_the_layout_of_its_version(version: int) -> None:
    try:
        messages = ClientWorldMessages(dialect(version))
    except CommandError as error:
        assert "nobody knows how client version" in str(error)  # noqa: PT017
        return
    number, payload = messages.login_by_number(106, 0x17E5F3A0)
    assert (number, payload) == (1, by_number(106, 0x17E5F3A0, version)[1:])


@pytest.mark.parametrize("version", [546, 561])
@pytest.mark.parametrize(("name", "values", "event"), READ)
def test_answers_are_read(version: int, name: str, values, event) -> None:
    messages = ClientWorldMessages(dialect(version))
    number, payload = dialect(version).message(name, values)
    ((named, body),) = messages.unwrapped(number, payload)
    assert messages.read_message(named, body) == event


@pytest.mark.parametrize("version", [562, 1208, 60114, 64753])
def test_a_dialog_of_newer_versions_has_no_title(version: int) -> None:
    messages = ClientWorldMessages(dialect(version))
    row = {"conversation_id": 7, "text": "Halt", "num_responses": 1,
           "response_array": [{"response": "Why?"}]}  # fmt: skip
    number, payload = dialect(version).message("WS_DialogOpen", row)
    ((named, body),) = messages.unwrapped(number, payload)
    assert messages.read_message(named, body) == DialogOpened(7, "", "Halt", ("Why?",))


@pytest.mark.parametrize("version", [1096, 1208, 60114])
def test_windows_of_options_are_read_by_versions_that_have_them(version: int) -> None:
    row = {"name": "Yes", "text": "Go", "command": "leave"}
    number, payload = dialect(version).message(
        "WS_SelectOption",
        {"title": "Leave?", "num_options": 1, "options": [row], "cancel_command": "Cancel"},
    )
    messages = ClientWorldMessages(dialect(version))
    ((named, body),) = messages.unwrapped(number, payload)
    expected = OptionsShown("Leave?", (OptionRow("Yes", "Go", "leave"),), "Cancel")
    assert messages.read_message(named, body) == expected
    assert isinstance(messages.read_message(named, body[:-1]), Unexpected)


def test_what_has_no_body_and_what_is_not_known() -> None:
    messages = ClientWorldMessages(dialect(546))
    assert messages.read_message("OP_CampAbortedMsg", b"") == CampStopped()
    assert messages.read_message("OP_FactionUpdateMsg", b"\0\0\0") is None
    assert list(messages.unwrapped(60_000, b"x")) == [("60000", b"x")]


def test_requests_that_a_version_lacks() -> None:
    messages = ClientWorldMessages(dialect(546))
    assert messages.plain("4711", b"x") == (4711, b"x")
    with pytest.raises(CommandError, match="546 has no OP_NoSuchMsg"):
        messages.plain("OP_NoSuchMsg")
    with pytest.raises(CommandError, match="cannot say that"):
        messages.filled("WS_NoSuchStruct")


@given(st.binary(max_size=60), st.sampled_from([row[0] for row in READ]))
def test_any_bytes_are_an_event_or_none(payload: bytes, struct_name: str) -> None:
    messages = ClientWorldMessages(dialect(546))
    definition = dialect(546).layout(struct_name).definition
    event = messages.read_message(definition.opcode_type or definition.opcode_name, payload)
    assert event is None or isinstance(event, WorldEvent)


def test_the_table_of_commands() -> None:
    payload = struct.pack("<H", 3) + b"\3say\0\4tell\0\0"
    messages = ClientWorldMessages(dialect(546))
    assert messages.commands(payload) == {"say": 0, "tell": 2}
    # The same table again, for another player with these messages; then a new one.
    assert messages.commands(payload) is messages.commands(payload)
    assert messages.commands(struct.pack("<H", 1) + b"\3who\0\0") == {"who": 0}
    with pytest.raises(MalformedMessage):
        messages.commands(b"")
