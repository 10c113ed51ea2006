"""The account of a session's work: what it may spend, and when it may go on."""

from __future__ import annotations

import pytest

from emu.limits.rates import TurnRules, WorkBudget
from emu.times import Monotonic

RULES = TurnRules(share=0.05, reserve=0.1, slice=0.002)
START = Monotonic(100.0)


def after(seconds: float) -> Monotonic:
    return Monotonic(START + seconds)


def test_the_reserve_may_be_spent_at_once_and_no_more() -> None:
    budget = WorkBudget(RULES, START)
    budget.charge(0.09, START)
    assert budget.resumes_at() is None
    budget.charge(RULES.reserve - 0.09, START)
    assert budget.resumes_at() == pytest.approx(after(0.002 / 0.05))
    assert budget.reads_at() is None


def test_it_refills_by_its_share_up_to_the_reserve() -> None:
    budget = WorkBudget(RULES, START)
    budget.charge(0.1, START)
    budget.charge(0.0, after(1.0))
    assert budget.resumes_at() is None
    budget.charge(0.049, after(1.0))
    assert budget.resumes_at() is None
    budget.charge(0.002, after(1.0))
    assert budget.resumes_at() is not None
    budget.charge(0.0999, after(1000.0))
    assert budget.resumes_at() is None


def test_debt_has_a_bound_so_that_nobody_is_kept_out_for_long() -> None:
    budget = WorkBudget(RULES, START)
    budget.charge(3600.0, START)
    resumes_at = budget.resumes_at()
    assert resumes_at == pytest.approx(after((0.01 + 0.002) / 0.05))


def test_at_the_bound_its_datagrams_are_not_read_for_a_moment() -> None:
    budget = WorkBudget(RULES, START)
    budget.charge(3600.0, START)
    assert budget.reads_at() == pytest.approx(after(0.002 / 0.05))
    budget.charge(0.0, after(0.002 / 0.05))
    assert budget.reads_at() is None
    assert budget.resumes_at() is not None


def test_a_session_that_spends_everything_has_its_share_over_time() -> None:
    budget, now, spent = WorkBudget(RULES, START), START, 0.0
    while now < after(100.0):
        resumes_at = budget.resumes_at()
        if resumes_at is not None:
            now = Monotonic(max(now, resumes_at))
        budget.charge(0.002, now)
        spent += 0.002
        now = Monotonic(now + 0.002)
    assert spent <= 0.05 * 100.0 + 0.1 + 0.01
    assert spent >= 0.05 * 100.0 * 0.9
