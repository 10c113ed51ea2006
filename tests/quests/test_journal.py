"""Journals: progress that never goes back, and the stored text that gives all of it again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.model import LONGEST_JOURNAL
from emu.quests.journal import (
    MOST_COMPLETED,
    MOST_PENDING,
    MOST_QUESTS,
    Completion,
    Journal,
    PendingReward,
    Progressed,
)
from emu.quests.plans import MOST_REWARDS, MOST_STEPS, QuestPlan, QuestReward, Step, StepKind
from emu.times import Moment

NOW = Moment(1_800_000_000.0)


def plan(number: int = 1, *quantities: int) -> QuestPlan:
    made = QuestPlan(number, "Errand")
    for at, quantity in enumerate(quantities, 1):
        made.add_step(Step(at, StepKind.KILL, f"Step {at}.", quantity))
    return made


def test_a_step_is_cut_to_its_quantity_and_says_what_was_added() -> None:
    taken = Journal().take_quest(plan(1, 5, 1), 0, NOW)
    assert taken.add_progress(1, 3) == (Progressed.COUNTED, 3)
    assert taken.add_progress(1, 9) == (Progressed.DONE, 2)
    assert taken.add_progress(1, 1) == (Progressed.NOTHING, 0)
    assert (taken.count(1), taken.current_step, taken.has_all_done) == (5, 2, False)
    assert taken.complete(2)
    assert taken.has_all_done
    assert taken.current_step == 0


def test_a_step_without_a_quantity_ends_by_scripts_alone() -> None:
    taken = Journal().take_quest(plan(1, 0), 0, NOW)
    assert taken.add_progress(1, 100) == (Progressed.COUNTED, 100)
    assert taken.is_open(1)
    assert taken.complete(1)
    assert taken.is_done(1)


def test_a_failed_step_is_neither_open_nor_done() -> None:
    taken = Journal().take_quest(plan(1, 1), 0, NOW)
    assert taken.fail(1)
    assert not taken.fail(1)
    assert not taken.complete(1)
    assert not taken.has_all_done
    taken.reset(1)
    assert taken.is_open(1)


def test_which_quests_may_be_taken() -> None:
    journal = Journal()
    errand, daily = plan(1, 1), plan(2, 1)
    daily.is_repeatable = True
    for one in (errand, daily):
        assert journal.may_take(one)
        journal.take_quest(one, 0, NOW)
        assert not journal.may_take(one)
        assert journal.finish(one.number, NOW) == 1
    assert not journal.may_take(errand)
    assert journal.may_take(daily)
    for number in range(10, 10 + MOST_QUESTS):
        journal.take_quest(plan(number, 1), 0, NOW)
    assert not journal.may_take(daily)


def test_what_is_stored_comes_again_also_of_a_quest_that_is_gone() -> None:
    journal = Journal()
    taken = journal.take_quest(plan(7, 3, 1), 55, NOW)
    taken.add_progress(1, 2)
    taken.complete(2)
    taken.set_end(1, Moment(NOW + 60))
    taken.is_tracked = False
    journal.take_quest(plan(8, 1), 0, NOW)
    journal.finish(8, NOW)
    reward = QuestReward(coins=5, items=((9, 2),), choices=((3, 1),), factions=((11, -40),))
    journal.pending.append(PendingReward(8, "1", "Errand", "Done.", reward, level=2))
    again = Journal(journal.text)
    assert again.text == journal.text
    assert again.open[7].plan is None
    assert (again.open[7].counts, again.open[7].done) == ({1: 2, 2: 1}, {2})
    assert (again.open[7].giver, again.open[7].accepted) == (55, NOW)
    assert again.completed == journal.completed
    assert again.pending == journal.pending


@given(st.text(max_size=40) | st.from_regex(r'\{"(open|done|rewards)":\{?.{0,40}', fullmatch=True))
def test_a_damaged_text_is_read_as_far_as_it_can_be_understood(text: str) -> None:
    journal = Journal(text)
    assert Journal(journal.text).text == journal.text


ACTS = st.lists(
    st.tuples(st.sampled_from(["add", "complete", "fail", "reset"]), st.integers(1, 4),
              st.integers(-2, 6)), max_size=30,
)  # fmt: skip


@given(ACTS)
def test_progress_keeps_its_bounds(acts: list[tuple[str, int, int]]) -> None:
    journal = Journal()
    taken = journal.take_quest(plan(1, 1, 3, 0), 0, NOW)
    for act, number, amount in acts:
        before = taken.count(number)
        if act == "add":
            _, added = taken.add_progress(number, amount)
            assert taken.count(number) == before + added
        else:
            getattr(taken, act)(number)
        for one in taken.plan.steps.values() if taken.plan else ():
            assert taken.count(one.number) >= 0
            if one.quantity:
                assert taken.count(one.number) <= one.quantity
                assert (taken.count(one.number) == one.quantity) == taken.is_done(one.number)
        assert not taken.done & taken.failed
        assert Journal(journal.text).text == journal.text


@pytest.mark.slow
def test_the_largest_journal_can_be_stored() -> None:
    journal, largest = Journal(), 0xFFFFFFFF
    for number in range(MOST_QUESTS):
        taken = journal.take_quest(plan(largest - number, *[9999] * MOST_STEPS), largest, NOW)
        for step in range(1, MOST_STEPS):
            taken.add_progress(step, 9999)
    for number in range(MOST_COMPLETED):
        journal.completed[largest - number] = Completion(999, NOW)
    things = ((largest, largest),) * MOST_REWARDS
    reward = QuestReward(coins=largest, items=things, choices=things, factions=things)
    for number in range(MOST_PENDING):
        one = PendingReward(largest - number, "gift999.999", "x" * 255, "\x85" * 5000, reward)
        journal.pending.append(one)
    assert 400_000 < len(journal.text) <= LONGEST_JOURNAL
