"""Following sessions through captures that two real sessions made."""

from __future__ import annotations

import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.capture.formats.records import EQ2_SECRETS, Datagram, Secrets
from emu.capture.keys import KeyRing
from emu.capture.sessions import follow as follow_module
from emu.capture.sessions.follow import CaptureFollower, Notice
from emu.capture.sessions.session import REPORTED_PER_REASON
from emu.session import SessionConfig, StreamType
from tests.support.examples import tries
from tests.support.files.known_names import few_messages
from tests.support.sessions.conversations import (
    CLIENT,
    KEY_BLOCK,
    SERVER,
    Conversation,
    login_by_number,
    login_request,
    whole_session,
)

MESSAGES = [
    (True, 0, login_request(546)),
    (False, 4, b"\1\0\0\0"),
    (False, 8, bytes(range(256)) * 40),
    (True, 300, b"wide opcode"),
    (False, 300, b""),
    *[(n % 3 == 0, 8, bytes([n]) * n) for n in range(60)],
]


def follow(datagrams, *, keys=None, version=None, close=True):
    follower = CaptureFollower(few_messages(), keys=keys, version=version)
    messages, notices = [], []
    for record in datagrams:
        for happening in follower.receive(record):
            (notices if isinstance(happening, Notice) else messages).append(happening)
    if close:
        notices += follower.close()
    return messages, [notice.text for notice in notices]


def said(messages, client=CLIENT):
    return [(one.source == client, one.opcode, one.payload) for one in messages]


@pytest.fixture(scope="module")
def recorded():
    return whole_session(MESSAGES).datagrams


def test_a_session_is_decoded_whole_and_in_order(recorded):
    messages, notices = follow(recorded)
    assert said(messages) == MESSAGES
    assert notices == []
    assert {one.version for one in messages} == {546}
    assert messages[0].name == "OP_LoginRequestMsg"
    assert messages[1].fields == {"number": 1}
    assert [one.t for one in messages] == sorted(one.t for one in messages)
    assert (messages[1].source, messages[1].destination) == (SERVER, CLIENT)


@pytest.mark.parametrize(
    "stream", [StreamType.EQ2_STREAM, StreamType.WORLD_STREAM, StreamType.CHAT_STREAM]
)
def test_every_form_of_datagram(stream):
    messages = [(True, 1, login_by_number(546)), (False, 8, bytes(3000)), (False, 250, b"end")]
    whole = whole_session(messages, config=SessionConfig(stream_type=stream))
    found, notices = follow(whole.datagrams)
    assert said(found) == messages
    assert notices == []


def test_copies_and_another_order_change_nothing(recorded):
    rng = random.Random(7)
    start, rest = recorded[:8], recorded[8:]
    sides = (
        [one for one in rest if one.source == CLIENT],
        [one for one in rest if one.source == SERVER],
    )
    for side in sides:
        side.extend(rng.sample(side, 20))
        for at in range(0, len(side) - 6, 6):
            part = side[at : at + 6]
            rng.shuffle(part)
            side[at : at + 6] = part
    # Disconnects must stay last: they end the session.
    ends = [one for side in sides for one in side if one.payload[1] == 5]
    mixed = [one for side in sides for one in side if one.payload[1] != 5]
    messages, notices = follow(start + mixed + ends)
    for from_client in (True, False):
        wanted = [one for one in MESSAGES if one[0] == from_client]
        assert [one for one in said(messages) if one[0] == from_client] == wanted
    assert notices == []


def test_a_lossy_network_with_all_its_retransmissions():
    rng = random.Random(1)
    conversation = Conversation(loses=lambda: rng.random() < 0.2)
    conversation.run()
    for from_client, opcode, body in MESSAGES:
        conversation.say(from_client, opcode, body)
    conversation.run_until_heard(len(MESSAGES))
    messages, notices = follow(conversation.datagrams)
    for from_client in (True, False):
        wanted = [one for one in MESSAGES if one[0] == from_client]
        assert [one for one in said(messages) if one[0] == from_client] == wanted
    assert notices == []


def test_a_bad_check_is_reported_and_its_packet_missed(recorded):
    spoiled = list(recorded)
    index = next(n for n, one in enumerate(spoiled) if n > 12 and one.payload[1] == 9)
    one = spoiled[index]
    spoiled[index] = Datagram(one.t, one.source, one.destination, one.payload[:-1] + b"?")
    messages, notices = follow(spoiled)
    direction = "10.0.0.1:40001 > 10.0.0.2:9100"
    if one.source == SERVER:
        direction = "10.0.0.2:9100 > 10.0.0.1:40001"
    size = len(one.payload)
    assert notices[0] == f"{direction}: datagram of {size} bytes: bad check"
    assert any("one before them is not in the capture" in text for text in notices)
    assert 0 < len(messages) < len(MESSAGES)
    # A retransmission, as a live session would have had, fills the gap.
    spoiled.insert(index + 3, one)
    messages, notices = follow(spoiled)
    assert sorted(said(messages)) == sorted(MESSAGES)
    assert notices == [f"{direction}: datagram of {size} bytes: bad check"]


def test_many_bad_checks_are_summed_up(recorded):
    bad = [Datagram(one.t, SERVER, CLIENT, b"\0\6\0\0") for one in recorded[:20]]
    messages, notices = follow(recorded[:20] + bad + recorded[20:])
    assert said(messages) == MESSAGES
    assert len(notices) == REPORTED_PER_REASON + 1
    assert notices[-1] == "10.0.0.2:9100 > 10.0.0.1:40001: bad check: 15 more"


def test_any_number_of_sessions_interleaved():
    conversations = [
        whole_session(
            [(True, 1, login_by_number(546, n)), *MESSAGES[1:20]],
            session_id=n + 1,
            client=("10.0.1.1", 2000 + n),
            check_key=n,
        )
        for n in range(12)
    ]
    mixed = sorted(
        (one for conversation in conversations for one in conversation.datagrams),
        key=lambda one: one.t,
    )
    messages, notices = follow(mixed)
    assert notices == []
    for conversation in conversations:
        mine = [one for one in messages if conversation.client in (one.source, one.destination)]
        assert said(mine, conversation.client) == conversation.heard


@pytest.mark.parametrize("check_key", [0x1234ABCD, 0x55])
def test_two_sessions_of_one_address_pair(check_key):
    one = whole_session(MESSAGES[:10])
    two = whole_session(MESSAGES[:10], session_id=99, check_key=check_key)
    messages, notices = follow(one.datagrams + two.datagrams)
    assert said(messages) == MESSAGES[:10] * 2
    assert notices == []


def test_a_client_that_returns_without_a_disconnect_and_with_the_same_number():
    def part():
        conversation = Conversation()
        conversation.run()
        for from_client, opcode, body in MESSAGES[:6]:
            conversation.say(from_client, opcode, body)
            conversation.run()
        return conversation.datagrams

    messages, notices = follow(part() + part())
    assert said(messages) == MESSAGES[:6] * 2
    assert notices == []


def test_late_datagrams_of_the_old_session_do_not_disturb_the_new_one():
    one = whole_session(MESSAGES[:10])
    two = whole_session(MESSAGES[:10], session_id=99, check_key=5)
    late = one.datagrams[-6:]
    messages, notices = follow(one.datagrams + two.datagrams[:9] + late + two.datagrams[9:])
    assert said(messages) == MESSAGES[:10] * 2
    assert notices == []


def test_a_repeated_response_in_the_middle_is_no_new_session(recorded):
    # EQ2Emulator answers late statistics with SessionResponse (docs/protocol/transport.md#keys).
    response = next(one for one in recorded if one.payload[1] == 2)
    messages, notices = follow([*recorded[:20], response, response, *recorded[20:]])
    assert said(messages) == MESSAGES
    assert notices == []


def test_a_response_from_the_clients_side_opens_nothing(recorded):
    request, response = recorded[:2]
    spoof = Datagram(request.t, CLIENT, SERVER, response.payload)
    messages, _ = follow([request, spoof, *recorded[1:]])
    assert said(messages) == MESSAGES


def without_opening(datagrams):
    return [one for one in datagrams if one.payload[1] not in (1, 2)]


def test_keys_from_outside_replace_a_missing_opening(recorded):
    ring = KeyRing()
    ring.add_text("check * 1234abcd")
    messages, notices = follow(without_opening(recorded), keys=ring)
    assert said(messages) == MESSAGES
    assert [text for text in notices if "capture begins after" not in text] == []
    assert len(notices) == 1


def test_the_usual_key_is_tried_without_keys():
    whole = whole_session(MESSAGES[:10], check_key=0x33624702)
    messages, notices = follow(without_opening(whole.datagrams))
    assert said(messages) == MESSAGES[:10]
    assert len(notices) == 1


def test_a_session_whose_key_nobody_knows_is_counted(recorded):
    late = without_opening(recorded)
    messages, notices = follow(late)
    assert messages == []
    (notice,) = notices
    assert notice == (
        f"session 10.0.0.1:40001 > 10.0.0.2:9100: {len(late)} datagrams cannot be followed: the "
        "capture begins after this session did and no known check key fits (give it with "
        "--key 'check 10.0.0.1:40001 HEX', or the server's trace with --keys)"
    )


def test_a_session_is_found_by_its_check_among_many_known_keys(recorded):
    ring = KeyRing()
    others = "".join(f"check {n:08x} {n:08x}\nrc4 {n:08x} {n + 1:016x}\n" for n in range(500))
    ring.add_text(others + "check 5352f60f 1234abcd\n")
    messages, notices = follow(without_opening(recorded), keys=ring)
    assert said(messages) == MESSAGES
    assert len(notices) == 1


RC4 = f"rc4 * {KEY_BLOCK[-8:][::-1].hex()}\n"


@pytest.mark.slow
def test_known_keys_let_a_capture_go_on_from_its_middle():
    talk = [(n % 2 == 0, 4, bytes([n]) * (n % 40)) for n in range(90)]
    whole = whole_session([*MESSAGES[:1], *talk])
    later = whole.datagrams[60:]
    ring = KeyRing()
    ring.add_text(f"check 5352f60f 1234abcd\nrc4 5352f60f {KEY_BLOCK[-8:][::-1].hex()}\n")
    messages, notices = follow(later, keys=ring, version=546)
    found = said(messages)
    for from_client in (True, False):
        wanted = [one for one in talk if one[0] == from_client]
        part = [one for one in found if one[0] == from_client]
        assert 25 < len(part) < len(wanted)
        assert part == wanted[-len(part) :]
    assert {one.name for one in messages} == {"OP_LoginReplyMsg"}
    (notice,) = notices
    assert notice.endswith(": the capture begins after this session did")


def test_what_known_keys_cannot_decode_is_counted_with_the_reason(recorded):
    ring = KeyRing()
    ring.add_text("check * 1234abcd\n" + RC4)
    messages, notices = follow(recorded[60:], keys=ring)
    assert {one.source for one in messages} == {SERVER}
    (text,) = (text for text in notices if "client version" in text)
    assert text.startswith("10.0.0.1:40001 > 10.0.0.2:9100: ")
    assert "messages cannot be decoded: a client's opcodes depend on the client version" in text


def test_keys_in_the_capture_count_as_well(recorded):
    secrets = Secrets(EQ2_SECRETS, b"check * 1234abcd\n")
    other = Secrets(0x544C534B, b"CLIENT_RANDOM aa bb")
    messages, _ = follow([other, secrets, *without_opening(recorded)])
    assert said(messages) == MESSAGES
    _, notices = follow([Secrets(EQ2_SECRETS, b"nonsense\xff"), *recorded])
    assert len(notices) == 1
    assert "keys in the capture, line 1" in notices[0]


def test_an_rc4_key_from_outside_counts_instead_of_the_key_block(recorded):
    # As with a real RSA modulus: what the block shows is not the key. Here the block is blinded.
    blinded = []
    for one in recorded:
        payload = one.payload.replace(KEY_BLOCK[-8:], b"blinded!")
        if payload != one.payload:
            payload = _seal(payload[:-2], 0x1234ABCD)
        blinded.append(Datagram(one.t, one.source, one.destination, payload))
    assert blinded != recorded
    ring = KeyRing()
    ring.add_text(f"rc4 5352f60f {KEY_BLOCK[-8:][::-1].hex()}")
    messages, notices = follow(blinded, keys=ring)
    assert said(messages) == MESSAGES
    assert notices == []
    messages, notices = follow(blinded)
    assert said(messages) != MESSAGES


def _seal(packet, key):
    start = zlib.crc32(key.to_bytes(4, "little"))
    return packet + (zlib.crc32(packet, start) & 0xFFFF).to_bytes(2, "big")


def test_a_start_in_the_middle_is_reported(recorded):
    ring = KeyRing()
    ring.add_text("check * 1234abcd")
    messages, notices = follow(recorded[30:], keys=ring)
    assert messages == []
    assert "the capture begins after this session did" in notices[0]
    assert sum("the capture does not show the key exchange" in text for text in notices) == 2


def test_version_given_overrules_the_one_found(recorded):
    messages, _ = follow(recorded, version=60114)
    assert {one.version for one in messages} == {60114}


def test_a_version_without_opcodes_is_reported_once():
    whole = whole_session([(True, 1, login_by_number(777)), *MESSAGES[1:10]])
    messages, notices = follow(whole.datagrams)
    assert {one.version for one in messages} == {777}
    assert {one.name for one in messages} == {None}
    assert len(notices) == 1
    assert "no opcode table covers client version 777" in notices[0]


def test_other_udp_traffic_is_left_alone(recorded):
    rng = random.Random(3)
    noise = [
        Datagram(1.0, ("10.9.9.9", n), ("10.9.9.8", 53), rng.randbytes(rng.randrange(60)))
        for n in range(300)
    ]
    zeros = [Datagram(1.0, ("10.9.9.9", 1), ("10.9.9.8", 5), b"\0\x09" + bytes(20))]
    messages, notices = follow(noise + zeros + recorded)
    assert said(messages) == MESSAGES
    assert notices == []


def test_a_flood_of_requests_costs_no_session(recorded, monkeypatch):
    monkeypatch.setattr(follow_module, "MAX_CONVERSATIONS", 50)
    request = bytes.fromhex("0001000000025352f60f00000200")
    flood = [Datagram(0.0, ("10.8.0.1", n), SERVER, request) for n in range(1, 500)]
    follower = CaptureFollower(few_messages())
    for one in flood:
        assert list(follower.receive(one)) == []
    assert follower.sessions == 0
    messages = [happening for one in recorded for happening in follower.receive(one)]
    assert said(messages) == MESSAGES
    assert follower.sessions == 1


def test_too_many_sessions_give_up_the_oldest(monkeypatch):
    monkeypatch.setattr(follow_module, "MAX_CONVERSATIONS", 3)
    datagrams = []
    for n in range(5):
        whole = whole_session([(True, 1, login_by_number(546))], client=("10.7.0.1", 100 + n))
        datagrams += whole.datagrams
    messages, notices = follow(datagrams)
    assert len(messages) == 5
    assert notices == ["2 sessions were given up to follow newer ones instead"]


@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 40), st.binary(max_size=60), st.booleans()),
        max_size=40,
    )
)
@tries(40)
def test_garbage_between_good_datagrams_never_raises(garbage):
    conversation = Conversation(check_key=7)
    conversation.run()
    conversation.say(True, 0, login_request(546))
    conversation.run()
    records = list(conversation.datagrams)
    for from_client, opcode, body, sealed in garbage:
        payload = b"\0" + bytes([opcode]) + body
        ends = (CLIENT, SERVER) if from_client else (SERVER, CLIENT)
        records.append(Datagram(2e9, *ends, _seal(payload, 7) if sealed else payload))
    messages, notices = follow(records)
    assert said(messages)[0] == (True, 0, login_request(546))
    assert all("\n" not in text for text in notices)
