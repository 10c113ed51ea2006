"""Sending: how much is worth queueing, and how the owner learns of it."""

from __future__ import annotations

import pytest

from emu.errors import LocalProtocolError
from emu.session import Role, Session, SessionConfig, Writable
from tests.support.sessions.link import connected_link, drain

CONFIG = SessionConfig()


def fill(session, now, size=1000):
    """Send as long as there is capacity; return how many messages that were."""
    count = 0
    while session.capacity(now) > 0:
        session.send(1, bytes(size - 1) + b"x")
        count += 1
    return count


def test_capacity_is_the_window_and_a_little_more():
    server = connected_link().server
    assert server.capacity(1000.0) == CONFIG.congestion_window_start + 4 * server.max_length


def test_capacity_shrinks_with_queued_bytes_and_bytes_in_flight():
    link = connected_link(SessionConfig(compression_threshold=10_000))
    before = link.server.capacity(link.now)
    link.server.send(1, bytes(397))
    assert link.server.capacity(link.now) == before - 399  # flag and opcode come on top
    link.flush()
    assert link.server.capacity(link.now) == before - 399
    link.run(1.0)
    assert link.server.capacity(link.now) >= before


def test_messages_that_wait_for_the_key_take_capacity():
    session = Session(SessionConfig(), role=Role.SERVER)
    before = session.capacity(0.0)
    session.send(1, bytes(500))
    assert session.capacity(0.0) == before - 500


def test_there_is_no_capacity_while_an_acknowledgment_is_overdue():
    link = connected_link(loss=1.0)
    link.server.send(1, b"lost")
    link.flush()
    deadline = link.server.get_timer()
    assert link.server.capacity(deadline - 0.01) > 0
    assert link.server.capacity(deadline) == 0


def test_there_is_no_capacity_in_a_session_that_closes(link):
    link.server.close()
    assert link.server.capacity(link.now) == 0
    link.run(1.0)
    assert link.server.capacity(link.now) == 0


def test_new_capacity_is_reported_once_to_an_owner_that_had_none():
    link = connected_link(SessionConfig(compression_threshold=10_000))
    assert fill(link.server, link.now) > 10
    assert not drain(link.server)
    link.run(1.0)
    reported = [event for event in link.events[Role.SERVER] if isinstance(event, Writable)]
    assert reported == [Writable()]
    assert link.server.capacity(link.now) > 0


def test_who_was_never_refused_is_sent_nothing(link):
    link.server.send(1, bytes(3000))
    link.run(1.0)
    assert Writable() not in link.events[Role.SERVER]


@pytest.mark.parametrize("loss", [0.0, 0.02])
def test_an_owner_that_keeps_to_the_capacity_is_as_fast_as_one_that_sends_all(loss):
    """The window grows for both, so that pulling costs no throughput, and little ever waits."""
    count = 600
    times = []
    for pulls in (False, True):
        link = connected_link(SessionConfig(compression_threshold=10_000), loss=loss, seed=3)
        start, sent, most = link.now, 0, 0
        while len(link.messages(Role.CLIENT)) < count:
            while sent < count and (not pulls or link.server.capacity(link.now) > 0):
                link.server.send(1, bytes(999))
                sent += 1
            statistics = link.server.statistics()
            most = max(most, statistics.queued_bytes - statistics.congestion_window)
            assert link.step()
        times.append(link.now - start)
        if pulls:
            assert most < 4000  # all at once: 600,000
    assert times[1] < times[0] * 1.25


def test_the_sent_datagrams_are_counted_from_nothing():
    session = Session(SessionConfig(), role=Role.SERVER)
    assert (session.statistics().bytes_sent, session.statistics().datagrams_sent) == (0, 0)
    link = connected_link()
    before = link.server.statistics().bytes_sent
    link.server.send(1, bytes(500))
    sent = link.server.datagrams_to_send(link.now)
    assert link.server.statistics().bytes_sent == before + sum(map(len, sent))


def test_a_message_has_at_most_the_limit_with_its_opcode():
    """An opcode takes up to 3 bytes, and they count."""
    link = connected_link(SessionConfig(message_size_limit=1000))
    link.server.send(1, bytes(997))
    with pytest.raises(LocalProtocolError, match="may have 997 bytes behind its opcode"):
        link.server.send(1, bytes(998))
    link.run(1.0)
    assert link.messages(Role.CLIENT) == [(1, bytes(997))]
