"""What unvalidated senders can do to validated ones: floods, guesses, and a public key."""

from __future__ import annotations

import itertools
import random

import pytest

from emu.session import CloseReason, EndpointConfig, Message, SessionClosed
from emu.wire import (
    Ack,
    KeepAlive,
    OutOfSession,
    ReliablePacket,
    Seal,
    ServerKeyRequest,
    SessionDisconnect,
    SessionRequest,
    push_packet,
)
from tests.support.sessions.players import HOME, Player, ask, drain, make_endpoint

PUBLIC = 0x33624702
ADDRESSES = 50_000


def addresses():
    """Yield addresses of unknown senders for ever: a thousand hosts with different ports."""
    for number in itertools.count():
        yield (f"198.51.{number % 1000 // 250}.{number % 250}", 1024 + number // 1000 % 60_000)


class Flood:
    """Sends requests from ever new addresses whenever it is called."""

    def __init__(self, endpoint, each, spoofed=None):
        self.endpoint = endpoint
        self.each = each
        self.spoofed = spoofed
        self.sent = 0
        self._addresses = addresses()

    def __call__(self, now):
        for address in itertools.islice(self._addresses, self.each):
            self.sent += 1
            request = push_packet(SessionRequest(100 + self.sent))
            self.endpoint.receive_datagram(request, self.spoofed or address, now)
        self.endpoint.datagrams_to_send()


@pytest.mark.slow
@pytest.mark.parametrize("limit", [EndpointConfig().half_open_limit, 8])
def test_a_client_gets_in_while_fifty_thousand_addresses_ask_all_the_time(limit):
    endpoint = make_endpoint(half_open_limit=limit)
    flood = Flood(endpoint, ADDRESSES // 4)
    player = Player(endpoint, between=flood).connect()
    assert player.says(5, 1.0)
    assert flood.sent >= ADDRESSES
    assert endpoint.half_open == limit
    assert len(endpoint) == 1


def test_a_client_gets_in_while_its_own_address_is_flooded(endpoint):
    player = Player(endpoint, between=Flood(endpoint, 500, spoofed=HOME)).connect()
    assert player.says(5, 1.0)
    assert endpoint.half_open == 1
    player.session.close()
    player.exchange(2.0)
    assert player.peer.ended
    assert player.session.ended


def test_a_client_that_comes_back_gets_in_while_its_own_address_is_flooded(endpoint):
    old = Player(endpoint).connect()
    new = Player(endpoint, session_id=8, between=Flood(endpoint, 500, spoofed=HOME)).connect(1.0)
    assert endpoint.next_ended() is old.peer
    assert new.says(5, 2.0)


def test_a_forged_max_length_spoils_nobodys_check(endpoint):
    player = Player(endpoint).begin()
    ask(endpoint, session_id=99, max_length=64)
    player.exchange(0.0)
    assert player.peer.max_length == 512
    assert player.says(5, 1.0)


def test_requests_in_the_name_of_a_host_do_not_count_for_it():
    endpoint = make_endpoint(sessions_per_host_limit=4)
    for port in range(2000, 2064):
        assert ask(endpoint, (HOME[0], port)) is not None
    assert Player(endpoint).connect().says(5, 1.0)


def test_entries_of_the_same_host_are_pushed_out_first():
    endpoint = make_endpoint(half_open_limit=4)
    honest = Player(endpoint, ("192.0.2.9", 9), session_id=42).begin()
    for port in range(100):
        ask(endpoint, ("198.51.100.1", port))
    assert endpoint.half_open == 4
    assert honest.exchange(0.0).peer.session_id == 42


def test_a_repeat_gets_the_same_answer_whatever_was_evicted():
    endpoint = make_endpoint(half_open_limit=1)
    first = ask(endpoint)
    ask(endpoint, ("192.0.2.9", 9))
    assert ask(endpoint, now=3.0) == first


def test_a_session_whose_id_was_lost_ends_with_the_clients_own_words():
    endpoint = make_endpoint(half_open_limit=1)
    player = Player(endpoint).begin()
    ask(endpoint, ("192.0.2.9", 9))
    player.exchange(0.0)
    assert player.peer.session_id == 0
    player.session.close()
    player.exchange(1.0)
    assert SessionClosed(CloseReason.PEER) in player.heard
    assert player.session.ended


def test_a_client_whose_session_id_was_lost_gets_an_out_of_session():
    endpoint = make_endpoint(half_open_limit=1)
    player = Player(endpoint).begin()
    ask(endpoint, ("192.0.2.9", 9))
    player.exchange(0.0)
    player.peer.send(3, b"the last message")
    player.peer.close()
    player.exchange(1.0)
    assert Message(3, b"the last message") in drain(player.session)
    sent = []
    while not player.peer.ended:
        now = player.peer.get_timer()
        player.peer.handle_timer(now)
        sent += player.peer.datagrams_to_send(now)
    assert sent == [push_packet(OutOfSession())] * 2
    assert now <= 3.0


def test_the_last_words_of_a_session_that_is_over_open_none(endpoint):
    player = Player(endpoint).connect()
    seal = Seal(player.peer.check_key)
    endpoint.forget(player.peer)
    for packet in (
        KeepAlive(),
        Ack(3),
        ReliablePacket(9, b"\x05"),
        SessionDisconnect(7),
        ServerKeyRequest(1, packets_received=30),
    ):
        late = seal.seal(push_packet(packet))
        assert endpoint.receive_datagram(late, HOME, 1.0) is None
    assert len(endpoint) == 0


@pytest.mark.slow
@pytest.mark.parametrize("packet", [KeepAlive(), ServerKeyRequest(1)], ids=["short", "opening"])
def test_nobody_is_thrown_out_by_trying_all_checks(endpoint, packet):
    player = Player(endpoint).connect()
    packet = push_packet(packet)
    heard = []
    for guess in range(0x10000):
        now = 1.0 + guess / 10_000
        if guess % 4 == 0:
            ask(endpoint, session_id=guess, now=now)
        endpoint.receive_datagram(packet + guess.to_bytes(2, "big"), HOME, now)
        heard += drain(player.peer)
    assert endpoint.get(HOME) is player.peer
    assert not any(isinstance(event, SessionClosed) for event in heard)
    assert endpoint.drops["too many wrong checks"] > 10_000
    assert player.says(5, 8.0)


def test_an_address_may_be_taken_over_again_after_a_pause():
    endpoint = make_endpoint(takeover_pause=30.0)
    Player(endpoint).connect()
    ask(endpoint, session_id=99, now=1.0)
    for _ in range(5):
        endpoint.receive_datagram(b"\x00\x06\x00\x00", HOME, 1.0)
    assert ask(endpoint, session_id=8, now=30.9) is None
    assert Player(endpoint, session_id=8).connect(31.0).says(5, 32.0)


def test_a_few_damaged_datagrams_keep_no_restarted_client_out(endpoint):
    Player(endpoint).connect()
    new = Player(endpoint, session_id=8).begin(1.0)
    for _ in range(4):
        endpoint.receive_datagram(b"\x00\x06\x00\x00", HOME, 1.0)
    new.exchange(1.0)
    assert new.says(5, 2.0)


# -- one check key for all, as EQ2Emulator has it ---------------------------------------------


def sealed(packet):
    return Seal(PUBLIC).seal(push_packet(packet))


def test_with_a_public_key_nobody_gets_more_than_three_times_its_bytes_before_it_acknowledges():
    endpoint = make_endpoint(check_key=PUBLIC)
    given = got = 0
    session = None
    for data in (push_packet(SessionRequest(7)), sealed(ServerKeyRequest(1, packets_received=1))):
        session = endpoint.receive_datagram(data, HOME, 0.0)
        given += len(data)
        got += sum(len(answer) for answer, _ in endpoint.datagrams_to_send())
    while session is not None and not session.ended:
        now = session.get_timer()
        session.handle_timer(now)
        got += sum(map(len, session.datagrams_to_send(now)))
        assert got <= 3 * given
    assert got > given


def test_with_a_public_key_a_client_that_died_after_its_key_request_gets_its_key_at_once():
    endpoint = make_endpoint(check_key=PUBLIC)
    dead = Player(endpoint).begin()
    dead.exchange(0.0, rounds=1)
    assert dead.peer is not None
    assert dead.peer.key is None
    again = Player(endpoint, session_id=8).connect(0.5)
    assert again.says(5, 1.0)
    assert endpoint.next_ended() is dead.peer


def test_with_a_key_of_its_own_a_client_that_died_gets_its_key_at_once_too(endpoint):
    dead = Player(endpoint).begin()
    dead.exchange(0.0, rounds=1)
    assert Player(endpoint, session_id=8).connect(0.5).says(5, 1.0)


def test_with_a_public_key_a_client_that_died_after_its_login_comes_back_at_once():
    endpoint = make_endpoint(check_key=PUBLIC)
    Player(endpoint).connect()
    assert Player(endpoint, session_id=8).connect(0.5).says(5, 1.0)


def test_with_a_public_key_a_host_counts_what_was_acknowledged():
    endpoint = make_endpoint(check_key=PUBLIC, sessions_per_host_limit=1)
    for port in range(2000, 2064):
        endpoint.receive_datagram(sealed(ServerKeyRequest(1)), (HOME[0], port), 0.0)
    assert len(endpoint) == 64
    player = Player(endpoint).connect()
    assert player.peer.acknowledged
    assert ask(endpoint, (HOME[0], 3000)) is None


def test_with_a_public_key_what_was_not_acknowledged_is_bounded():
    endpoint = make_endpoint(check_key=PUBLIC, half_open_limit=3)
    player = Player(endpoint).connect()
    for port in range(2000, 2010):
        endpoint.receive_datagram(sealed(ServerKeyRequest(1)), ("198.51.100.1", port), 0.0)
    assert len(endpoint) == 4
    ended = [endpoint.next_ended() for _ in range(8)]
    assert drain(ended[0])[-1] == SessionClosed(CloseReason.EVICTED)
    assert ended[-1] is None
    assert player.says(5, 1.0)


def test_with_a_public_key_one_that_acknowledges_when_its_host_is_full_is_let_go():
    endpoint = make_endpoint(check_key=PUBLIC, sessions_per_host_limit=1)
    early = Player(endpoint, (HOME[0], 2000)).begin().exchange(0.0, rounds=1)
    assert not early.peer.acknowledged
    Player(endpoint).connect()
    early.exchange(0.0)
    assert early.peer.ended
    assert len(endpoint) == 1


def test_the_key_of_one_address_does_not_reveal_that_of_another(endpoint):
    keys = [ask(endpoint, address).key for address in itertools.islice(addresses(), 2000)]
    assert len(set(keys)) == len(keys)
    bits = sum((one ^ other).bit_count() for one, other in itertools.pairwise(keys))
    assert 15 < bits / (len(keys) - 1) < 17


def test_random_bytes_from_many_addresses_leave_nothing_behind(endpoint):
    source = random.Random(3)
    for address in itertools.islice(addresses(), 3000):
        endpoint.receive_datagram(b"\x00\x07" + source.randbytes(42), address, 0.0)
    assert len(endpoint) == endpoint.half_open == 0
