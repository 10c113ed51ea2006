"""Two sessions over a bad network: everything arrives once and in order, at a sane price."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from emu.session import Role, SessionConfig, SessionEstablished
from tests.support.examples import tries
from tests.support.sessions.link import Link, connected_link, make_sessions

MESSAGES = st.tuples(st.integers(0, 400), st.binary(max_size=1500))


class LossyLink(RuleBasedStateMachine):
    """What was sent by one side is what the other got, whatever the network does."""

    @initialize(
        loss=st.floats(0, 0.3),
        duplicate=st.floats(0, 0.3),
        reorder=st.floats(0, 0.5),
        seed=st.integers(0, 2**32),
        first_sequence=st.sampled_from((0, 1, 0x7FFE, 0xFFF0, 0xFFFF)),
        max_length=st.sampled_from((64, 200, 512, 1400)),
    )
    def begin(self, *, loss, duplicate, reorder, seed, first_sequence, max_length):
        config = SessionConfig(
            first_sequence=first_sequence,
            max_length=max_length,
            session_request_attempts=100,
            unvalidated_lifetime=100.0,
            transmission_limit=60,
            idle_timeout=1000.0,
        )
        client, server = make_sessions(config)
        self.link = Link(client, server, loss=loss, duplicate=duplicate, reorder=reorder, seed=seed)
        self.sent = {Role.CLIENT: [], Role.SERVER: []}
        client.connect(self.link.now)

    def send(self, session, messages):
        for opcode, body in messages:
            session.send(opcode, body)
            self.sent[session.role].append((opcode, body))

    @rule(messages=st.lists(MESSAGES, max_size=8))
    def client_sends(self, messages):
        self.send(self.link.client, messages)

    @rule(messages=st.lists(MESSAGES, max_size=8))
    def server_sends(self, messages):
        self.send(self.link.server, messages)

    @rule(opcode=st.integers(0, 254), size=st.integers(10_000, 60_000), seed=st.integers(0, 99))
    def server_sends_much(self, opcode, size, seed):
        self.send(self.link.server, [(opcode, random.Random(seed).randbytes(size))])

    @rule(seconds=st.floats(0.001, 3))
    def time_passes(self, seconds):
        self.link.run(seconds)

    @precondition(lambda self: hasattr(self, "link"))
    @invariant()
    def received_is_a_prefix_of_sent(self):
        assert not self.link.client.ended
        assert not self.link.server.ended
        for sender, receiver in ((Role.CLIENT, Role.SERVER), (Role.SERVER, Role.CLIENT)):
            received = self.link.messages(receiver)
            assert received == self.sent[sender][: len(received)]

    def teardown(self):
        if hasattr(self, "link"):
            while not self.link.client.key and self.link.step(self.link.now + 300):
                pass
            self.link.settle()
            for sender, receiver in ((Role.CLIENT, Role.SERVER), (Role.SERVER, Role.CLIENT)):
                assert self.link.messages(receiver) == self.sent[sender]


@pytest.mark.slow
def test_whatever_happens_on_the_way_all_of_it_arrives_in_order():
    steps = settings(tries(40), stateful_step_count=15)
    run_state_machine_as_test(LossyLink, settings=steps)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("reorder", [0.0, 0.02])
def test_five_percent_loss_costs_fewer_than_fifteen_percent_extra_datagrams(seed, reorder):
    def datagrams(loss, reorder):
        link = connected_link(loss=loss, reorder=reorder, seed=seed)
        for number in range(60):
            for index in range(10):
                link.server.send(9, random.Random(f"{number}.{index}").randbytes(400))
            link.client.send(3, b"answer %d" % number)
            link.run(0.2)
        link.settle()
        assert len(link.messages(Role.CLIENT)) == 600
        assert len(link.messages(Role.SERVER)) == 60
        return link

    perfect = datagrams(0.0, 0.0)
    lossy = datagrams(0.05, reorder)
    assert lossy.lost > 20
    needed = perfect.server.statistics()
    assert needed.retransmissions == 0
    extra = lossy.server.statistics().retransmissions / 600
    assert 0.03 < extra < 0.15
    assert lossy.carried_by[Role.SERVER] < 1.15 * perfect.carried_by[Role.SERVER]


@pytest.mark.slow
@pytest.mark.parametrize("loss", [0.0, 0.1, 0.2, 0.3])
def test_bulk_arrives_whole_across_the_sequence_wrap(loss):
    config = SessionConfig(first_sequence=0xFF00, transmission_limit=60)
    link = connected_link(config, loss=loss, duplicate=0.1, reorder=0.2, seed=7)
    # Random-looking so that it does not shrink: some 600 fragments.
    body = b"".join(number.to_bytes(4, "little") for number in range(0, 2**32 - 1, 57_266))
    for number in range(4):
        link.server.send(number, body)
    link.settle()
    assert link.messages(Role.CLIENT) == [(number, body) for number in range(4)]
    assert link.server.statistics().packets_in_flight == 0


def lose_one(link, lost):
    carry = link._carry
    numbers = itertools.count()

    def carry_but_one(receiver, datagram):
        if next(numbers) != lost:
            carry(receiver, datagram)

    link._carry = carry_but_one


def test_set_up_survives_loss_of_any_of_its_datagrams():
    for lost in range(8):
        client, server = make_sessions(SessionConfig(session_request_attempts=4))
        link = Link(client, server)
        lose_one(link, lost)
        client.connect(link.now)
        client.send(0, b"login")
        link.run(8.0)
        assert link.messages(Role.SERVER) == [(0, b"login")], lost
        assert sum(isinstance(e, SessionEstablished) for e in link.events[Role.SERVER]) == 1


def transfer(link, *, size=500_000):
    """Send incompressible messages from server to client and wait for the end of it."""
    messages = [(9, random.Random(number).randbytes(1000)) for number in range(size // 1000)]
    for message in messages:
        link.server.send(*message)
    before = link.server.statistics().bytes_sent
    link.settle()
    assert link.messages(Role.CLIENT) == messages
    return (link.server.statistics().bytes_sent - before) / size


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_receiver_that_holds_less_than_a_flight_gets_everything(seed):
    """32 KiB held at 1 % loss: the sender must not wait for what the receiver threw away."""
    link = connected_link(SessionConfig(held_bytes_limit=32 * 1024), loss=0.01, seed=seed)
    assert transfer(link) < 1.5


@pytest.mark.parametrize("held", [2048, 8192])
@pytest.mark.parametrize("seed", range(3))
def test_a_receiver_that_holds_next_to_nothing_gets_everything(held, seed):
    link = connected_link(SessionConfig(held_bytes_limit=held), loss=0.05, seed=seed)
    assert transfer(link, size=200_000) < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.0001, 0.0005])
@pytest.mark.parametrize("jitter", [0.00002, 0.0005])
def test_a_fifth_lost_on_a_short_path_does_not_double_the_bytes(delay, jitter):
    link = connected_link(loss=0.2, delay=delay, jitter=jitter, seed=4)
    assert transfer(link) < 1.7
