"""Decoding recorded sessions, one follower for each direction."""

from __future__ import annotations

import random

import pytest

from emu.session import (
    CloseReason,
    FollowingSession,
    KeyEstablished,
    Message,
    Role,
    SessionClosed,
    SessionConfig,
    SessionEstablished,
    StreamType,
)
from emu.wire import Format
from tests.support.sessions.link import CHECK_KEY, SESSION_ID, Link, make_sessions

CONVERSATION = [(number, random.Random(number).randbytes(number % 7 * 300)) for number in range(40)]


def recorded(*, loss=0.0, duplicate=0.0, reorder=0.0, kind=StreamType.EQ2_STREAM):
    """Return a link over which a whole conversation went, to its end."""
    link = Link(
        *make_sessions(SessionConfig(stream_type=kind)),
        loss=loss, duplicate=duplicate, reorder=reorder, seed=4,
    )  # fmt: skip
    link.client.connect(link.now)
    link.run(8.0)
    for opcode, body in CONVERSATION:
        link.client.send(opcode, body)
        link.server.send(opcode, body)
        link.run(0.3)
    link.settle()
    link.client.close()
    link.run(3.0)
    return link


def follow(wire):
    """Decode a recording as the class's docstring says."""
    # What a role sent is what the other role receives.
    of_client, of_server = FollowingSession(Role.SERVER), FollowingSession(Role.CLIENT)
    events = {Role.CLIENT: [], Role.SERVER: []}
    for sender, datagram in wire:
        follower = of_client if sender is Role.CLIENT else of_server
        follower.receive_datagram(datagram, 0.0)
        if datagram[:2] == b"\x00\x02":
            of_client.set_check_key(of_server.check_key, Format(datagram[11]))
        while (event := follower.next_event()) is not None:
            events[sender].append(event)
            if isinstance(event, KeyEstablished):
                of_server.set_cipher_key(event.key)
    return of_client, of_server, events


def messages(events):
    return [(event.opcode, event.payload) for event in events if isinstance(event, Message)]


@pytest.mark.parametrize("kind", list(StreamType))
def test_both_directions_of_a_session_are_decoded(kind):
    link = recorded(kind=kind)
    of_client, of_server, events = follow(link.wire)
    for sender in Role:
        assert messages(events[sender]) == CONVERSATION
        assert SessionEstablished(SESSION_ID) in events[sender]
        assert events[sender][-1] == SessionClosed(CloseReason.PEER)
    assert not of_client.drops
    assert not of_server.drops
    assert of_client.key == of_server.key == link.client.key


def test_copies_and_early_packets_are_put_in_order():
    link = recorded(loss=0.1, duplicate=0.1, reorder=0.2)
    of_client, _, events = follow(link.wire)
    assert of_client.drops["duplicate packet"] > 0
    for sender in Role:
        assert messages(events[sender]) == CONVERSATION


@pytest.mark.parametrize("sender", list(Role))
def test_keys_from_elsewhere_can_be_given_at_the_start(sender):
    link = recorded()
    listener = Role.SERVER if sender is Role.CLIENT else Role.CLIENT
    follower = FollowingSession(listener, check_key=CHECK_KEY, rc4_key=link.client.key)
    got = []
    for role, datagram in link.wire:
        if role is sender:
            follower.receive_datagram(datagram, 0.0)
            while (event := follower.next_event()) is not None:
                got.append(event)
    assert messages(got) == CONVERSATION
    assert set(follower.drops) <= {"not allowed now"}  # the SessionResponse that it did not need


def test_without_a_check_key_sealed_datagrams_are_dropped():
    link = recorded()
    follower = FollowingSession(Role.SERVER)
    for role, datagram in link.wire:
        if role is Role.CLIENT:
            follower.receive_datagram(datagram, 0.0)
    assert set(follower.drops) == {"not allowed now"}
    assert follower.session_id == SESSION_ID


def test_a_follower_has_no_way_out_and_no_clock():
    follower = FollowingSession(Role.SERVER, check_key=1)
    for name in ("send", "datagrams_to_send", "get_timer", "handle_timer"):
        assert not hasattr(follower, name)
    follower.close()
    follower.close()
    assert follower.ended
    assert follower.next_event() == SessionClosed(CloseReason.LOCAL)
    assert follower.next_event() is None


def test_only_the_first_keys_count():
    follower = FollowingSession(Role.SERVER, check_key=1, rc4_key=b"12345678")
    follower.set_check_key(2)
    follower.set_cipher_key(b"87654321")
    assert follower.check_key == 1
    assert follower.key == b"12345678"
