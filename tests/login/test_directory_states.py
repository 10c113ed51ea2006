from __future__ import annotations

from dataclasses import replace

from emu.login.directory import GONE, WorldStates, state_of
from tests.support.login.login_harness import NORRATH


def test_worlds_that_are_up_before_the_service_are_known() -> None:
    states = WorldStates([NORRATH, replace(NORRATH, id=2, up=False)])
    assert states[1] == (True, False)
    assert states[2] == states[3] == GONE


def test_the_lock_of_a_world_that_is_down_does_not_count() -> None:
    assert state_of(replace(NORRATH, locked=True)) == (True, True)
    assert state_of(replace(NORRATH, up=False, locked=True)) == GONE


def test_only_what_differs_is_a_change() -> None:
    states = WorldStates([NORRATH])
    assert not states.change(1, (True, False))
    assert states.change(1, (True, True))
    assert states[1] == (True, True)
    assert states.change(1, GONE)
    assert not states.change(1, GONE)
    assert not states.change(5, GONE)
    assert states[1] == GONE
