"""Whose datagram it is, who gets a session, and what spoofers cannot do."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import ConfigError
from emu.session import (
    CloseReason,
    Endpoint,
    EndpointConfig,
    Message,
    Role,
    Session,
    SessionClosed,
    SessionConfig,
)
from emu.session.endpoint import host_of
from emu.wire import (
    KeepAlive,
    OutOfSession,
    Seal,
    SessionDisconnect,
    SessionRequest,
    SessionResponse,
    pull_packet,
    push_packet,
)
from tests.support.link import KEY_BLOCK

HOME = ("192.0.2.1", 1000)


def make_endpoint(**settings):
    numbers = itertools.count(1)
    return Endpoint(
        EndpointConfig(**settings), random_bytes=lambda count: next(numbers).to_bytes(count, "big")
    )


def drain(session):
    events = []
    while (event := session.next_event()) is not None:
        events.append(event)
    return events


class Player:
    """A client at an address, talking to an endpoint without delay."""

    def __init__(self, endpoint, address=HOME, session_id=7):
        self.endpoint = endpoint
        self.address = address
        self.session = Session(
            SessionConfig(), role=Role.CLIENT, session_id=session_id, key_block=KEY_BLOCK
        )
        self.peer = None
        self.heard = []

    def exchange(self, now, rounds=6):
        for _ in range(rounds):
            for datagram in self.session.datagrams_to_send(now):
                peer = self.endpoint.receive_datagram(datagram, self.address, now)
                if peer is not None:
                    self.peer = peer
                    self.heard += drain(peer)
            if self.peer is not None:
                for datagram in self.peer.datagrams_to_send(now):
                    self.session.receive_datagram(datagram, now)

    def connect(self, now=0.0):
        self.session.connect(now)
        self.exchange(now)
        assert self.peer.key == KEY_BLOCK[:-9:-1]
        return self

    def says(self, opcode, now):
        self.session.send(opcode, b"")
        self.exchange(now)
        return Message(opcode, b"") in self.heard


def test_datagrams_go_to_the_session_of_their_address():
    endpoint = make_endpoint()
    players = [Player(endpoint, ("192.0.2.1", port), port).connect() for port in (1, 2, 3)]
    assert len(endpoint) == 3
    assert {session.session_id for session in endpoint} == {1, 2, 3}
    for player in players:
        assert player.says(player.address[1], 1.0)
        assert endpoint.get(player.address) is player.peer
        assert player.peer.address == player.address


def test_every_session_gets_its_own_check_key_or_the_fixed_one():
    endpoint = make_endpoint()
    first, second = (Player(endpoint, ("192.0.2.1", port)).connect() for port in (1, 2))
    assert first.peer.check_key != second.peer.check_key
    fixed = make_endpoint(check_key=0x33624702)
    assert Player(fixed).connect().peer.check_key == 0x33624702


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"\x00\x01" + bytes(11),
        b"\x00\x06\x45\x85",
        b"\x01garbage",
        push_packet(SessionResponse(7, 1)),
        push_packet(OutOfSession()),
    ],
)
def test_a_stranger_gets_a_session_only_for_a_whole_session_request(data):
    endpoint = make_endpoint()
    assert endpoint.receive_datagram(data, HOME, 0.0) is None
    assert len(endpoint) == 0
    assert sum(endpoint.drops.values()) == 1
    assert endpoint.datagrams_to_send() == []


def test_a_huge_session_request_is_dropped_before_it_costs_anything():
    endpoint = make_endpoint()
    data = push_packet(SessionRequest(7, tail=bytes(3000)))
    assert endpoint.receive_datagram(data, HOME, 0.0) is None
    assert endpoint.half_open == 0
    assert endpoint.drops["datagram too long"] == 1


def test_a_repeated_request_gets_the_same_answer():
    endpoint = make_endpoint()
    request = push_packet(SessionRequest(7))
    answers = []
    for number in range(4):
        session = endpoint.receive_datagram(request, HOME, number * 1.0)
        answers += session.datagrams_to_send(number * 1.0)
    assert len(answers) == 4
    assert len(set(answers)) == 1
    assert len(endpoint) == endpoint.half_open == 1


def test_a_restarted_client_replaces_its_old_session_once_it_has_proven_itself():
    endpoint = make_endpoint()
    old = Player(endpoint).connect()
    new = Player(endpoint, session_id=8)
    new.session.connect(1.0)
    new.exchange(1.0, rounds=1)
    assert endpoint.get(HOME) is old.peer
    assert not old.peer.ended
    new.exchange(1.0)
    assert endpoint.get(HOME) is new.peer
    assert endpoint.next_ended() is old.peer
    assert endpoint.next_ended() is None
    assert drain(old.peer) == [SessionClosed(CloseReason.REPLACED)]
    assert old.peer.datagrams_to_send(1.0) == []
    assert new.says(5, 2.0)
    assert len(endpoint) == 1


def test_a_restarted_client_may_come_with_the_same_session_id():
    endpoint = make_endpoint()
    old = Player(endpoint).connect()
    request = push_packet(SessionRequest(7))
    late_copy = endpoint.receive_datagram(request, HOME, 1.9)
    assert late_copy is old.peer
    assert late_copy.datagrams_to_send(1.9) == []
    new = Player(endpoint)
    new.session.connect(2.0)
    new.exchange(2.0)
    assert endpoint.get(HOME) is new.peer is not old.peer
    assert endpoint.next_ended() is old.peer
    assert new.says(5, 3.0)


def test_with_one_check_key_for_all_a_restarted_client_comes_back_too():
    endpoint = make_endpoint(check_key=0x33624702)
    old = Player(endpoint).connect()
    for number in range(5):
        assert old.says(number, 1.0 + number)
    new = Player(endpoint, session_id=8)
    new.session.connect(10.0)
    new.exchange(10.0)
    assert endpoint.get(HOME) is new.peer
    assert new.says(9, 11.0)
    assert endpoint.next_ended() is old.peer


@pytest.mark.parametrize("check_key", [None, 0x33624702])
def test_a_spoofer_does_not_disturb_a_live_session(check_key):
    endpoint = make_endpoint(check_key=check_key)
    player = Player(endpoint).connect()
    for number in range(5):
        assert player.says(number, 1.0)
    spoofed = [
        push_packet(SessionRequest(7)),
        *(push_packet(SessionRequest(number)) for number in range(100, 110)),
        push_packet(SessionResponse(7, 1)),
        push_packet(OutOfSession()),
        push_packet(SessionDisconnect(7)) + b"\x00\x00",
        Seal(player.peer.check_key ^ 1).seal(push_packet(SessionDisconnect(7))),
        Seal(player.peer.check_key).seal(push_packet(SessionDisconnect(8))),
        b"\x00\x19" + bytes(20),
    ]
    for number, datagram in enumerate(spoofed):
        session = endpoint.receive_datagram(datagram, HOME, 2.0)
        if session is not None:
            drain(session)
            for answer in session.datagrams_to_send(2.0):
                player.session.receive_datagram(answer, 2.0)
        assert player.says(50 + number, 2.0)
    assert endpoint.get(HOME) is player.peer
    assert not player.session.ended
    player.session._statistics_due = player.session._control_due = True
    assert player.says(99, 3.0)
    assert endpoint.get(HOME) is player.peer


def test_a_silent_source_gets_three_times_its_bytes_at_most_and_is_gone_after_five_seconds():
    endpoint = make_endpoint()
    request = push_packet(SessionRequest(7))
    given = got = 0
    for number in range(100):
        now = number * 0.049
        session = endpoint.receive_datagram(request, HOME, now)
        session.handle_timer(now)
        given += len(request)
        got += sum(map(len, session.datagrams_to_send(now)))
    assert got <= 3 * given
    assert session.get_timer() == 5.0
    session.handle_timer(5.0)
    assert session.ended
    assert session.datagrams_to_send(5.0) == []
    endpoint.forget(session)
    assert len(endpoint) == 0


def test_candidates_of_one_address_are_bounded():
    endpoint = make_endpoint(candidates_per_address_limit=2)
    sessions = [
        endpoint.receive_datagram(push_packet(SessionRequest(number)), HOME, 0.0)
        for number in range(3)
    ]
    assert endpoint.half_open == 2
    assert endpoint.next_ended() is sessions[0]
    assert drain(sessions[0]) == [SessionClosed(CloseReason.EVICTED)]


def test_a_flood_of_requests_pushes_out_the_oldest_half_open_session():
    endpoint = make_endpoint(half_open_limit=3)
    player = Player(endpoint, ("192.0.2.9", 9)).connect()
    flood = [
        endpoint.receive_datagram(push_packet(SessionRequest(1)), ("198.51.100.1", port), 0.0)
        for port in range(4)
    ]
    assert endpoint.half_open == 3
    assert endpoint.next_ended() is flood[0]
    assert endpoint.next_ended() is None
    assert player.says(1, 1.0)


def test_sessions_of_one_host_are_bounded():
    endpoint = make_endpoint(sessions_per_host_limit=2)
    request = push_packet(SessionRequest(1))
    sessions = [endpoint.receive_datagram(request, ("192.0.2.1", port), 0.0) for port in range(3)]
    assert [session is None for session in sessions] == [False, False, True]
    assert endpoint.drops["too many sessions of one host"] == 1
    assert endpoint.receive_datagram(request, ("192.0.2.2", 1), 0.0) is not None
    endpoint.forget(sessions[0])
    assert endpoint.receive_datagram(request, ("192.0.2.1", 9), 0.0) is not None


def test_all_sessions_are_bounded():
    endpoint = make_endpoint(session_limit=2)
    players = [Player(endpoint, ("192.0.2.1", port)).connect() for port in (1, 2)]
    request = push_packet(SessionRequest(1))
    assert endpoint.receive_datagram(request, ("192.0.2.1", 3), 0.0) is None
    assert endpoint.drops["too many sessions"] == 1
    assert endpoint.receive_datagram(request, players[0].address, 0.0) is not None
    endpoint.forget(players[0].peer)
    assert endpoint.receive_datagram(request, ("192.0.2.1", 3), 0.0) is not None


def test_a_refused_request_pushes_nobody_out():
    endpoint = make_endpoint(sessions_per_host_limit=1, candidates_per_address_limit=1)
    session = endpoint.receive_datagram(push_packet(SessionRequest(1)), HOME, 0.0)
    assert endpoint.receive_datagram(push_packet(SessionRequest(2)), HOME, 0.0) is None
    assert endpoint.next_ended() is None
    assert not session.ended


def test_forgetting_a_session_twice_is_fine():
    endpoint = make_endpoint()
    player = Player(endpoint).connect()
    endpoint.forget(player.peer)
    endpoint.forget(player.peer)
    assert len(endpoint) == 0
    assert endpoint.receive_datagram(b"\x00\x06", HOME, 1.0) is None


def test_an_ended_session_makes_room_for_the_next_request():
    endpoint = make_endpoint()
    player = Player(endpoint).connect()
    player.peer.replace("gone")
    again = Player(endpoint).connect(1.0)
    assert again.peer is not player.peer
    assert endpoint.get(HOME) is again.peer


def test_a_stranger_may_be_told_that_it_has_no_session():
    endpoint = make_endpoint(answer_out_of_session=True)
    endpoint.receive_datagram(b"\x00\x06\x45\x85", HOME, 0.0)
    endpoint.receive_datagram(b"\x00", HOME, 0.0)
    endpoint.receive_datagram(b"\x00\x1d", HOME, 0.0)
    assert endpoint.datagrams_to_send() == [(b"\x00\x1d", HOME)]
    assert endpoint.datagrams_to_send() == []


@pytest.mark.parametrize(
    ("address", "host"),
    [
        (("192.0.2.1", 5), "192.0.2.1"),
        (("127.0.0.1", 5), None),
        (("::1", 5, 0, 0), None),
        (("2001:db8::1", 5, 0, 0), "2001:db8::/64"),
        (("2001:db8::ffff", 5, 0, 0), "2001:db8::/64"),
        (("::ffff:192.0.2.1", 5), "192.0.2.1"),
        (("::ffff:127.0.0.1", 5), None),
        (("fe80::1%eth0", 5, 0, 0), "fe80::/64"),
        (("somewhere", 5), "somewhere"),
        ("somewhere", "somewhere"),
        (17, 17),
    ],
)
def test_hosts_are_counted_by_address_or_network(address, host):
    assert host_of(address) == host


def test_settings_that_cannot_work_are_told_all_at_once():
    with pytest.raises(ConfigError) as caught:
        EndpointConfig(session_limit=0, half_open_limit=0, check_key=2**32)
    assert len(caught.value.problems) == 3


@given(
    st.lists(
        st.tuples(
            st.sampled_from((HOME, ("192.0.2.2", 1), ("192.0.2.3", 1))),
            st.one_of(
                st.binary(max_size=40),
                st.builds(lambda number: push_packet(SessionRequest(number)), st.integers(0, 3)),
                st.just(Seal(1).seal(push_packet(KeepAlive()))),
                st.just(Seal(2).seal(push_packet(KeepAlive()))),
            ),
            st.booleans(),
        ),
        max_size=40,
    )
)
def test_any_datagrams_from_anywhere_keep_the_books_in_order(datagrams):
    endpoint = make_endpoint(half_open_limit=2, session_limit=2, sessions_per_host_limit=2)
    for number, (address, data, expire) in enumerate(datagrams):
        session = endpoint.receive_datagram(data, address, number * 0.1)
        if session is not None:
            session.datagrams_to_send(number * 0.1)
            drain(session)
            if expire:
                session.replace("over")
                endpoint.forget(session)
        while (ended := endpoint.next_ended()) is not None:
            assert ended.ended
            assert ended not in list(endpoint)
        sessions = list(endpoint)
        assert len(sessions) == len(endpoint) == len(set(sessions))
        assert endpoint.half_open <= 2
        assert len(endpoint) - endpoint.half_open <= 3
        assert sum(endpoint._hosts.values()) == len(endpoint)
        assert set(endpoint._candidates) == {s.address for s in endpoint._half_open}
    for session in list(endpoint):
        endpoint.forget(session)
    assert not endpoint._hosts
    assert not endpoint._candidates


def test_the_answer_to_a_request_is_a_session_response():
    endpoint = make_endpoint()
    session = endpoint.receive_datagram(push_packet(SessionRequest(7, 4294967295)), HOME, 0.0)
    (datagram,) = session.datagrams_to_send(0.0)
    assert pull_packet(datagram) == SessionResponse(7, 1, 1400)
