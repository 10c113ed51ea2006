"""A link that carries nothing for a while, in one direction or both: how long sessions last."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable

import pytest

from emu.session import CloseReason, Message, Role, SessionClosed, SessionConfig
from emu.times import Monotonic
from tests.support.sessions.link import Link, connected_link

TO_CLIENT, TO_SERVER = {Role.CLIENT}, {Role.SERVER}
BOTH = TO_CLIENT | TO_SERVER
WAYS = pytest.mark.parametrize(
    "ways", [TO_CLIENT, TO_SERVER, BOTH], ids=["to the client", "to the server", "both"]
)


class GapLink:
    """A link with a switch: `blocked` holds the roles of sessions that nothing reaches."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.blocked: set[Role] = set()
        self.bytes_to = {Role.CLIENT: 0, Role.SERVER: 0}
        self.datagrams_to = {Role.CLIENT: 0, Role.SERVER: 0}
        carry = link._carry

        def carry_unless_blocked(receiver, datagram):
            self.bytes_to[receiver.role] += len(datagram)
            self.datagrams_to[receiver.role] += 1
            if receiver.role not in self.blocked:
                carry(receiver, datagram)

        link._carry = carry_unless_blocked

    def talk(self, seconds: float, number: int) -> None:
        """Let both sides say something twice a second."""
        for index in range(round(seconds * 2)):
            self.link.client.send(3, b"client %d %d" % (number, index))
            self.link.server.send(9, b"server %d %d" % (number, index))
            self.link.run(0.5)

    def has_closed(self) -> list[SessionClosed]:
        everything: Iterable[object] = (
            *self.link.events[Role.CLIENT],
            *self.link.events[Role.SERVER],
        )
        return [event for event in everything if isinstance(event, SessionClosed)]


def gap_link(config: SessionConfig | None = None, **options) -> GapLink:
    return GapLink(connected_link(config, **options))


@WAYS
@pytest.mark.parametrize("gap", [12.0, 30.0, 40.0])
def test_a_link_in_use_survives_a_gap_and_nothing_is_missing(ways, gap):
    pair = gap_link()
    pair.talk(3.0, 1)
    pair.blocked = ways
    pair.talk(gap, 2)
    pair.blocked = set()
    pair.talk(2.0, 3)
    pair.link.settle(5.0)
    assert pair.has_closed() == []
    count = round((3.0 + gap + 2.0) * 2)
    for role in Role:
        payloads = [payload for _, payload in pair.link.messages(role)]
        assert len(payloads) == len(set(payloads)) == count
    assert pair.link.server.statistics().queued_bytes == 0


@WAYS
@pytest.mark.parametrize("first", [0.0, 0.4, 1.7, 3.1])
@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_one_message_in_flight_survives_a_gap_of_forty_seconds(ways, first, loss):
    """Whatever the phase of the attempts: one of them comes soon enough behind the gap."""
    pair = gap_link(loss=loss, seed=1)
    pair.talk(2.0, 1)
    pair.blocked = ways
    pair.link.run(first)
    pair.link.client.send(3, b"from the client")
    pair.link.server.send(9, b"from the server")
    pair.link.run(40.0 - first)
    pair.blocked = set()
    pair.link.run(5.0)
    assert pair.has_closed() == []
    assert pair.link.messages(Role.CLIENT)[-1] == (9, b"from the server")
    assert pair.link.messages(Role.SERVER)[-1] == (3, b"from the client")


@WAYS
def test_a_link_without_traffic_is_noticed_soon_after_a_gap(ways):
    pair = gap_link()
    pair.talk(1.0, 1)
    pair.blocked = ways
    pair.link.run(40.0)
    pair.blocked = set()
    pair.link.run(3.0)
    assert pair.has_closed() == []
    for session in (pair.link.client, pair.link.server):
        assert pair.link.now - session.last_received < 3.0


@pytest.mark.parametrize("idle_timeout", [20.0, 45.0, 120.0])
def test_the_silence_limit_decides_when_a_dead_link_is_given_up(idle_timeout):
    pair = gap_link(SessionConfig(idle_timeout=idle_timeout))
    pair.talk(2.0, 1)
    pair.blocked = BOTH
    pair.link.client.send(3, b"lost")
    pair.link.server.send(9, b"lost")
    pair.link.run(idle_timeout - 1.0)
    assert pair.has_closed() == []
    pair.link.run(1.5)
    assert [event.reason for event in pair.has_closed()] == [CloseReason.SILENCE] * 2


def test_a_peer_that_is_heard_but_acknowledges_nothing_is_given_up_too():
    config = SessionConfig()
    pair = gap_link(config)
    server = pair.link.server
    pair.blocked = TO_CLIENT
    server.send(9, b"never acknowledged")
    begun = pair.link.now
    while not server.ended and pair.link.now < begun + 100.0:
        pair.link.client._lifecycle.last_received = pair.link.now  # it does not mind
        pair.talk(0.5, 1)
    assert server.statistics().queued_bytes == 0
    assert pair.has_closed()[0].reason == CloseReason.GAVE_UP
    waited = pair.link.now - begun
    limit = config.idle_timeout + config.timeout_maximum
    assert limit <= waited <= limit + config.retry_interval + 1.0


@pytest.mark.parametrize("round_trip", [0.002, 0.1, 0.6])
def test_a_silent_peer_gets_little_however_much_is_queued(round_trip):
    """Only the oldest packet is sent again, rarely in the long run, and nothing new is added."""
    pair = gap_link(delay=round_trip / 2)
    pair.talk(3.0, 1)
    pair.blocked = BOTH
    before = dict(pair.bytes_to), dict(pair.datagrams_to)
    source = random.Random(3)
    for _ in range(200):
        pair.link.server.send(9, source.randbytes(1000))
    window = pair.link.server.statistics().congestion_window
    pair.link.run(10.0)
    early = pair.datagrams_to[Role.CLIENT]
    pair.link.run(33.0)
    assert pair.has_closed() == []
    sent = pair.bytes_to[Role.CLIENT] - before[0][Role.CLIENT]
    assert sent < window + 45 * 512
    late = pair.datagrams_to[Role.CLIENT] - early
    assert late <= 2 * 33.0 / SessionConfig().retry_interval


def test_a_link_that_is_back_does_not_get_everything_at_once():
    pair = gap_link()
    pair.talk(3.0, 1)
    pair.blocked = BOTH
    source = random.Random(3)
    bodies = [source.randbytes(1000) for _ in range(400)]
    for body in bodies:
        pair.link.server.send(9, body)
    pair.link.run(40.0)
    pair.blocked = set()
    in_steps = []
    while pair.link.server.statistics().queued_bytes:
        before = pair.datagrams_to[Role.CLIENT]
        pair.link.run(0.1)  # a round trip
        in_steps.append(pair.datagrams_to[Role.CLIENT] - before)
        assert len(in_steps) < 600
    first = next(index for index, count in enumerate(in_steps) if count > 2)
    assert first <= SessionConfig().retry_interval / 0.1 + 2
    assert in_steps[first] <= 20, "the smallest window, not what was in flight before"
    assert all(later <= 3 * earlier + 20 for earlier, later in itertools.pairwise(in_steps))
    assert [payload for _, payload in pair.link.messages(Role.CLIENT)][-400:] == bodies


@pytest.mark.parametrize("limit", [3, 7])
def test_a_limit_of_attempts_still_ends_a_session_earlier(limit):
    pair = gap_link(SessionConfig(transmission_limit=limit))
    pair.blocked = BOTH
    pair.link.server.send(9, b"lost")
    pair.link.run(20.0)
    assert [event.reason for event in pair.has_closed()] == [CloseReason.GAVE_UP]
    before = pair.link.server.statistics().retransmissions
    assert before <= limit - 1


def test_messages_after_the_gap_are_handed_out_in_their_order():
    pair = gap_link(loss=0.1, seed=5)
    pair.talk(1.0, 1)
    pair.blocked = BOTH
    for number in range(300):
        pair.link.client.send(3, number.to_bytes(2, "big") + bytes(60))
        pair.link.run(0.1)
    pair.blocked = set()
    pair.link.settle(20.0)
    numbers = [
        int.from_bytes(event.payload[:2], "big")
        for event in pair.link.events[Role.SERVER]
        if isinstance(event, Message) and len(event.payload) == 62
    ]
    assert numbers == list(range(300))
    assert pair.link.server.last_received > Monotonic(0.0)
