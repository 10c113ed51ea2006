"""Whose datagram it is, who gets a session, and what spoofers cannot do."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.session import CloseReason, SessionClosed
from emu.wire import (
    KeepAlive,
    OutOfSession,
    ReliablePacket,
    Seal,
    ServerKeyRequest,
    SessionDisconnect,
    SessionRequest,
    SessionResponse,
    push_packet,
)
from tests.support.sessions.players import HOME, Player, ask, drain, make_endpoint


def test_datagrams_go_to_the_session_of_their_address(endpoint):
    players = [Player(endpoint, ("192.0.2.1", port), port).connect() for port in (1, 2, 3)]
    assert len(endpoint) == 3
    assert {session.session_id for session in endpoint} == {1, 2, 3}
    for player in players:
        assert player.says(player.address[1], 1.0)
        assert endpoint.get(player.address) is player.peer
        assert player.peer.address == player.address


def test_a_new_session_knows_the_length_of_its_path(endpoint):
    """Else a loss right behind the set-up would cost the timeout of an unknown path, 1.5 s."""
    player = Player(endpoint).begin(10.0)
    player.exchange(10.1, rounds=1)
    assert player.peer.statistics().retransmission_timeout == pytest.approx(0.3)
    assert player.peer.statistics().smoothed_round_trip is None  # it is no measurement yet


def test_every_address_gets_its_own_check_key_or_the_fixed_one(endpoint):
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
def test_only_a_whole_session_request_gets_a_response(endpoint, data):
    assert endpoint.receive_datagram(data, HOME, 0.0) is None
    assert len(endpoint) == 0
    assert sum(endpoint.drops.values()) == 1
    assert endpoint.datagrams_to_send() == []


def test_a_huge_session_request_is_dropped_before_it_costs_anything(endpoint):
    data = push_packet(SessionRequest(7, tail=bytes(3000)))
    assert endpoint.receive_datagram(data, HOME, 0.0) is None
    assert endpoint.half_open == 0
    assert endpoint.drops["datagram too long"] == 1


def test_a_repeated_request_gets_the_same_answer_and_no_session(endpoint):
    answers = [ask(endpoint, now=number * 1.0) for number in range(4)]
    assert answers == [SessionResponse(7, answers[0].key)] * 4
    assert endpoint.half_open == 1
    assert len(endpoint) == 0


def test_a_repeat_that_crossed_the_proof_gets_the_same_answer_too(endpoint):
    player = Player(endpoint).begin()
    first = ask(endpoint)
    player.exchange(0.0, rounds=1)
    assert player.peer.key is None
    assert ask(endpoint) == first
    player.exchange(0.0)
    assert player.says(5, 1.0)
    assert ask(endpoint, now=1.0) is None
    assert endpoint.drops["repeated session request"] == 1


def test_a_restarted_client_replaces_its_old_session_once_it_is_validated(endpoint):
    old = Player(endpoint).connect()
    new = Player(endpoint, session_id=8)
    new.begin(1.0)
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


def test_a_restarted_client_may_come_with_the_same_session_id(endpoint):
    old = Player(endpoint).connect()
    assert ask(endpoint, now=1.9) is None
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
    player.peer.trust()
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
        for answer, _ in endpoint.datagrams_to_send():
            player.session.receive_datagram(answer, 2.0)
        if session is not None:
            drain(session)
            for answer in session.datagrams_to_send(2.0):
                player.session.receive_datagram(answer, 2.0)
        assert player.says(50 + number, 2.0)
    assert endpoint.get(HOME) is player.peer
    assert not player.session.ended
    player.session._control.request_statistics()
    assert player.says(99, 3.0)
    assert endpoint.get(HOME) is player.peer


def test_a_silent_source_gets_an_answer_for_each_request_and_is_forgotten_after_five_seconds(
    endpoint,
):
    assert all(ask(endpoint, now=number * 0.049) for number in range(100))
    assert endpoint.half_open == 1
    ask(endpoint, ("192.0.2.2", 1), now=5.0)
    assert endpoint.half_open == 1


def test_a_proof_that_comes_late_counts_by_its_check_alone(endpoint):
    player = Player(endpoint).begin()
    player.exchange(30.0)
    assert player.says(5, 31.0)


def test_validated_sessions_of_one_host_are_bounded():
    endpoint = make_endpoint(sessions_per_host_limit=2)
    first, _ = (Player(endpoint, ("192.0.2.1", port)).connect() for port in (1, 2))
    assert ask(endpoint, ("192.0.2.1", 3)) is None
    assert endpoint.drops["too many sessions of one host"] == 1
    assert ask(endpoint, ("192.0.2.2", 1)) is not None
    endpoint.forget(first.peer)
    assert ask(endpoint, ("192.0.2.1", 9)) is not None


def test_those_who_proved_themselves_at_once_are_bounded_as_well():
    endpoint = make_endpoint(sessions_per_host_limit=2)
    players = [Player(endpoint, ("192.0.2.1", port)).begin() for port in (1, 2, 3)]
    for player in players:
        player.exchange(0.0)
    assert [player.peer is None for player in players] == [False, False, True]
    assert len(endpoint) == 2


def test_a_client_of_a_full_host_may_start_again():
    endpoint = make_endpoint(sessions_per_host_limit=1)
    Player(endpoint).connect()
    assert Player(endpoint, session_id=8).connect(1.0).says(5, 2.0)


def test_all_sessions_are_bounded():
    endpoint = make_endpoint(session_limit=2)
    players = [Player(endpoint, ("192.0.2.1", port)).connect() for port in (1, 2)]
    assert ask(endpoint, ("192.0.2.1", 3)) is None
    assert endpoint.drops["too many sessions"] == 1
    assert ask(endpoint, players[0].address, session_id=8) is not None
    endpoint.forget(players[0].peer)
    assert ask(endpoint, ("192.0.2.1", 3)) is not None


def test_forgetting_a_session_twice_is_fine(endpoint):
    player = Player(endpoint).connect()
    endpoint.forget(player.peer)
    endpoint.forget(player.peer)
    assert len(endpoint) == 0
    assert endpoint.receive_datagram(b"\x00\x06", HOME, 1.0) is None


def test_an_ended_session_does_not_block_the_next_request(endpoint):
    player = Player(endpoint).connect()
    player.peer.discard("gone")
    again = Player(endpoint).connect(1.0)
    assert again.peer is not player.peer
    assert endpoint.get(HOME) is again.peer


def test_a_datagram_without_a_session_may_get_an_out_of_session():
    endpoint = make_endpoint(answer_out_of_session=True)
    endpoint.receive_datagram(b"\x00\x06\x45\x85", HOME, 0.0)
    endpoint.receive_datagram(b"\x00", HOME, 0.0)
    endpoint.receive_datagram(b"\x00\x1d", HOME, 0.0)
    assert endpoint.datagrams_to_send() == [(b"\x00\x1d", HOME)]
    assert endpoint.datagrams_to_send() == []


def keys(endpoint, address):
    """Return what an endpoint hands out to an address."""
    return endpoint._check_keys.current(address, 512, 0, 0.0)


@given(
    check_key=st.sampled_from((None, 1)),
    datagrams=st.lists(
        st.tuples(
            st.sampled_from((HOME, ("192.0.2.1", 1), ("192.0.2.3", 1))),
            st.one_of(
                st.binary(max_size=40),
                st.integers(0, 3),
                st.sampled_from((KeepAlive(), SessionDisconnect(1), ServerKeyRequest(1))),
            ),
            st.booleans(),
        ),
        max_size=40,
    ),
)
def test_any_datagrams_from_anywhere_keep_the_books_in_order(check_key, datagrams):
    endpoint = make_endpoint(
        check_key=check_key, half_open_limit=2, session_limit=2, sessions_per_host_limit=1
    )
    for number, (address, what, expire) in enumerate(datagrams):
        now = number * 0.1
        if isinstance(what, int):
            data = push_packet(SessionRequest(what))
        elif isinstance(what, bytes):
            data = what
        else:
            data = Seal(keys(endpoint, address)).seal(push_packet(what))
        session = endpoint.receive_datagram(data, address, now)
        assert all(to == address for _, to in endpoint.datagrams_to_send())
        if session is not None:
            session.datagrams_to_send(now)
            drain(session)
            if expire:
                session.discard("over")
            if session.ended:
                endpoint.forget(session)
        while (ended := endpoint.next_ended()) is not None:
            assert ended.ended
            assert ended not in list(endpoint)
        sessions = list(endpoint)
        assert len(sessions) == len(endpoint) == len(set(sessions))
        assert endpoint.half_open <= 2
        admission = endpoint._admission
        assert len(admission.unacknowledged) <= 2
        assert admission._counted == len(endpoint) - len(admission.unacknowledged) <= 2
        assert sum(admission._hosts.values()) == admission._counted
        assert set(admission._barred) <= set(endpoint._sessions)
    for session in list(endpoint):
        endpoint.forget(session)
    assert not endpoint._admission._hosts
    assert not endpoint._admission._counted
    assert not endpoint._admission.unacknowledged
    assert not endpoint._admission._barred


def test_the_answer_to_a_request_has_a_length_that_works():
    assert ask(make_endpoint(), max_length=4294967295).max_length == 1400


def early_packets(player, count):
    """Send packets that cannot be delivered, because the one before them never comes."""
    expected = player.peer._channel.window.expected
    for ahead in range(1, count + 1):
        packet = ReliablePacket((expected + ahead) & 0xFFFF, bytes(400))
        datagram = Seal(player.peer.check_key).seal(push_packet(packet))
        player.endpoint.receive_datagram(datagram, player.address, 1.0)


def test_all_sessions_together_hold_no_more_than_the_limit():
    endpoint = make_endpoint(memory_limit=100_000, sessions_per_host_limit=100)
    honest = Player(endpoint, ("192.0.2.1", 1)).connect()
    hoarders = [Player(endpoint, ("192.0.2.2", port)).connect() for port in range(20)]
    for hoarder in hoarders:
        early_packets(hoarder, 20)
        early_packets(honest, 1)
        endpoint.note_memory(honest.peer)
        endpoint.note_memory(hoarder.peer)
        assert sum(session.held_bytes for session in endpoint) <= 100_000
    ended = list(iter(endpoint.next_ended, None))
    assert 10 <= len(ended) < 20
    assert all(SessionClosed(CloseReason.MEMORY) in drain(session) for session in ended)
    assert endpoint.get(honest.address) is honest.peer
    endpoint.note_memory(ended[0])  # served once more by its owner: it is forgotten
    assert endpoint._memory.used == sum(session.held_bytes for session in endpoint)


def test_what_an_owner_keeps_and_what_a_client_does_not_take_count_as_well():
    endpoint = make_endpoint(memory_limit=100_000)
    player = Player(endpoint).connect()
    player.peer.send(1, random.Random(1).randbytes(60_000))
    player.peer.datagrams_to_send(1.0)
    assert player.peer.held_bytes > 60_000
    endpoint.note_memory(player.peer)
    assert endpoint.get(HOME) is player.peer
    endpoint.note_memory(player.peer, 40_000)
    assert endpoint.get(HOME) is None
