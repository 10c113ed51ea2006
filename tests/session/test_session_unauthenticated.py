"""What a client gets before a service has vouched for it: enough to say who it is, and no more."""

from __future__ import annotations

import pytest

from emu.session import CloseReason, Role, SessionClosed, SessionConfig
from emu.wire import AppCombined, Fragment, ReliablePacket, push_packet
from tests.support.sessions.link import Link, drain, make_sessions, sealed

CONFIG = SessionConfig()


def client():
    """A link whose server has a key and does not know the client."""
    link = Link(*make_sessions(trusted=False), delay=0.001)
    link.client.connect(link.now)
    link.run(0.1)
    assert link.server.key is not None
    link.events[Role.SERVER].clear()
    return link


def reason_of(link):
    """Return why the server ended the session, None while it lives."""
    events = [*link.events[Role.SERVER], *drain(link.server)]
    return next((event.reason for event in events if isinstance(event, SessionClosed)), None)


def sent_at_once(link, count):
    """Let the server take so many messages before its owner looks."""
    for _ in range(count):
        link.client.send(3, b"x" * 300)
    for datagram in link.client.datagrams_to_send(link.now):
        link.server.receive_datagram(datagram, link.now)


@pytest.mark.parametrize(("count", "alive"), [(4, True), (5, False)])
def test_few_messages_of_an_unauthenticated_client_wait(count, alive):
    link = client()
    sent_at_once(link, count)
    assert reason_of(link) == (None if alive else CloseReason.FLOOD)


@pytest.mark.parametrize(("count", "alive"), [(16, True), (17, False)])
def test_more_messages_before_a_login_end_the_session(count, alive):
    link = client()
    for _ in range(count):
        link.client.send(3, b"x")
        link.run(0.05)
    assert reason_of(link) == (None if alive else CloseReason.FLOOD)
    assert len(link.messages(Role.SERVER)) == min(count, 16)


def test_many_messages_in_one_payload_are_a_flood_as_well():
    link = client()
    sequence = link.server._channel.window.expected
    payload = push_packet(AppCombined((b"x",) * 200))
    link.server.receive_datagram(sealed(ReliablePacket(sequence, payload)), link.now)
    assert link.server.statistics().messages_received == 5
    assert reason_of(link) == CloseReason.FLOOD


@pytest.mark.parametrize(("total", "alive"), [(16_384, True), (16_385, False)])
def test_a_long_message_before_a_login_ends_the_session(total, alive):
    link = client()
    sequence = link.server._channel.window.expected
    packet = Fragment(sequence, total.to_bytes(4, "big") + b"x")
    link.server.receive_datagram(sealed(packet), link.now)
    assert reason_of(link) == (None if alive else "fragmented message too long")


def test_little_is_held_for_an_unauthenticated_client():
    link = client()
    sequence = link.server._channel.window.expected
    for ahead in range(1, 100):
        packet = ReliablePacket((sequence + ahead) & 0xFFFF, b"x" * 500)
        link.server.receive_datagram(sealed(packet), link.now)
    assert 15_000 < link.server._channel.window.held_bytes <= 16_384
    link.server.trust()
    link.server.receive_datagram(
        sealed(ReliablePacket((sequence + 150) & 0xFFFF, b"x" * 500)), link.now
    )
    assert link.server._channel.window.held_bytes > 16_384


def test_trust_lifts_the_limits_also_before_there_is_a_key():
    for when in ("before", "after"):
        client, server = make_sessions(trusted=False)
        link = Link(client, server, delay=0.001)
        if when == "before":
            server.trust()
        client.connect(link.now)
        link.run(0.1)
        server.trust()
        body = bytes(CONFIG.message_size_limit - 3)
        for _ in range(3):
            client.send(1, body)
            link.settle()
        assert link.messages(Role.SERVER) == [(1, body)] * 3, when


def test_a_client_takes_whatever_its_server_sends():
    link = client()
    for number in range(100):
        link.server.send(number, b"y" * 30_000)
    link.settle()
    assert len(link.messages(Role.CLIENT)) == 100
