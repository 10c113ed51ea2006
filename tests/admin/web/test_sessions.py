from __future__ import annotations

import itertools

import pytest

from emu.admin.web.sessions import SessionRules, Sessions
from emu.model import Account
from emu.times import Monotonic

RULES = SessionRules(idle=100.0, longest=1000.0, most=4, most_per_account=2)


def account(number: int = 1) -> Account:
    return Account(number, f"account{number}", "hash")


def at(seconds: float) -> Monotonic:
    return Monotonic(seconds)


@pytest.fixture
def sessions() -> Sessions:
    numbers = itertools.count(1)
    return Sessions(RULES, lambda size: next(numbers).to_bytes(size, "big"))


def test_a_token_finds_its_session_and_no_other(sessions: Sessions) -> None:
    token, session = sessions.begin(account(), at(0))
    other, _ = sessions.begin(account(2), at(0))
    assert len(token) == 43
    assert len({token, other, session.csrf}) == 3
    assert sessions.find(token, at(1)) is session
    for wrong in ("", "x", token[:-1], token + "A", "x" * 10_000, "\udc80"):
        assert sessions.find(wrong, at(1)) is None


def test_the_token_itself_is_not_kept(sessions: Sessions) -> None:
    token, _ = sessions.begin(account(), at(0))
    assert token not in repr(vars(sessions))


def test_a_session_that_is_not_used_is_over(sessions: Sessions) -> None:
    token, session = sessions.begin(account(), at(0))
    assert sessions.find(token, at(99)) is session
    session.used = at(99)
    assert sessions.find(token, at(198)) is session
    assert sessions.find(token, at(199)) is None
    assert len(sessions) == 0


def test_a_session_that_is_used_all_the_time_is_over_in_the_end(sessions: Sessions) -> None:
    token, session = sessions.begin(account(), at(0))
    session.used = at(999)
    assert sessions.find(token, at(999)) is session
    assert sessions.find(token, at(1000)) is None


def test_an_ended_session_does_not_come_back(sessions: Sessions) -> None:
    token, session = sessions.begin(account(), at(0))
    sessions.end(session)
    sessions.end(session)
    assert sessions.find(token, at(0)) is None


def test_an_account_has_few_the_oldest_goes(sessions: Sessions) -> None:
    tokens = [sessions.begin(account(), at(n))[0] for n in range(3)]
    assert [sessions.find(token, at(3)) is None for token in tokens] == [True, False, False]


def test_all_together_are_bounded_the_one_not_used_for_longest_goes(sessions: Sessions) -> None:
    made = [sessions.begin(account(n), at(n)) for n in range(4)]
    made[0][1].used = at(50)
    sessions.begin(account(9), at(51))
    assert len(sessions) == 4
    assert sessions.find(made[0][0], at(52)) is not None
    assert sessions.find(made[1][0], at(52)) is None


def test_those_that_are_over_make_space_first(sessions: Sessions) -> None:
    for number in range(4):
        sessions.begin(account(number), at(0))
    sessions.begin(account(9), at(500))
    assert len(sessions) == 1
