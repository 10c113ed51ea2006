"""The state tables."""

from __future__ import annotations

import itertools

import pytest

from emu.errors import LocalProtocolError
from emu.session import ConnectionState, Role, SessionConfig
from emu.session.lifecycle import (
    ALLOWED,
    STATES,
    TRANSITIONS,
    Lifecycle,
    SessionPhase,
    SessionStep,
    SessionTimers,
    TimerAction,
    request_pause,
)
from emu.times import Monotonic
from emu.wire import ProtocolOpcode as Op

OF_A_CLIENT = (
    SessionStep.REQUEST,
    SessionStep.REQUEST,
    SessionStep.ESTABLISH,
    SessionStep.KEY,
    SessionStep.CLOSE,
    SessionStep.DISCONNECT,
    SessionStep.DISCONNECT,
    SessionStep.END,
)
OF_A_SERVER = (
    SessionStep.RESPOND,
    SessionStep.VALIDATE,
    SessionStep.KEY,
    SessionStep.CLOSE,
    SessionStep.DISCONNECT,
    SessionStep.END,
)


@pytest.mark.parametrize(
    ("role", "steps"), [(Role.CLIENT, OF_A_CLIENT), (Role.SERVER, OF_A_SERVER)]
)
def test_the_states_of_a_whole_session(role, steps):
    lifecycle = Lifecycle(role)
    way = [STATES[lifecycle.phase]]
    for step in steps:
        lifecycle.advance(step)
        if STATES[lifecycle.phase] is not way[-1]:
            way.append(STATES[lifecycle.phase])
        assert lifecycle.allowed == ALLOWED[role, lifecycle.phase]
    assert [state.name for state in way] == ["CLOSED", "ESTABLISHED", "CLOSING", "CLOSED"]


def test_no_step_leads_back_to_an_earlier_phase():
    for (phase, step), following in TRANSITIONS.items():
        assert following >= phase, (phase, step)


@pytest.mark.parametrize(
    "phase", [phase for phase in SessionPhase if phase is not SessionPhase.ENDED]
)
def test_every_phase_can_end(phase):
    assert TRANSITIONS[phase, SessionStep.END] is SessionPhase.ENDED


def test_nothing_follows_the_end():
    assert SessionPhase.ENDED not in {phase for phase, _ in TRANSITIONS}
    assert not ALLOWED[Role.SERVER, SessionPhase.ENDED] | ALLOWED[Role.CLIENT, SessionPhase.ENDED]


def test_a_key_does_not_open_a_session_that_closes():
    for phase in (
        SessionPhase.CLOSING,
        SessionPhase.DISCONNECTING,
        SessionPhase.DISCONNECT_REPEATED,
    ):
        assert TRANSITIONS[phase, SessionStep.KEY] is phase


@pytest.mark.parametrize(
    "step", [SessionStep.VALIDATE, SessionStep.KEY, SessionStep.CLOSE, SessionStep.DISCONNECT]
)
def test_a_step_outside_the_table_is_a_local_error(step):
    lifecycle = Lifecycle(Role.SERVER)
    with pytest.raises(LocalProtocolError, match=f"NEW cannot {step.name}"):
        lifecycle.advance(step)
    assert lifecycle.phase is SessionPhase.NEW


def test_every_phase_has_a_state_and_every_role_a_row_for_it():
    assert set(STATES) == set(SessionPhase)
    assert set(STATES.values()) == set(ConnectionState)
    assert set(ALLOWED) == {(role, phase) for role in Role for phase in SessionPhase}


@pytest.mark.parametrize("phase", list(SessionPhase))
def test_a_server_takes_no_session_response_and_no_out_of_session(phase):
    assert not {Op.SESSION_RESPONSE, Op.OUT_OF_SESSION} & ALLOWED[Role.SERVER, phase]


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("phase", list(SessionPhase))
def test_app_combined_is_never_a_packet_of_its_own(role, phase):
    assert Op.APP_COMBINED not in ALLOWED[role, phase]


@pytest.mark.parametrize("phase", [SessionPhase.NEW, SessionPhase.REQUESTED])
def test_before_a_session_only_its_set_up_is_taken(phase):
    assert ALLOWED[Role.SERVER, phase] == {Op.SESSION_REQUEST}
    assert ALLOWED[Role.CLIENT, phase] == {Op.SESSION_RESPONSE}


CONFIG = SessionConfig()


def open_timers() -> SessionTimers:
    """Return the timers of a client's session that is open since 100.0."""
    lifecycle = Lifecycle(Role.CLIENT)
    timers = SessionTimers(CONFIG, Role.CLIENT, lifecycle)
    timers.request(Monotonic(99.0))
    timers.open(SessionStep.ESTABLISH, Monotonic(100.0))
    return timers


def test_statistics_pauses_grow_while_something_is_missing_and_up_to_a_bound():
    timers, now, pauses = open_timers(), Monotonic(100.0), []
    for _ in range(30):
        timers.plan_statistics(now, is_complete=False)
        planned = Monotonic(timers._next_statistics)
        pauses.append(planned - now)
        now = planned
    assert pauses[:3] == pytest.approx([request_pause(CONFIG, tries) for tries in range(3)])
    assert all(later >= earlier for earlier, later in itertools.pairwise(pauses))
    assert pauses[-1] == pytest.approx(CONFIG.timeout_maximum)
    timers.plan_statistics(now, is_complete=True)
    assert timers._next_statistics - now == pytest.approx(CONFIG.statistics_interval)


def test_statistics_that_are_due_come_with_the_keep_alive():
    timers = open_timers()
    due = Monotonic(100.0 + CONFIG.keep_alive_interval)
    assert list(timers.take_due(due)) == [TimerAction.SEND_KEEP_ALIVE]  # nothing planned
    timers.plan_statistics(Monotonic(100.0), is_complete=False)
    assert timers.get_timer(None) == 100.0 + CONFIG.session_request_pause
    assert list(timers.take_due(due)) == [
        TimerAction.SEND_KEEP_ALIVE,
        TimerAction.REQUEST_STATISTICS,
    ]
