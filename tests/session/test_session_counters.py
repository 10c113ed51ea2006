"""What every session has: counters, drops, the bound for unvalidated addresses."""

from __future__ import annotations

import gc
import random
import tracemalloc

import pytest

from emu.errors import LocalProtocolError
from emu.session import DatagramDropped, Role, Session, SessionConfig
from emu.wire import (
    Ack,
    Combined,
    OutOfOrderAck,
    Seal,
    ServerKeyRequest,
    SessionRequest,
    pull_packet,
    push_packet,
)
from tests.support.sessions.link import CHECK_KEY, KEY_BLOCK, connected_link, drain


@pytest.mark.parametrize(
    "block", [b"", bytes(58) + b"1", KEY_BLOCK + b"1", b"\x01" * 52 + bytes(8)]
)
def test_a_client_needs_a_whole_key_block_with_a_key_in_it(block):
    with pytest.raises(LocalProtocolError):
        Session(SessionConfig(), role=Role.CLIENT, session_id=1, key_block=block)


def test_a_session_has_no_other_attributes():
    with pytest.raises(AttributeError):
        Session(SessionConfig(), role=Role.SERVER).anything = 1  # type: ignore[attr-defined]


def test_each_reason_is_reported_once_and_counted_always():
    session = connected_link().server
    for _ in range(3):
        session.receive_datagram(b"\x01garbage", 1.0)
        session.receive_datagram(b"\x00\x06\x00\x00", 1.0)
    assert dict(session.drops) == {"not a protocol packet": 3, "bad check": 3}
    assert drain(session) == [
        DatagramDropped("not a protocol packet"),
        DatagramDropped("bad check"),
    ]


def test_the_counts_of_drops_cannot_be_changed_from_outside():
    session = connected_link().server
    with pytest.raises(TypeError):
        session.drops["bad check"] = 5
    session.receive_datagram(b"", 1.0)
    with pytest.raises(TypeError):
        session.drops["short datagram"] = 5


def test_an_unvalidated_address_gets_three_times_its_bytes_at_most():
    session = Session(SessionConfig(), role=Role.SERVER, check_key=1)
    request = push_packet(SessionRequest(7))
    got = 0
    for number in range(1, 50):
        session.receive_datagram(request, number * 0.05)
        got += sum(map(len, session.datagrams_to_send(number * 0.05)))
        assert got <= 3 * len(request) * number
    assert got == 49 * 21


def test_an_idle_session_after_a_login_costs_less_than_six_kib():
    links = []
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            link = connected_link()
            link.client.send(0, b"login")
            link.server.send(4, bytes(range(256)) * 4)
            link.run(1.0)
            links.append(link.server)
        del link
        gc.collect()
        used = (tracemalloc.get_traced_memory()[0] - before) / len(links)
    finally:
        tracemalloc.stop()
    assert all(session._codec._deflater.compressor is None for session in links)
    assert used < 6 * 1024  # two cipher contexts of about 1.4 KiB are not seen by this


def test_an_answer_beyond_the_bound_is_kept_back():
    session = Session(SessionConfig(amplification_limit=1), role=Role.SERVER, check_key=1)
    request = push_packet(SessionRequest(7))
    session.receive_datagram(request, 0.0)
    assert session.datagrams_to_send(0.0) == []  # 21 bytes for 14
    assert session.drops["answer larger than allowed"] == 1
    session.receive_datagram(request, 0.0)
    assert len(session.datagrams_to_send(0.0)) == 1


def test_only_an_acknowledgment_of_something_proves_more_than_a_public_check(link):
    assert link.client.acknowledged
    assert link.server.acknowledged
    session = Session(SessionConfig(), role=Role.SERVER, check_key=CHECK_KEY, check_is_public=True)
    session.accept(7, 512, 0.0)
    seal = Seal(CHECK_KEY)
    for number, packet in enumerate((ServerKeyRequest(1), Ack(0xFFFF), Ack(0), OutOfOrderAck(0))):
        session.receive_datagram(seal.seal(push_packet(packet)), 0.1)
        assert session.acknowledged == (number >= 2)
        session.datagrams_to_send(0.1)


def without_acks(datagram: bytes) -> bytes:
    """Return a client's datagram without what it acknowledges."""
    seal = Seal(CHECK_KEY)
    packet = pull_packet(seal.unseal(datagram))
    if not isinstance(packet, Combined):
        return datagram
    rest = [part for part in packet.packets if not isinstance(pull_packet(part), Ack)]
    return b"".join(map(seal.seal, rest))


def test_under_a_public_key_the_bound_on_answers_ends_with_the_first_acknowledgment():
    client = Session(SessionConfig(), role=Role.CLIENT, session_id=7, key_block=KEY_BLOCK)
    server = Session(SessionConfig(), role=Role.SERVER, check_key=CHECK_KEY, check_is_public=True)
    client.connect(0.0)
    given = got = 0
    for _ in range(3):
        for data in client.datagrams_to_send(0.0):
            given += len(data)
            server.receive_datagram(without_acks(data) if server.validated else data, 0.0)
        for data in server.datagrams_to_send(0.0):
            got += len(data)
            client.receive_datagram(data, 0.0)
    assert server.key is not None
    assert not server.acknowledged
    server.send(1, random.Random(1).randbytes(10_000))
    got += sum(map(len, server.datagrams_to_send(0.1)))
    assert got <= 3 * given
    assert server.drops["answer larger than allowed"] == 1
    server.receive_datagram(Seal(CHECK_KEY).seal(push_packet(Ack(1))), 0.2)
    while got <= 3 * given:
        now = server.get_timer()
        assert now is not None
        server.handle_timer(now)
        got += sum(map(len, server.datagrams_to_send(now)))
    assert server.drops["answer larger than allowed"] == 1


def test_under_a_public_key_retransmissions_wait_for_what_the_peer_pays():
    session = Session(SessionConfig(), role=Role.SERVER, check_key=CHECK_KEY, check_is_public=True)
    session.accept(7, 512, 0.0)
    question = Seal(CHECK_KEY).seal(push_packet(ServerKeyRequest(1)))
    session.receive_datagram(question, 0.0)
    (answer,) = session.datagrams_to_send(0.0)
    now = session.get_timer()
    session.handle_timer(now)
    assert session.datagrams_to_send(now) == []
    assert session.drops["answer larger than allowed"] == 1
    session.receive_datagram(question, now + 1.0)
    assert len(answer) in map(len, session.datagrams_to_send(now + 1.0))
