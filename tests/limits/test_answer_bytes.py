"""The bytes of answers that all addresses without a proof have together."""

from __future__ import annotations

from emu.limits.answer_bytes import AnswerBytes


def test_a_second_has_so_many_bytes_for_all_together() -> None:
    budget = AnswerBytes(1000.0, 0.0)
    assert [budget.take(400, 0.0) for _ in range(4)] == [True, True, False, False]
    assert budget.take(200, 0.0)  # a shorter answer fits
    assert not budget.take(400, 0.3)
    assert budget.take(400, 0.5)
    assert (budget.sent, budget.refused) == (1400, 1200)


def test_no_more_than_a_second_is_saved_up() -> None:
    budget = AnswerBytes(1000.0, 0.0)
    assert sum(budget.take(100, 100.0) for _ in range(50)) == 10
