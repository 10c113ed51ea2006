"""Sessions whose client sends from another address (docs/protocol/transport.md#moves)."""

from __future__ import annotations

import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.session import AddressChanged, AddressChanges, CloseReason, Message, Role, Session
from emu.session.configuration import SessionConfig, StreamType
from emu.session.moves import CHECKS_PER_SECOND, HOST_SHARE, MOST_CLAIMS
from emu.times import Monotonic
from emu.wire import Ack, KeepAlive, ReliablePacket, Seal, push_packet
from tests.support.sessions.link import KEY_BLOCK
from tests.support.sessions.players import make_endpoint

HOME = ("192.0.2.1", 1000)
NEW_PORT = ("192.0.2.1", 2000)
NEW_HOST = ("198.51.100.7", 1000)
OUTSIDER = ("203.0.113.9", 666)


class Net:
    """An endpoint, and clients each of which has the address that the network gives it."""

    def __init__(self, stream=StreamType.EQ2_STREAM, **settings):
        self.config = SessionConfig(stream_type=stream)
        self.endpoint = make_endpoint(session=self.config, **settings)
        self.now = 10.0
        self.clients = {}
        self.heard = []
        self.got = {}
        self.wire = []

    def client(self, address=HOME, session_id=7):
        """Return a client that has a session with a key."""
        client = Session(self.config, role=Role.CLIENT, session_id=session_id, key_block=KEY_BLOCK)
        self.clients[client] = address
        client.connect(Monotonic(self.now))
        client.send(1, b"hello")
        self.run(0.1)
        session = self.endpoint.get(address)
        session.trust()
        return client, session

    def rebind(self, client, address):
        self.clients[client] = address

    def give(self, data, address):
        """Bring one datagram, and keep what the endpoint replies to the address."""
        session = self.endpoint.receive_datagram(data, address, Monotonic(self.now))
        replies = self.endpoint.datagrams_to_send()
        assert all(to == address for _, to in replies)
        if session is not None:
            while (event := session.next_event()) is not None:
                self.heard.append((session, event))
        return [reply for reply, _ in replies]

    def run(self, seconds=0.5):
        """Let time pass: datagrams take 10 ms, and lose themselves at addresses of nobody."""
        end = self.now + seconds
        while self.now < end:
            self.now += 0.01
            for client, address in list(self.clients.items()):
                self._due(client)
                for data in client.datagrams_to_send(Monotonic(self.now)):
                    self.wire.append((address, data))
                    for reply in self.give(data, address):
                        self.arrives(reply, address)
            for session in self.endpoint:
                self._due(session)
                for data in session.datagrams_to_send(Monotonic(self.now)):
                    self.arrives(data, session.address)

    def _due(self, session):
        timer = session.get_timer()
        if timer is not None and timer <= self.now:
            session.handle_timer(Monotonic(self.now))

    def arrives(self, data, address):
        for client, place in self.clients.items():
            if place == address:
                client.receive_datagram(data, Monotonic(self.now))
                while (event := client.next_event()) is not None:
                    self.got.setdefault(client, []).append(event)

    def messages(self, session):
        return [event for at, event in self.heard if at is session and type(event) is Message]


@pytest.fixture
def net():
    return Net()


@pytest.mark.parametrize("stream", list(StreamType))
@pytest.mark.parametrize("address", [NEW_PORT, NEW_HOST])
def test_a_session_moves_to_the_address_its_client_sends_from(stream, address):
    net = Net(stream)
    client, session = net.client()
    net.rebind(client, address)
    client.send(5, b"from elsewhere")
    net.run()
    assert session.address == address
    assert net.endpoint.get(address) is session
    assert net.endpoint.get(HOME) is None
    assert net.messages(session)[-1] == Message(5, b"from elsewhere")
    assert (session, AddressChanged(HOME, address)) in net.heard
    assert net.endpoint.moved == [(session, HOME)]
    session.send(6, b"to there")
    client.send(7, b"again")
    net.run()
    assert Message(6, b"to there") in net.got[client]
    assert net.messages(session)[-1] == Message(7, b"again")
    assert not session.drops.get("bad check")


def test_what_was_sent_to_the_old_address_is_sent_again_at_once(net):
    client, session = net.client()
    net.rebind(client, NEW_PORT)
    for number in range(20):
        session.send(9, b"%d" % number)
    net.run(4.0)  # the retransmissions wait longer and longer
    client.send(5, b"from elsewhere")
    net.run(0.2)
    got = [event for event in net.got[client] if type(event) is Message]
    assert got == [Message(9, b"%d" % number) for number in range(20)]


def test_a_datagram_that_carries_acks_too_moves_the_session(net):
    client, session = net.client()
    session.send(9, b"one")
    for data in session.datagrams_to_send(Monotonic(net.now)):
        client.receive_datagram(data, Monotonic(net.now))
    net.rebind(client, NEW_PORT)
    client.send(5, b"with an ack")  # in one Combined
    net.run()
    assert session.address == NEW_PORT
    assert net.messages(session)[-1] == Message(5, b"with an ack")


def test_a_long_message_moves_the_session(net):
    client, session = net.client()
    net.rebind(client, NEW_PORT)
    client.send(5, bytes(2000))
    net.run()
    assert session.address == NEW_PORT
    assert net.messages(session)[-1] == Message(5, bytes(2000))


def test_a_session_moves_there_and_back(net):
    client, session = net.client()
    for number, address in enumerate((NEW_PORT, HOME, NEW_HOST, NEW_PORT, HOME)):
        net.rebind(client, address)
        client.send(5, b"%d" % number)
        net.run()
        assert session.address == address
    assert len(net.messages(session)) == 6
    assert net.endpoint.moves == 5
    assert len(net.endpoint) == 1


def test_two_clients_behind_one_router_keep_apart(net):
    one, first = net.client(("192.0.2.1", 1000), 7)
    two, second = net.client(("192.0.2.1", 1001), 8)
    net.rebind(one, ("192.0.2.1", 1002))
    net.rebind(two, ("192.0.2.1", 1003))
    one.send(5, b"one")
    two.send(5, b"two")
    net.run()
    assert first.address == ("192.0.2.1", 1002)
    assert second.address == ("192.0.2.1", 1003)
    assert net.messages(first)[-1].payload == b"one"
    assert net.messages(second)[-1].payload == b"two"


def test_a_new_client_at_an_address_that_was_left_gets_another_check_key(net):
    client, session = net.client()
    net.rebind(client, NEW_PORT)
    client.send(5, b"x")
    net.run()
    _, other = net.client(HOME, 9)
    assert other is not session
    assert other.check_key != session.check_key
    assert not session.ended


def test_the_address_of_another_session_is_not_taken(net):
    client, session = net.client()
    _, other = net.client(NEW_PORT, 8)
    net.rebind(client, NEW_PORT)
    client.send(5, b"x")
    net.run()
    assert session.address == HOME
    assert net.endpoint.get(NEW_PORT) is other


def test_a_full_host_takes_no_session_of_another_host():
    net = Net(sessions_per_host_limit=1)
    client, session = net.client()
    net.client(("198.51.100.7", 5), 8)
    net.rebind(client, NEW_HOST)
    client.send(5, b"x")
    net.run()
    assert session.address == HOME
    assert net.endpoint.drops["too many sessions of one host"]
    net.rebind(client, NEW_PORT)
    net.run(6.0)
    assert session.address == NEW_PORT


def test_the_limit_of_a_host_counts_a_session_where_it_is_now():
    net = Net(sessions_per_host_limit=1)
    client, _ = net.client()
    net.rebind(client, NEW_HOST)
    client.send(5, b"x")
    net.run()
    net.client(HOME, 9)  # the host that it left takes another


@pytest.mark.parametrize(
    ("rule", "address", "moves"),
    [
        (AddressChanges.NEVER, NEW_PORT, False),
        (AddressChanges.PORT, NEW_PORT, True),
        (AddressChanges.PORT, NEW_HOST, False),
        (AddressChanges.ANY, NEW_HOST, True),
    ],
)
def test_a_setting_says_which_changes_are_followed(rule, address, moves):
    net = Net(address_changes=rule)
    client, session = net.client()
    net.rebind(client, address)
    client.send(5, b"x")
    net.run()
    assert (session.address == address) is moves


def test_with_a_check_key_that_everybody_knows_no_session_moves():
    net = Net(check_key=0x33624702)
    client, session = net.client()
    net.rebind(client, NEW_PORT)
    client.send(5, b"x")
    net.run()
    assert session.address == HOME


def test_a_session_without_a_cipher_does_not_move(net):
    client = Session(net.config, role=Role.CLIENT, session_id=7, key_block=KEY_BLOCK)
    client.connect(Monotonic(net.now))
    net.clients[client] = HOME
    net.run(0.02)
    session = net.endpoint.get(HOME)
    assert session.key is None
    seal = Seal(session.check_key)
    for sequence in range(3):
        packet = ReliablePacket(sequence, b"\xff\xff\xff\xff" + bytes(range(64)))
        net.give(seal.seal(push_packet(packet)), NEW_PORT)
        net.give(seal.seal(push_packet(Ack(sequence))), NEW_PORT)
    assert session.address == HOME


class TestForgers:
    """Nothing that is made without the keys moves a session."""

    def test_a_copy_of_each_datagram_moves_nothing(self, net):
        client, session = net.client()
        for number in range(5):
            client.send(5, b"%d" % number)
            net.run(0.1)
        for _, data in list(net.wire):
            net.give(data, OUTSIDER)
        assert session.address == HOME
        assert len(net.messages(session)) == 6

    def test_a_copy_that_is_faster_than_the_original_moves_nothing(self, net):
        client, session = net.client()
        client.send(5, b"x")
        for data in client.datagrams_to_send(Monotonic(net.now)):
            (question,) = net.give(data, OUTSIDER)
            assert len(question) < len(data) + 2
            net.now += 0.01
            net.give(data, HOME)
        # Even the answer is void now: the old address was heard after the copy.
        sealed = Seal(session.check_key)
        net.now += 0.01
        net.give(sealed.seal(push_packet(Ack(0))), OUTSIDER)
        assert session.address == HOME
        assert net.messages(session)[-1] == Message(5, b"x")

    def test_a_copy_alone_does_not_touch_the_session(self, net):
        client, session = net.client()
        client.send(5, b"x")
        (data,) = client.datagrams_to_send(Monotonic(net.now))
        before = session.counts(), session.last_received
        for _ in range(50):
            net.give(data, OUTSIDER)
        assert (session.counts(), session.last_received) == before
        net.give(data, HOME)
        assert net.messages(session)[-1] == Message(5, b"x")

    def test_all_checks_of_one_packet_move_nothing(self, net):
        """A check has 16 bits: one of these datagrams has the right one."""
        _, session = net.client()
        packet = push_packet(ReliablePacket(2, b"\x17guess"))
        right = zlib.crc32(packet, session.place.check_start) & 0xFFFF
        asked = 0
        for number in range(right - 40, right + 40):
            net.now += 0.05
            datagram = packet + (number & 0xFFFF).to_bytes(2, "big")
            asked += len(net.give(datagram, OUTSIDER))
            for sequence in range(3):
                # The sender has seen no answer, so it guesses the check of an Ack as well.
                net.give(push_packet(Ack(sequence)) + number.to_bytes(2, "big"), OUTSIDER)
        assert session.address == HOME
        client = next(iter(net.clients))
        client.send(5, b"still here")
        net.run()
        assert net.messages(session)[-1] == Message(5, b"still here")

    def test_the_check_key_alone_moves_nothing(self, net):
        """A sender that knows the check but not its place in the streams."""
        _, session = net.client()
        seal = Seal(session.check_key)
        chance = random.Random(4)
        for _ in range(300):
            net.now += 0.05
            number = chance.randrange(0x10000)
            packet = ReliablePacket(number, chance.randbytes(chance.randrange(1, 40)))
            net.give(seal.seal(push_packet(packet)), OUTSIDER)
            net.give(seal.seal(push_packet(KeepAlive())), OUTSIDER)
            net.give(seal.seal(push_packet(Ack(number))), OUTSIDER)
        assert session.address == HOME

    @pytest.mark.slow
    @given(
        data=st.lists(
            st.one_of(
                st.binary(max_size=40),
                st.builds(lambda tail: b"\x00\x09\x00\x02" + tail, st.binary(max_size=40)),
                st.builds(lambda tail: b"\x00\x03" + tail, st.binary(max_size=40)),
                st.builds(lambda tail: b"\x00\x0d\x00\x02" + tail, st.binary(max_size=40)),
                st.builds(lambda tail: b"\x00\x15\x00\x02" + tail, st.binary(max_size=4)),
            ),
            max_size=30,
        )
    )
    def test_whatever_a_blind_sender_sends_moves_nothing(self, data):
        net = Net()
        client, session = net.client()
        for datagram in data:
            if datagram[:2] != b"\x00\x01":
                net.give(datagram, OUTSIDER)
        assert session.address == HOME
        assert net.endpoint.get(OUTSIDER) is None
        client.send(5, b"still here")
        net.run(0.1)
        assert net.messages(session)[-1] == Message(5, b"still here")

    def test_one_host_does_not_use_up_the_searches_of_others(self, net):
        client, session = net.client()
        noise = b"\x00\x09\x00\x02" + bytes(20)
        for _ in range(CHECKS_PER_SECOND // 100):
            net.give(noise, OUTSIDER)
        net.rebind(client, NEW_HOST)
        client.send(5, b"x")
        net.run(0.1)
        assert session.address == NEW_HOST

    def test_the_searches_of_a_second_are_limited(self, net):
        net.client()
        moves = net.endpoint._moves
        net.now = 100.0
        for number in range(CHECKS_PER_SECOND // 50):
            net.give(b"\x00\x09\x00\x02" + bytes(20), (f"198.51.100.{number % 200}", 9))
        assert moves._spent < CHECKS_PER_SECOND + 200
        assert max(moves._spent_by_host.values()) <= CHECKS_PER_SECOND // HOST_SHARE + 200

    def test_the_addresses_in_doubt_are_limited(self, net):
        client, _ = net.client()
        client.send(5, b"x")
        (data,) = client.datagrams_to_send(Monotonic(net.now))
        for number in range(MOST_CLAIMS + 10):
            net.give(data, (f"198.51.100.{number % 100}", number))
        assert len(net.endpoint._moves._claims) == MOST_CLAIMS


def test_an_ended_session_does_not_move(net):
    client, session = net.client()
    net.rebind(client, NEW_PORT)
    client.send(5, b"x")
    datagrams = client.datagrams_to_send(Monotonic(net.now))
    session.discard(CloseReason.FAULT)
    for data in datagrams:
        assert net.give(data, NEW_PORT) == []
    assert session.address == HOME
