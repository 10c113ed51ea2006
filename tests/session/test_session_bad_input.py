"""What a peer with the right check may still do wrong: a counted drop, or the session's end."""

from __future__ import annotations

import zlib

import pytest

from emu.errors import PeerError
from emu.session import SessionClosed, SessionConfig, StreamType
from emu.wire import Combined, Fragment, KeepAlive, ReliablePacket, push_packet
from tests.support.sessions.link import SEAL, connected_link, drain, sealed


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (b"\x00\x19\x01\x01", "not allowed now"),
        (b"\x00\x00\x01", "unknown protocol opcode"),
        (b"\x00\x0a\x00\x00\x01", "unused channel"),
        (b"\x00\x04", "unknown protocol opcode"),
        (b"\x00\x08" + bytes(38), "not allowed now"),
        (b"\x00\x09\x00", "wrong packet length"),
        (b"\x00\x09\x00\x00", "duplicate packet"),
        (b"\x00\x09\xff\x00\x01", "duplicate packet"),
        (b"\x00\x09\x70\x00\x01", "outside the window"),
        (b"\x00\x15\x40\x00", "ack of a packet never sent"),
        (b"\x00\x03\xff\xff", "truncated packet"),
        (b"\x00\x03\x0e\x00\x01" + bytes(12), "not allowed inside a combined packet"),
        (b"\x00\x03\x02\x01\x06", "not a protocol packet"),
        (b"\x00\x07", "wrong packet length"),
        (b"\x00\x07" + bytes(37), "wrong packet length"),
        (b"\x00\x06\x00", "wrong packet length"),
        (b"\x00\x15\x00\x00\x00", "wrong packet length"),
        (b"\x00\x11\x7f\xff", "ack of a packet never sent"),
        (b"\x00\x05\x53\x52\xf6\x0f\x00", "wrong packet length"),
        (b"\x00\x05\x53\x52\xf6\x0e\x00\x06", "disconnect of another session"),
        (b"\x00\x0d\x01", "wrong packet length"),
        (b"\x00\x0d\x00\x01", "empty payload"),
        (b"\x00\x0e\x00\x00\xff\xff\xff\xff", "unused channel"),
        (b"\x00\x03" + b"\xff" * 8, "truncated packet"),
        (b"\x00\x03\xff\x00\x00", "empty part"),
        (b"\x00\x03\x04\x00\x0d\x00\x00", "empty payload"),
        (b"\x00\x03\x0a\x00\x03\x07\x00\x03\x04\x00\x03\x09\x00", "truncated packet"),
        (b"\x00\x03\x04\x00\x19\x01a", "not allowed now"),
        (b"\x00\xff" + bytes(500), "unknown protocol opcode"),
    ],
)
def test_each_bad_packet_is_dropped_with_its_reason(packet, reason):
    session = connected_link().server
    session.receive_datagram(SEAL.seal(packet), 1.0)
    assert dict(session.drops) == {reason: 1}
    assert not session.ended


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"\x00", "unknown payload marker"),
        (b"\x00\x01x", "unknown payload marker"),
        (b"\x00\x19\x05\x00\x19\x02ab", "AppCombined inside an AppCombined"),
        (b"\xff", None),
        (b"\x00\x00", None),
        (b"\x00\x19\x02\x00\x00", None),
        (b"\x00\x19\x01\x00", "AppCombined inside an AppCombined"),
        (b"\x00\x19\xff\x00\x02\x00\x19", "AppCombined inside an AppCombined"),
        (b"\x00\xff\xff\xff\xff", "unknown payload marker"),
    ],
)
def test_each_bad_payload_is_dropped_with_its_reason(link, payload, reason):
    sequence = link.server._channel.window.expected
    link.server.receive_datagram(sealed(ReliablePacket(sequence, payload)), 1.0)
    assert dict(link.server.drops) == ({reason: 1} if reason else {})
    assert not link.server.ended


@pytest.mark.parametrize("combined", [False, True])
def test_a_packet_without_payload_is_acknowledged_and_passed(link, combined):
    """Nothing else gets past it: packets have an order (docs/protocol/transport.md#payloads)."""
    server = link.server
    sequence = server._channel.window.expected
    packet = b"\x00\x09" + sequence.to_bytes(2, "big")
    server.receive_datagram(SEAL.seal(b"\x00\x03\x04" + packet if combined else packet), 1.0)
    assert SEAL.seal(b"\x00\x15" + sequence.to_bytes(2, "big")) in server.datagrams_to_send(1.0)
    assert dict(server.drops) == {"empty payload": 1}
    # One that comes early waits for those before it.
    early = SEAL.seal(b"\x00\x09" + (sequence + 2).to_bytes(2, "big"))
    server.receive_datagram(early, 1.1)
    server.receive_datagram(sealed(ReliablePacket(sequence + 1, b"\x00\x00")), 1.2)
    assert server._channel.window.expected == sequence + 3
    assert not server.ended


@pytest.mark.parametrize(
    ("chunks", "reason"),
    [
        ((b"\x00\x00\x00\x00",), "first fragment too short"),
        ((b"\x00\x00\x00\x00x",), "fragments longer than announced"),
        ((b"\x00\x00\x00\x05xxx", b"xxx"), "fragments longer than announced"),
        ((b"\x80\x00\x00\x00x",), "fragmented message too long"),
        ((b"\x00\x01\x00\x00x", None), "packet inside a run of fragments"),
        ((b"\x00\x00\x00\x04\x00\x19\x05x",), "malformed AppCombined"),
    ],
)
def test_fragments_that_lose_the_order_end_the_session(link, chunks, reason):
    sequence = link.server._channel.window.expected
    for number, chunk in enumerate(chunks):
        packet = (
            ReliablePacket(sequence + number, b"x")
            if chunk is None
            else Fragment(sequence + number, chunk)
        )
        link.server.receive_datagram(sealed(packet), 1.0)
    assert SessionClosed(reason) in drain(link.server)
    assert link.server.held_bytes == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "missing compression marker"),
        (b"\x5b\x00\x00x", "missing compression marker"),
        (b"\x5a", "damaged compressed datagram"),
        (b"\x5a" + zlib.compress(b"\x00\x01x")[:-1], "damaged compressed datagram"),
        (b"\x5a" + zlib.compress(b"\x00\x01x") + b"x", "damaged compressed datagram"),
        (b"\x5a" + zlib.compress(bytes(8193)), "inflated datagram too long"),
        (b"\xa5", "wrong packet length"),
    ],
)
def test_a_datagram_that_cannot_be_inflated_is_dropped(body, reason):
    session = connected_link(SessionConfig(stream_type=StreamType.ZONE_STREAM)).server
    session.receive_datagram(SEAL.seal(b"\x00\x09" + body), 1.0)
    assert dict(session.drops) == {reason: 1}
    assert not session.ended


@pytest.mark.parametrize("parts", [b"\x05x", b"\x00", b"\x01a\x00", b"\xff\x00"])
def test_an_app_combined_that_cannot_be_read_ends_a_session_with_a_key(link, parts):
    """Nobody knows how far the cipher stream went on: every later message would be noise."""
    sequence = link.server._channel.window.expected
    link.server.receive_datagram(sealed(ReliablePacket(sequence, b"\x00\x19" + parts)), 1.0)
    assert SessionClosed("malformed AppCombined") in drain(link.server)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (b"\x00" * 2000, "empty part"),
        (b"\x02\x00\x06" * 301, "too many parts"),
        (b"\xff\x03\x89\x00\x03" + b"\x02\x00\x06" * 301, "too many parts"),
    ],
)
def test_a_datagram_of_very_many_parts_is_one_drop(parts, reason):
    session = connected_link().server
    session.receive_datagram(SEAL.seal(b"\x00\x03" + parts), 1.0)
    assert dict(session.drops) == {reason: 1}
    assert session.datagrams_to_send(1.0) == []


def test_the_parts_of_all_combined_packets_in_a_datagram_count_together():
    session = connected_link().server
    inner = push_packet(Combined((b"\x00\x06",) * 100))
    session.receive_datagram(SEAL.seal(push_packet(Combined((inner,) * 4))), 1.0)
    assert dict(session.drops) == {"too many parts": 2}


def test_bad_parts_of_a_combined_packet_cost_no_exception_each(monkeypatch):
    made = []
    monkeypatch.setattr(PeerError, "__init__", lambda self, reason: made.append(reason))
    session = connected_link().server
    for part in (b"\x00\xee", b"\x01\x06", b"\x00", b"\x00\x01", b"\x00\x0a"):
        session.receive_datagram(SEAL.seal(push_packet(Combined((part,) * 300))), 1.0)
    assert sum(session.drops.values()) == 5 * 300
    assert made == []


def test_one_bad_part_of_a_combined_packet_spoils_only_itself():
    session = connected_link().server
    packet = push_packet(Combined((b"\x00\x04", push_packet(KeepAlive()), b"\x00")))
    session.receive_datagram(SEAL.seal(packet), 1.0)
    assert dict(session.drops) == {"unknown protocol opcode": 1, "not a protocol packet": 1}
    assert len(session.datagrams_to_send(1.0)) == 1
