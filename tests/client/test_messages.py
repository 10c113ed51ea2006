"""Answers of every form to events, and any bytes whatever to an event as well."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.client import (
    AccountInfo,
    Characters,
    Created,
    Deleted,
    Keymap,
    LoginAccepted,
    LoginDenied,
    LoginFlags,
    PlayAnswer,
    Unexpected,
    WorldList,
    WorldStatus,
    shipped_messages,
)
from emu.client.messages import KEYMAP_LIMIT
from emu.errors import StructValueError, UnknownVersion
from emu.structs import shipped_catalog
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.examples import tries
from tests.support.sessions import reference_messages as reference
from tests.support.sessions.reference_messages import ReferenceCharacter

TESTA = ReferenceCharacter(0x01020304, 7, "Testa", 42, 3, 11)

versions = pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)


@versions
def test_both_login_replies_are_read_whole(version: int) -> None:
    messages = shipped_messages(version)
    first = messages.read_message(4, reference.login_reply(version))
    assert isinstance(first, LoginAccepted)
    assert first.fields["login_response"] == 0
    assert first.fields["do_not_force_soga"] == 1
    if version >= 1096:
        assert (first.fields["account_id"], first.fields["username"]) == (1, "tester")
    second = messages.read_message(4, reference.flags_reply(version))
    assert isinstance(second, LoginFlags)
    assert second.fields["login_response"] == 10


@versions
def test_a_login_reply_with_a_byte_too_many_is_reported(version: int) -> None:
    answer = shipped_messages(version).read_message(4, reference.login_reply(version) + b"\0")
    assert isinstance(answer, Unexpected)
    assert answer.name == "OP_LoginReplyMsg"


def test_a_denial_is_read_by_its_first_byte() -> None:
    messages = shipped_messages(546)
    body = reference.denial(1)
    assert len(body) == 34
    assert messages.read_message(4, body) == LoginDenied(1, "bad user name or password")
    assert messages.read_message(4, b"\x06") == LoginDenied(6, "the client version does not match")
    assert isinstance(messages.read_message(4, b""), Unexpected)


@versions
def test_the_world_list_of_every_layout_is_read(version: int) -> None:
    body = reference.world_list(version, [(1, "Antonia Bayle"), (300, "Oggok")])
    answer = shipped_messages(version).read_message(8, body)
    assert isinstance(answer, WorldList)
    assert [(one.id, one.name, one.up, one.locked, one.players) for one in answer.worlds] == [
        (1, "Antonia Bayle", True, False, 3),
        (300, "Oggok", True, False, 3),
    ]
    assert answer.worlds[0].allowed_races == 0xFFFFFFFF


@pytest.mark.parametrize("tail", [b"\0", b"\0\0"])
def test_a_world_status_has_seven_or_eight_bytes(tail: bytes) -> None:
    body = struct.pack("<IBB", 9, 1, 1) + tail
    assert shipped_messages(546).read_message(6, body) == WorldStatus(9, up=True, locked=True)


@pytest.mark.parametrize("size", [0, 6, 9])
def test_a_world_status_of_another_length_is_reported(size: int) -> None:
    assert isinstance(shipped_messages(546).read_message(6, bytes(size)), Unexpected)


@versions
def test_the_character_list_of_every_layout_is_read(version: int) -> None:
    body = reference.character_list(version, [TESTA, ReferenceCharacter(9, 7, "Other")])
    answer = shipped_messages(version).read_message(10, body)
    assert isinstance(answer, Characters)
    first = answer.characters[0]
    assert (first.id, first.world_id, first.name) == (0x01020304, 7, "Testa")
    assert (first.level, first.race, first.class_) == (42, 3, 11)
    assert first.fields["zone"] == "antonica"
    assert answer.characters[1].name == "Other"
    bonus = 2 if version > 561 else 0
    assert answer.account == AccountInfo(77, 7, bonus, 0)


def test_account_info_without_the_two_bonus_bytes_is_taken() -> None:
    body = reference.character_list(1096, [])[:-2]
    answer = shipped_messages(1096).read_message(10, body)
    assert isinstance(answer, Characters)
    assert answer.account.veteran_adventure_bonus == 0


@pytest.mark.parametrize("cut", [1, 3, 17, 400])
def test_a_character_list_cut_short_is_reported(cut: int) -> None:
    body = reference.character_list(1096, [TESTA])[:-cut]
    answer = shipped_messages(1096).read_message(10, body)
    assert isinstance(answer, Unexpected)
    assert answer.name == "OP_AllCharactersDescReplyMsg"


@versions
def test_create_replies_are_read(version: int) -> None:
    messages = shipped_messages(version)
    made = messages.read_message(12, reference.create_reply(version, 1, "Testa"))
    assert made == Created(1, "created", "Testa", 77)
    taken = messages.read_message(12, reference.create_reply(version, 13, "Testa"))
    assert taken == Created(13, "the name is taken", "", 77)


@versions
@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("code", [0, 1])
def test_delete_replies_are_read_with_and_without_their_tail(
    version: int, code: int, short: bool
) -> None:
    body = reference.delete_reply(code, TESTA, short=short)
    opcode = 17 if version < 60085 else 19
    text = "deleted" if code else "refused"
    answer = shipped_messages(version).read_message(opcode, body)
    assert answer == Deleted(code, text, 7, 0x01020304, "Testa")


@versions
def test_play_replies_are_read(version: int) -> None:
    messages = shipped_messages(version)
    opcode = 19 if version < 60085 else 21
    go = messages.read_message(
        opcode, reference.play_reply(version, 1, "10.0.0.7", 9001, 0xFEDCBA98)
    )
    assert go == PlayAnswer(1, "go", "10.0.0.7", 9001, 0xFEDCBA98, 77)
    failure = messages.read_message(opcode, reference.play_reply(version, 253, "", 0, 0))
    assert failure == PlayAnswer(253, "the world is full", "", 0, 0, 77)
    short = messages.read_message(opcode, b"\x07")
    assert short == PlayAnswer(7, "the account is in use", "", 0, 0, 0)
    assert isinstance(messages.read_message(opcode, b"\x01"), Unexpected)


def test_a_keymap_must_be_as_long_as_it_says_and_not_too_long() -> None:
    messages = shipped_messages(546)
    assert messages.read_message(154, b"") == Keymap(None)
    assert messages.read_message(155, struct.pack("<I", 3) + b"abc") == Keymap(b"abc")
    for size in (KEYMAP_LIMIT, KEYMAP_LIMIT + 1):
        answer = messages.read_message(155, struct.pack("<I", size) + bytes(size))
        assert isinstance(answer, Unexpected) is (size > KEYMAP_LIMIT)
    assert isinstance(messages.read_message(155, struct.pack("<I", 4) + b"abc"), Unexpected)
    assert isinstance(messages.read_message(155, b"ab"), Unexpected)


@versions
def test_a_create_request_fits_its_layout_to_the_last_byte(version: int) -> None:
    opcode, body = shipped_messages(version).create(7, "Testa", {"race": 3, "class": 11})
    assert opcode == 11
    request = reference.read_create_request(version, body)
    assert (request.world_id, request.name) == (7, "Testa")
    assert (request.race, request.class_) == (3, 11)


def test_a_choice_that_a_version_does_not_have_is_refused() -> None:
    with pytest.raises(StructValueError, match="wing_file"):
        shipped_messages(546).create(7, "Testa", {"wing_file": "wings"})


def test_the_oldest_clients_name_the_character_to_play() -> None:
    answer = shipped_messages(1096).read_message(10, reference.character_list(1096, [TESTA]))
    assert isinstance(answer, Characters)
    opcode, body = shipped_messages(283).play(answer.characters[0])
    assert (opcode, body) == (17, b"\x04\x03\x02\x01\x05\x00Testa")


def test_a_version_without_opcodes_cannot_be_played() -> None:
    with pytest.raises(UnknownVersion):
        shipped_messages(400)  # in a gap between the recorded ranges


def test_a_message_without_a_meaning_at_login_is_only_reported() -> None:
    assert shipped_messages(546).read_message(36, b"abc") == Unexpected(
        36, "", "a message that means nothing at login"
    )


@tries(150)
@given(
    st.sampled_from(LOGIN_VERSION_STEPS),
    st.sampled_from([4, 6, 8, 10, 12, 17, 19, 21, 153, 154, 155]),
    st.binary(max_size=700),
)
def test_no_bytes_of_a_server_raise(version: int, opcode: int, body: bytes) -> None:
    shipped_messages(version).read_message(opcode, body)


@tries(60)
@given(st.sampled_from(LOGIN_VERSION_STEPS), st.integers(0, 900), st.data())
def test_a_real_answer_with_one_byte_changed_never_raises(
    version: int, place: int, data: st.DataObject
) -> None:
    messages = shipped_messages(version)
    opcode, body = data.draw(
        st.sampled_from(
            [
                (4, reference.login_reply(version)),
                (8, reference.world_list(version, [(1, "Antonia Bayle")])),
                (10, reference.character_list(version, [TESTA])),
            ]
        )
    )
    changed = bytearray(body)
    changed[place % len(changed)] = data.draw(st.integers(0, 255))
    messages.read_message(opcode, bytes(changed))


def test_a_new_character_begins_in_the_first_zone_and_has_the_later_choice() -> None:
    layout = shipped_catalog().layout("CreateCharacter", 546, create_color=True)
    _, body = shipped_messages(546).create(7, "Testa", {})
    assert layout.decode(body)["starting_zone"] == 1
    _, body = shipped_messages(546).create(7, "Testa", {"starting_zone": 2})
    assert layout.decode(body)["starting_zone"] == 2
