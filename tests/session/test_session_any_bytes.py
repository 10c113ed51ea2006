"""Any bytes whatever, in every state: events or a counted drop, never an exception."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emu.session import Role, StreamType
from emu.wire import ProtocolOpcode
from tests.support.examples import tries
from tools.fuzz_session import STATES, feed, make_session, random_datagram, sealed

OPCODES = st.one_of(st.sampled_from(list(ProtocolOpcode)), st.integers(0, 255))
SEQUENCES = st.one_of(st.integers(0, 70), st.integers(0, 0xFFFF)).map(
    lambda n: n.to_bytes(2, "big")
)
PACKETS = st.builds(
    lambda opcode, sequence, body: bytes((0, opcode)) + sequence + body,
    OPCODES,
    st.one_of(st.just(b""), SEQUENCES),
    st.binary(max_size=200),
)
SESSIONS = st.builds(
    make_session,
    st.sampled_from(sorted(STATES)),
    st.sampled_from(list(StreamType)),
    st.sampled_from(list(Role)),
)


@pytest.mark.slow
@tries(100)
@given(session=SESSIONS, datagrams=st.lists(st.one_of(st.binary(max_size=300), PACKETS)))
def test_bytes_without_a_check_do_no_harm(session, datagrams):
    feed(session, datagrams)


@pytest.mark.slow
@tries(100)
@given(session=SESSIONS, packets=st.lists(PACKETS))
def test_bytes_with_a_valid_check_do_no_harm(session, packets):
    feed(session, [sealed(session, packet) for packet in packets])


@tries(50)
@given(session=SESSIONS, seed=st.integers(0, 2**32))
@example(session=make_session("busy", StreamType.EQ2_STREAM, Role.SERVER), seed=1)
def test_bytes_in_the_form_of_a_peers_do_no_harm(session, seed):
    source = random.Random(seed)
    for number in range(30):
        feed(session, [random_datagram(source, session)], 1.0 + number * 0.05)


@pytest.mark.slow
def test_the_generator_reaches_what_only_a_peer_could_reach():
    source = random.Random(5)
    reasons = set()
    for _ in range(600):
        state = source.choice(sorted(STATES))
        session = make_session(state, source.choice(list(StreamType)), source.choice(list(Role)))
        for number in range(30):
            feed(session, [random_datagram(source, session)], 1.0 + number * 0.05)
        reasons |= set(session.drops)
    assert reasons >= {
        "bad check",
        "not allowed now",
        "duplicate packet",
        "fragmented message too long",
        "packet inside a run of fragments",
        "malformed AppCombined",
        "AppCombined inside an AppCombined",
        "message before the key",
        "ack of a packet never sent",
        "unused channel",
        "unknown protocol opcode",
        "combined packets too deep",
        "too many messages in an AppCombined",
        "zero key",
        "empty part",
        "too many parts",
    }
