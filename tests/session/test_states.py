"""The state tables."""

from __future__ import annotations

import pytest

from emu.session import ConnectionState, Role
from emu.session.states import ALLOWED, TRANSITIONS, Step
from emu.wire import ProtocolOpcode as Op


def test_the_way_of_the_seed():
    state = ConnectionState.CLOSED
    way = [state]
    for step in (Step.AGREED, Step.CLOSE, Step.ENDED):
        state = TRANSITIONS[state, step]
        way.append(state)
    assert [state.name for state in way] == ["CLOSED", "ESTABLISHED", "CLOSING", "CLOSED"]


@pytest.mark.parametrize("state", list(ConnectionState))
def test_every_state_can_end(state):
    assert TRANSITIONS[state, Step.ENDED] is ConnectionState.CLOSED


def test_every_role_and_state_has_a_row():
    assert set(ALLOWED) == {(role, state) for role in Role for state in ConnectionState}


@pytest.mark.parametrize("state", list(ConnectionState))
def test_a_server_takes_no_session_response_and_no_out_of_session(state):
    assert not {Op.SESSION_RESPONSE, Op.OUT_OF_SESSION} & ALLOWED[Role.SERVER, state]


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("state", list(ConnectionState))
def test_app_combined_is_never_a_packet_of_its_own(role, state):
    assert Op.APP_COMBINED not in ALLOWED[role, state]


def test_before_a_session_only_its_set_up_is_taken():
    assert ALLOWED[Role.SERVER, ConnectionState.CLOSED] == {Op.SESSION_REQUEST}
    assert ALLOWED[Role.CLIENT, ConnectionState.CLOSED] == {Op.SESSION_RESPONSE}
