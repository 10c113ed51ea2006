"""The protocol packets: real bytes, round trips, wrong lengths and garbage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LimitExceeded, LocalProtocolError, MalformedDatagram
from emu.wire import (
    Ack,
    AppCombined,
    Combined,
    Fragment,
    KeepAlive,
    OutOfOrderAck,
    OutOfSession,
    ProtocolOpcode,
    ReliablePacket,
    ServerKeyRequest,
    SessionDisconnect,
    SessionRequest,
    SessionResponse,
    SessionStatResponse,
    pull_packet,
    push_packet,
)
from emu.wire.packets import (
    OTHER_CHANNELS,
    PART_LIMIT,
    pull_acknowledged,
    pull_sequenced,
    push_sequenced,
)

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "session.json").read_text())
U8, U16, U32, U64 = (st.integers(0, 2**bits - 1) for bits in (8, 16, 32, 64))
PARTS = st.lists(
    st.one_of(st.binary(min_size=1, max_size=600), st.binary(min_size=250, max_size=260))
)
PACKETS = st.one_of(
    st.builds(SessionRequest, U32, U32, U32, st.binary(max_size=40)),
    st.builds(SessionResponse, U32, U32, U32, U8, U8, U8, U32),
    st.builds(Combined, PARTS.map(tuple)),
    st.builds(SessionDisconnect, U32, U16),
    st.builds(KeepAlive),
    st.builds(ServerKeyRequest, U16, U32, U32, U32, U32, U32, U64, U64),
    st.builds(SessionStatResponse, U16, U32, U64, U64, U64, U64),
    st.builds(ReliablePacket, U16, st.binary(min_size=1, max_size=600)),
    st.builds(Fragment, U16, st.binary(min_size=1, max_size=600)),
    st.builds(OutOfOrderAck, U16),
    st.builds(Ack, U16),
    st.builds(AppCombined, PARTS.map(tuple)),
    st.builds(OutOfSession),
)
EXAMPLES = {
    ProtocolOpcode.SESSION_REQUEST: SessionRequest(1),
    ProtocolOpcode.SESSION_RESPONSE: SessionResponse(1, 2),
    ProtocolOpcode.COMBINED: Combined((b"\x00\x06",)),
    ProtocolOpcode.SESSION_DISCONNECT: SessionDisconnect(1),
    ProtocolOpcode.KEEP_ALIVE: KeepAlive(),
    ProtocolOpcode.SERVER_KEY_REQUEST: ServerKeyRequest(1),
    ProtocolOpcode.SESSION_STAT_RESPONSE: SessionStatResponse(1),
    ProtocolOpcode.PACKET: ReliablePacket(1, b"x"),
    ProtocolOpcode.FRAGMENT: Fragment(1, b"x"),
    ProtocolOpcode.OUT_OF_ORDER_ACK: OutOfOrderAck(1),
    ProtocolOpcode.ACK: Ack(1),
    ProtocolOpcode.APP_COMBINED: AppCombined((b"x",)),
    ProtocolOpcode.OUT_OF_SESSION: OutOfSession(),
}


@given(PACKETS)
def test_every_packet_comes_back_as_it_was_pushed(packet):
    assert pull_packet(push_packet(packet)) == packet


def test_there_is_an_example_of_each_of_the_thirteen():
    assert set(EXAMPLES) == set(ProtocolOpcode)
    assert len(EXAMPLES) == 13
    for opcode, packet in EXAMPLES.items():
        assert push_packet(packet)[:2] == bytes((0, opcode))


def test_real_session_set_up():
    request = pull_packet(bytes.fromhex(VECTORS["session_request"]))
    assert request == SessionRequest(0x5352F60F, 512, 2)
    response = SessionResponse(0x5352F60F, VECTORS["check_key"], 512)
    assert push_packet(response).hex() == VECTORS["session_response"]
    statistics = bytes.fromhex(VECTORS["statistics"])[:-2]
    question = ServerKeyRequest(0x52D7, packets_sent=2, packets_received=1)
    assert pull_packet(statistics) == question
    assert push_packet(question) == statistics


def test_real_first_packet_is_two_messages():
    packet = pull_packet(bytes.fromhex(VECTORS["login"])[:-2])
    assert isinstance(packet, ReliablePacket)
    assert packet.sequence == 0
    combined = pull_packet(packet.payload)
    assert isinstance(combined, AppCombined)
    assert [len(message) for message in combined.messages] == [68, 35]


def test_session_request_with_a_name_behind_it_is_taken():
    data = bytes.fromhex(VECTORS["session_request"]) + b"LoginUdp_9\x00"
    assert pull_packet(data) == SessionRequest(0x5352F60F, 512, 2, b"LoginUdp_9\x00")
    assert pull_packet(data[:15]) == SessionRequest(0x5352F60F, 512, 2, b"L")


def test_session_response_without_its_last_number_is_taken():
    data = bytes.fromhex(VECTORS["session_response"])[:-4]
    assert pull_packet(data) == SessionResponse(0x5352F60F, VECTORS["check_key"], 512)


@pytest.mark.parametrize("opcode", list(ProtocolOpcode))
def test_every_packet_cut_short_is_malformed_or_another_whole_one(opcode):
    data = push_packet(EXAMPLES[opcode])
    for end in range(len(data)):
        try:
            packet = pull_packet(data[:end])
        except MalformedDatagram:
            continue
        assert isinstance(packet, (Combined, AppCombined, SessionResponse, ReliablePacket))


@pytest.mark.parametrize(
    "opcode",
    [
        ProtocolOpcode.SESSION_DISCONNECT,
        ProtocolOpcode.KEEP_ALIVE,
        ProtocolOpcode.SERVER_KEY_REQUEST,
        ProtocolOpcode.SESSION_STAT_RESPONSE,
        ProtocolOpcode.ACK,
        ProtocolOpcode.OUT_OF_ORDER_ACK,
        ProtocolOpcode.SESSION_RESPONSE,
    ],
)
def test_a_byte_too_many_is_malformed(opcode):
    with pytest.raises(MalformedDatagram, match="wrong packet length"):
        pull_packet(push_packet(EXAMPLES[opcode]) + b"\x00")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "short datagram"),
        ("00", "short datagram"),
        ("0109", "not a protocol packet"),
        ("0004", "unknown protocol opcode"),
        ("00ff", "unknown protocol opcode"),
        ("000900", "wrong packet length"),
        ("000d0000", "empty payload"),
        ("000302", "truncated packet"),
        ("0003ff", "truncated packet"),
        ("0003ff01", "truncated packet"),
        ("0003ffff", "truncated packet"),
        ("00030300", "truncated packet"),
        ("0019ffffff", "truncated packet"),
        ("0019ffffffffffffff61", "truncated packet"),
    ],
)
def test_each_malformed_packet_has_its_reason(data, reason):
    with pytest.raises(MalformedDatagram) as caught:
        pull_packet(bytes.fromhex(data))
    assert caught.value.reason == reason


@pytest.mark.parametrize("opcode", sorted(OTHER_CHANNELS))
def test_packets_of_other_channels_differ_from_unknown_ones(opcode):
    with pytest.raises(MalformedDatagram, match="unused channel"):
        pull_packet(bytes((0, opcode, 0, 0, 1)))


@given(st.binary(max_size=80), st.sampled_from(list(ProtocolOpcode)))
def test_garbage_is_a_packet_or_malformed(tail, opcode):
    data = bytes((0, opcode)) + tail
    try:
        packet = pull_packet(data)
    except MalformedDatagram:
        return
    assert pull_packet(push_packet(packet)) == packet


@pytest.mark.parametrize(
    "packet",
    [
        Ack(65536),
        Ack(-1),
        SessionRequest(2**32),
        ReliablePacket(70000, b"x"),
        SessionResponse(1, 2, 3, 256),
    ],
)
def test_a_value_that_does_not_fit_is_our_own_error(packet):
    with pytest.raises(LocalProtocolError):
        push_packet(packet)


@pytest.mark.parametrize("opcode", [ProtocolOpcode.COMBINED, ProtocolOpcode.APP_COMBINED])
def test_an_empty_part_spoils_the_whole(opcode):
    with pytest.raises(MalformedDatagram, match="empty part"):
        pull_packet(opcode.to_bytes(2, "big") + b"\2ab\0")


@pytest.mark.parametrize("opcode", [ProtocolOpcode.COMBINED, ProtocolOpcode.APP_COMBINED])
def test_the_number_of_parts_is_bounded_while_they_are_read(opcode):
    with pytest.raises(LimitExceeded, match="too many parts"):
        pull_packet(opcode.to_bytes(2, "big") + b"\1a" * (PART_LIMIT + 1))


@given(U16, st.binary(min_size=1, max_size=40), st.sampled_from((ReliablePacket, Fragment)))
def test_the_short_way_of_a_packet_is_the_long_one(sequence, payload, kind):
    data = push_packet(kind(sequence, payload))
    assert pull_sequenced(data) == (sequence, payload)
    assert push_sequenced(data[1], sequence) + payload == data


@given(U16, st.sampled_from((Ack, OutOfOrderAck)))
def test_the_short_way_of_an_ack_is_the_long_one(sequence, kind):
    data = push_packet(kind(sequence))
    assert pull_acknowledged(data) == sequence
    assert push_sequenced(data[1], sequence) == data


@pytest.mark.parametrize("data", ["0009", "000900"])
def test_the_short_way_refuses_what_the_long_one_does(data):
    cut = bytes.fromhex(data)
    with pytest.raises(MalformedDatagram) as short:
        pull_sequenced(cut)
    with pytest.raises(MalformedDatagram) as long:
        pull_packet(cut)
    assert short.value.reason == long.value.reason


@pytest.mark.parametrize("data", ["0015", "001500", "0015000000"])
def test_an_ack_has_exactly_one_number(data):
    with pytest.raises(MalformedDatagram, match="wrong packet length"):
        pull_acknowledged(bytes.fromhex(data))
