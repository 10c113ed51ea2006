"""The state tables."""

from __future__ import annotations

import pytest

from emu.errors import LocalProtocolError
from emu.session import ConnectionState, Role
from emu.session.states import ALLOWED, STATES, TRANSITIONS, SessionPhase, SessionStep, Standing
from emu.wire import ProtocolOpcode as Op

OF_A_CLIENT = (
    SessionStep.ASK,
    SessionStep.ASK,
    SessionStep.AGREE,
    SessionStep.KEY,
    SessionStep.CLOSE,
    SessionStep.PART,
    SessionStep.PART,
    SessionStep.END,
)
OF_A_SERVER = (
    SessionStep.ANSWER,
    SessionStep.VALIDATE,
    SessionStep.KEY,
    SessionStep.CLOSE,
    SessionStep.PART,
    SessionStep.END,
)


@pytest.mark.parametrize(
    ("role", "steps"), [(Role.CLIENT, OF_A_CLIENT), (Role.SERVER, OF_A_SERVER)]
)
def test_the_way_of_the_seed(role, steps):
    standing = Standing(role)
    way = [STATES[standing.stage]]
    for step in steps:
        standing.step(step)
        if STATES[standing.stage] is not way[-1]:
            way.append(STATES[standing.stage])
        assert standing.allowed == ALLOWED[role, standing.stage]
    assert [state.name for state in way] == ["CLOSED", "ESTABLISHED", "CLOSING", "CLOSED"]


def test_no_step_leads_back():
    for (stage, step), following in TRANSITIONS.items():
        assert following >= stage, (stage, step)


@pytest.mark.parametrize(
    "stage", [stage for stage in SessionPhase if stage is not SessionPhase.ENDED]
)
def test_every_stage_can_end(stage):
    assert TRANSITIONS[stage, SessionStep.END] is SessionPhase.ENDED


def test_nothing_follows_the_end():
    assert SessionPhase.ENDED not in {stage for stage, _ in TRANSITIONS}
    assert not ALLOWED[Role.SERVER, SessionPhase.ENDED] | ALLOWED[Role.CLIENT, SessionPhase.ENDED]


def test_a_key_does_not_open_a_session_that_closes():
    for stage in (SessionPhase.CLOSING, SessionPhase.PARTING, SessionPhase.PARTED):
        assert TRANSITIONS[stage, SessionStep.KEY] is stage


@pytest.mark.parametrize(
    "step", [SessionStep.VALIDATE, SessionStep.KEY, SessionStep.CLOSE, SessionStep.PART]
)
def test_a_step_out_of_turn_is_our_own_error(step):
    standing = Standing(Role.SERVER)
    with pytest.raises(LocalProtocolError, match=f"NEW cannot {step.name}"):
        standing.step(step)
    assert standing.stage is SessionPhase.NEW


def test_every_stage_has_a_state_and_every_role_a_row_for_it():
    assert set(STATES) == set(SessionPhase)
    assert set(STATES.values()) == set(ConnectionState)
    assert set(ALLOWED) == {(role, stage) for role in Role for stage in SessionPhase}


@pytest.mark.parametrize("stage", list(SessionPhase))
def test_a_server_takes_no_session_response_and_no_out_of_session(stage):
    assert not {Op.SESSION_RESPONSE, Op.OUT_OF_SESSION} & ALLOWED[Role.SERVER, stage]


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("stage", list(SessionPhase))
def test_app_combined_is_never_a_packet_of_its_own(role, stage):
    assert Op.APP_COMBINED not in ALLOWED[role, stage]


@pytest.mark.parametrize("stage", [SessionPhase.NEW, SessionPhase.ASKED])
def test_before_a_session_only_its_set_up_is_taken(stage):
    assert ALLOWED[Role.SERVER, stage] == {Op.SESSION_REQUEST}
    assert ALLOWED[Role.CLIENT, stage] == {Op.SESSION_RESPONSE}
