"""The way of a datagram through a session, with the bytes of a real client."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from emu.errors import LocalProtocolError
from emu.session import (
    CloseReason,
    KeyEstablished,
    Message,
    Role,
    Session,
    SessionClosed,
    SessionConfig,
    SessionEstablished,
    StatisticsReceived,
    StreamType,
)
from emu.session.codec import KEY_REQUEST, key_block_message
from emu.wire import (
    AppCombined,
    Combined,
    KeepAlive,
    ReliablePacket,
    ServerKeyRequest,
    SessionDisconnect,
    SessionStatResponse,
    pull_packet,
    push_packet,
)
from tests.support.sessions.link import (
    CHECK_KEY,
    KEY_BLOCK,
    SEAL,
    Link,
    connected_link,
    drain,
    make_sessions,
    sealed,
)

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "session.json").read_text())


def validated_server(**settings):
    """A server session that a client has begun to talk to and that has no key yet."""
    session = Session(SessionConfig(**settings), role=Role.SERVER, check_key=CHECK_KEY)
    session.receive_datagram(bytes.fromhex(VECTORS["session_request"]), 0.0)
    session.datagrams_to_send(0.0)
    session.receive_datagram(sealed(KeepAlive()), 0.0)
    session.datagrams_to_send(0.0)
    drain(session)
    return session


def test_the_real_login_of_a_version_546_client():
    session = Session(SessionConfig(), role=Role.SERVER, check_key=VECTORS["check_key"])
    session.receive_datagram(bytes.fromhex(VECTORS["session_request"]), 0.0)
    assert [d.hex() for d in session.datagrams_to_send(0.0)] == [VECTORS["session_response"]]

    session.receive_datagram(bytes.fromhex(VECTORS["statistics"]), 12.345)
    assert drain(session) == [
        SessionEstablished(0x5352F60F),
        StatisticsReceived(0.0, 0.0, 0.0, 0.0, 2, 1),
    ]
    (datagram,) = session.datagrams_to_send(12.345)
    combined = pull_packet(SEAL.unseal(datagram))
    assert isinstance(combined, Combined)
    assert [pull_packet(packet) for packet in combined.packets] == [
        SessionStatResponse(0x52D7, 12345, 2, 1, 2, 2),
        ReliablePacket(0, bytes.fromhex(VECTORS["key_request"])),
    ]

    session.receive_datagram(bytes.fromhex(VECTORS["login"]), 12.4)
    assert drain(session) == [
        KeyEstablished(bytes.fromhex(VECTORS["login_key"])),
        Message(0, bytes.fromhex(VECTORS["login_body"])),
    ]
    assert [d.hex() for d in session.datagrams_to_send(12.4)] == [VECTORS["ack_0"]]


def test_our_client_sends_key_block_and_login_request_in_one_app_combined():
    link = Link(*make_sessions())
    link.client.connect(link.now)
    link.client.send(VECTORS["login_opcode"], bytes.fromhex(VECTORS["login_body"]))
    link.run(1.0)
    datagrams = [datagram for role, datagram in link.wire if role is Role.CLIENT]
    combined = pull_packet(SEAL.unseal(datagrams[2]))  # with the Ack of the key request
    packet = pull_packet(combined.packets[1])
    assert packet.sequence == 0
    first, second = pull_packet(packet.payload).messages
    assert first == key_block_message(KEY_BLOCK)
    assert len(second) in (35, 36)
    assert link.messages(Role.SERVER) == [(0, bytes.fromhex(VECTORS["login_body"]))]


def test_a_client_without_a_message_sends_the_key_block_alone():
    link = Link(*make_sessions())
    link.client.connect(link.now)
    link.run(1.0)
    assert link.server.key == link.client.key == KEY_BLOCK[:-9:-1]


@pytest.mark.parametrize(
    "payload",
    [
        key_block_message(KEY_BLOCK),
        key_block_message(KEY_BLOCK)[1:],
        push_packet(AppCombined((key_block_message(KEY_BLOCK),))),
    ],
)
def test_every_form_of_the_key_block_is_taken(payload):
    session = validated_server()
    session.receive_datagram(sealed(ReliablePacket(0, payload)), 0.0)
    assert session.key == KEY_BLOCK[:-9:-1]


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (key_block_message(KEY_BLOCK)[2:], "message before the key"),
        (b"\x01", "message before the key"),
        (key_block_message(bytes(60)), "zero key"),
        (push_packet(AppCombined((key_block_message(bytes(60)),))), "zero key"),
        (b"\x00\x19\x00\x01\x01", "malformed AppCombined"),
        (b"\x00\x19\x05x", "malformed AppCombined"),
    ],
)
def test_what_is_no_key_block_is_counted_and_the_session_lives(payload, reason):
    session = validated_server()
    session.receive_datagram(sealed(ReliablePacket(0, payload)), 0.0)
    assert session.key is None
    assert session.drops[reason] == 1
    session.receive_datagram(sealed(ReliablePacket(1, key_block_message(KEY_BLOCK))), 0.0)
    assert session.key is not None


def test_a_second_key_block_is_ordinary_data(link):
    key = link.server.key
    sequence = link.client._channel.queue._next
    block = key_block_message(bytes(range(100, 160)))
    link.server.receive_datagram(sealed(ReliablePacket(sequence, block)), link.now)
    assert link.server.key == key
    assert any(isinstance(event, Message) for event in drain(link.server))


def test_the_key_block_acknowledges_the_key_request():
    """Its Ack may get lost, and what is sent next must not wait behind the request's repetition."""
    session = validated_server()
    session.receive_datagram(bytes.fromhex(VECTORS["statistics"]), 1.0)
    session.datagrams_to_send(1.0)
    assert session.statistics().packets_in_flight == 1
    session.receive_datagram(sealed(ReliablePacket(0, key_block_message(KEY_BLOCK))), 1.125)
    assert session.statistics().packets_in_flight == 0
    # A lost key block is sent again after a timeout, so its time is no measure of the path.
    assert session.statistics().smoothed_round_trip is None


def test_the_key_is_asked_for_once_and_repeated_when_asked_again():
    session = validated_server()
    question = sealed(ServerKeyRequest(1))
    session.receive_datagram(question, 1.0)
    (first,) = session.datagrams_to_send(1.0)
    session.receive_datagram(question, 2.0)
    (second,) = session.datagrams_to_send(2.0)
    for datagram in (first, second):
        assert KEY_REQUEST in datagram
        assert b"\x00\x09\x00\x00" + KEY_REQUEST in datagram


def test_no_key_is_asked_for_when_there_is_one(link):
    link.server.receive_datagram(sealed(ServerKeyRequest(9, packets_sent=5)), link.now)
    (datagram,) = link.server.datagrams_to_send(link.now)
    response = pull_packet(SEAL.unseal(datagram))
    assert isinstance(response, SessionStatResponse)
    assert (response.request_id, response.client_sent) == (9, 5)


def test_statistics_of_the_client_set_the_timeout_until_something_is_measured():
    session = validated_server()
    session.receive_datagram(sealed(ServerKeyRequest(1, average=300)), 1.0)
    assert session.statistics().retransmission_timeout == pytest.approx(0.9)


def test_messages_sent_before_the_key_wait_for_it_and_keep_their_order():
    link = Link(*make_sessions())
    for number in range(5):
        link.server.send(number, b"early")
        link.client.send(number, b"early")
    link.client.connect(link.now)
    link.run(2.0)
    assert link.messages(Role.CLIENT) == link.messages(Role.SERVER)
    assert [opcode for opcode, _ in link.messages(Role.CLIENT)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("kind", list(StreamType))
@pytest.mark.parametrize("max_length", [64, 512, 1400])
def test_every_stream_type_carries_small_and_large_messages_both_ways(kind, max_length):
    link = connected_link(SessionConfig(stream_type=kind, max_length=max_length))
    messages = [(1, b""), (2, b"x" * 100), (3, bytes(range(256)) * 40), (4, b"end")]
    for opcode, body in messages:
        link.client.send(opcode, body)
        link.server.send(opcode, body)
    link.run(5.0)
    assert link.messages(Role.CLIENT) == link.messages(Role.SERVER) == messages
    assert max(len(datagram) for _, datagram in link.wire) <= max_length
    assert link.wire[0][1][:2] != b"\x00\x01"


def test_a_client_follows_the_format_that_the_server_names():
    client, server = make_sessions(
        SessionConfig(), SessionConfig(stream_type=StreamType.WORLD_STREAM)
    )
    link = Link(client, server)
    client.connect(link.now)
    client.send(300, bytes(300))
    link.run(2.0)
    assert link.messages(Role.SERVER) == [(300, bytes(300))]
    assert all(datagram[2] in (0x5A, 0xA5) for _, datagram in link.wire[2:])


def test_one_flush_makes_as_few_datagrams_as_possible(link):
    for number in range(10):
        link.client.send(number, b"small")
    link.flush()
    assert link.carried == 1
    link.run(0.06)
    assert len(link.messages(Role.SERVER)) == 10
    assert link.carried == 2  # one Ack


def test_one_ack_answers_many_packets(link):
    datagrams = []
    for number in range(10):
        link.client.send(number, b"x")
        datagrams += link.client.datagrams_to_send(link.now)
    for datagram in datagrams:
        link.server.receive_datagram(datagram, link.now)
    (ack,) = link.server.datagrams_to_send(link.now)
    assert SEAL.unseal(ack)[:2] == b"\x00\x15"


def test_fragments_fill_their_datagrams(link):
    link.client.send(1, bytes(2000))
    sizes = [len(datagram) for datagram in link.client.datagrams_to_send(link.now)]
    assert sizes[:-1] == [512] * (len(sizes) - 1)
    assert len(sizes) == 4


def test_the_longest_message_arrives_and_one_byte_more_is_our_own_error():
    link = connected_link(SessionConfig(message_size_limit=10_000))
    for sender, receiver in ((link.client, Role.SERVER), (link.server, Role.CLIENT)):
        with pytest.raises(LocalProtocolError, match="may have 9997 bytes"):
            sender.send(1, bytes(9_998))
        longest = random.Random(1).randbytes(9_997)
        sender.send(300, longest)
        link.run(5.0)
        assert link.messages(receiver) == [(300, longest)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_length": 64, "stream_type": StreamType.ZONE_STREAM},
        {"deflate_level": 1, "deflate_window_bits": 9},
        {"deflate_level": 1, "deflate_memory_level": 1},
    ],
)
def test_whatever_send_accepts_the_receiver_takes(settings, seed):
    """Bytes that cannot be compressed, the longest opcode, and a first message behind the key."""
    config = SessionConfig(**settings)
    body = random.Random(seed).randbytes(config.message_size_limit - 3)
    client, server = make_sessions(config)
    link = Link(client, server, delay=0.001)
    client.send(300, body)
    client.connect(link.now)
    link.run(1.0)
    server.send(300, body)
    link.settle()
    assert link.messages(Role.SERVER) == [(300, body)]
    assert link.messages(Role.CLIENT) == [(300, body)]


@pytest.mark.parametrize("size", [3_000, 4_000, 4_096, 5_000])
def test_a_first_message_joins_the_key_block_only_if_the_server_takes_both(size):
    client, server = make_sessions()
    link = Link(client, server)
    client.send(1, bytes(size))
    client.connect(link.now)
    link.run(2.0)
    assert link.messages(Role.SERVER) == [(1, bytes(size))]


@pytest.mark.parametrize(("over", "alive"), [(0, True), (1, False), (2**32 - 1 - 10_753, False)])
def test_the_announced_size_of_a_peers_message_is_bounded(over, alive):
    config = SessionConfig(message_size_limit=10_000)
    assert config.payload_size_limit == 10_753
    link = connected_link(config)
    sequence = link.server._channel.window.expected
    total = config.payload_size_limit + over
    packet = b"\x00\x0d" + sequence.to_bytes(2, "big") + total.to_bytes(4, "big") + b"x"
    link.server.receive_datagram(SEAL.seal(packet), link.now)
    assert link.server.ended is not alive
    if not alive:
        assert SessionClosed("fragmented message too long") in drain(link.server)


def test_before_the_key_messages_are_bounded_more_tightly():
    session = validated_server()
    packet = b"\x00\x0d\x00\x00" + (4097).to_bytes(4, "big") + b"x"
    session.receive_datagram(SEAL.seal(packet), 0.0)
    assert session.ended


@pytest.mark.parametrize(("size", "dropped"), [(2048, False), (2049, True)])
def test_the_size_of_a_datagram_is_bounded(size, dropped):
    session = connected_link().server
    sequence = session._channel.window.expected
    session.receive_datagram(sealed(ReliablePacket(sequence, b"\x01" * (size - 6))), 1.0)
    assert ("datagram too long" in session.drops) is dropped
    assert session.statistics().messages_received == (0 if dropped else 1)


@pytest.mark.parametrize(("depth", "echoes"), [(4, 1), (5, 0)])
def test_the_depth_of_combined_packets_is_bounded(depth, echoes):
    session = connected_link().server
    packet = push_packet(KeepAlive())
    for _ in range(depth):
        packet = push_packet(Combined((packet,)))
    session.receive_datagram(SEAL.seal(packet), 1.0)
    assert len(session.datagrams_to_send(1.0)) == echoes
    assert session.drops.get("combined packets too deep", 0) == 1 - echoes


@pytest.mark.parametrize(("count", "alive"), [(20, True), (21, False)])
def test_the_number_of_messages_in_an_app_combined_is_bounded(count, alive):
    link = connected_link(SessionConfig(app_combined_count_limit=20))
    sequence = link.server._channel.window.expected
    payload = push_packet(AppCombined((b"\x01",) * count))
    link.server.receive_datagram(sealed(ReliablePacket(sequence, payload)), link.now)
    assert link.server.ended is not alive


def test_what_a_server_inflates_into_a_client_is_bounded():
    generous = SessionConfig(deflate_level=9, message_size_limit=600_000)
    link = Link(*make_sessions(SessionConfig(), generous))
    link.client.connect(link.now)
    link.run(1.0)
    link.server.send(1, bytes(499_999))  # with the opcode the limit
    link.run(1.0)
    assert link.messages(Role.CLIENT) == [(1, bytes(499_999))]
    link.server.send(1, bytes(500_000))
    link.run(1.0)
    assert SessionClosed("inflated message too long") in link.events[Role.CLIENT]


def test_a_send_queue_over_its_limit_ends_the_session():
    config = SessionConfig(send_queue_limit=10_000)
    link = connected_link(config, loss=1.0)
    link.client.send(1, bytes(9_000))
    assert not link.client.ended
    link.client.send(1, bytes(2_000))
    assert drain(link.client)[-1] == SessionClosed(CloseReason.SEND_QUEUE_FULL)
    waiting = Session(config, role=Role.CLIENT, session_id=1, key_block=KEY_BLOCK)
    waiting.send(1, bytes(10_000))
    waiting.send(1, b"x")
    assert waiting.ended


def test_a_packet_without_acknowledgment_ends_the_session_after_the_last_attempt():
    link = connected_link(SessionConfig(transmission_limit=4, idle_timeout=1000.0))
    link.client.send(1, b"lost")
    link.loss = 1.0
    link.run(100.0)
    assert link.events[Role.CLIENT][-1] == SessionClosed(CloseReason.GAVE_UP)
    assert link.client.statistics().queued_bytes == 0
    assert link.client.get_timer() is None


def test_sending_after_the_close_is_counted_and_dropped(link):
    link.client.close()
    link.client.send(1, b"too late")
    link.run(2.0)
    link.client.send(1, b"too late")
    assert link.client.drops["sent after close"] == 2
    assert link.messages(Role.SERVER) == []


def test_taking_datagrams_out_never_ends_a_session():
    link = connected_link(SessionConfig(transmission_limit=1))
    link.server.send(1, b"x")
    link.server.datagrams_to_send(link.now)
    due = link.server.get_timer()
    assert link.server.datagrams_to_send(due) == []
    assert not link.server.ended
    link.server.handle_timer(due)
    assert drain(link.server)[-1] == SessionClosed(CloseReason.GAVE_UP)


@pytest.mark.parametrize("opcode", [-1, 65536])
def test_an_opcode_that_does_not_fit_is_our_own_error_before_the_key_too(opcode):
    client, _ = make_sessions()
    with pytest.raises(LocalProtocolError):
        client.send(opcode, b"")
    with pytest.raises(LocalProtocolError):
        connected_link().client.send(opcode, b"")


def test_sequence_numbers_wrap_in_the_middle_of_a_message():
    link = connected_link(SessionConfig(first_sequence=0xFFFD))
    body = bytes(range(256)) * 20
    link.client.send(1, body)
    link.server.send(2, body)
    link.run(2.0)
    assert link.messages(Role.SERVER) == [(1, body)]
    assert link.messages(Role.CLIENT) == [(2, body)]


def test_a_client_makes_its_id_and_its_key_block_unless_given_them():
    one, other = Session.client(), Session.client()
    assert (one.role, one.config) == (Role.CLIENT, SessionConfig())
    assert one.session_id != other.session_id
    server = Session(SessionConfig(), role=Role.SERVER, check_key=CHECK_KEY)
    link = Link(one, server)
    one.connect(link.now)
    link.run(1.0)
    assert one.key
    assert one.key == server.key
    given = Session.client(SessionConfig(window=9), session_id=7, key_block=KEY_BLOCK)
    assert (given.session_id, given.config.window) == (7, 9)
    with pytest.raises(LocalProtocolError, match="key block"):
        Session.client(key_block=b"short")
    drawn = Session.client(random_bytes=lambda size: bytes(range(1, size + 1)))
    assert drawn.session_id == 0x01020304


@pytest.mark.parametrize("closer", list(Role))
def test_a_disconnect_ends_both_sides_for_different_reasons(closer):
    """The other side answers a SessionDisconnect with its own; see docs/protocol/transport.md."""
    link = connected_link()
    sides = {Role.CLIENT: link.client, Role.SERVER: link.server}
    sides[closer].close()
    link.run(1.0)
    ends = {role: link.events[role][-1] for role in Role}
    other = next(role for role in Role if role is not closer)
    assert ends == {
        closer: SessionClosed(CloseReason.LOCAL), other: SessionClosed(CloseReason.PEER),
    }  # fmt: skip


def test_a_disconnect_is_sent_although_the_last_message_is_not_acknowledged():
    link = connected_link()
    link.server.send(4, b"denied")
    link.server.close(6)
    sent = link.server.datagrams_to_send(link.now)
    while (timer := link.server.get_timer()) is not None:
        link.server.handle_timer(timer)
        sent += link.server.datagrams_to_send(timer)
    disconnect = SEAL.seal(push_packet(SessionDisconnect(link.server.session_id, 6)))
    assert sent[-1] == disconnect
