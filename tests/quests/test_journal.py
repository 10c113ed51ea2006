"""Journals: progress that never goes back, and the stored text that gives all of it again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.model import LONGEST_JOURNAL
from emu.quests.journal import (
    MOST_COMPLETED,
    MOST_PENDING,
    MOST_QUESTS,
    NO_ENDS,
    Completion,
    Journal,
    PendingReward,
    Progressed,
)
from emu.quests.plans import (
    MOST_REWARDS,
    MOST_STEPS,
    QuestPlan,
    QuestReward,
    Step,
    StepKind,
    TaskGroup,
)
from emu.times import UNKNOWN, Moment

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


def test_progress_names_the_step_that_changed_last() -> None:
    taken = Journal().take_quest(plan(1, 5, 0, 1), 0, NOW)
    assert taken.add_progress(1, 0) == (Progressed.NOTHING, 0)
    assert taken.add_progress(4, 1) == (Progressed.NOTHING, 0)
    assert taken.last_step == 0
    taken.add_progress(2, 1)
    assert taken.last_step == 2
    taken.complete(1)
    assert (taken.last_step, taken.count(1)) == (1, 5)
    taken.fail(3)
    assert taken.last_step == 3
    assert [one.number for one in taken.open_steps()] == [2]


def test_the_time_of_a_step_ends_with_the_step() -> None:
    taken = Journal().take_quest(plan(1, 1, 1, 1, 1), 0, NOW)
    for number in range(1, 5):
        taken.set_end(number, Moment(NOW + number))
    taken.complete(1)
    taken.fail(2)
    taken.reset(3)
    assert taken.ends == {4: NOW + 4}
    taken.set_end(4, None)
    assert taken.ends is NO_ENDS


def test_a_count_of_nothing_is_not_kept() -> None:
    taken = Journal().take_quest(plan(1, 5, 5), 0, NOW)
    taken.set_count(1, 2)
    taken.set_count(2, 1)
    taken.set_count(1, 0)
    assert taken.counts == {2: 1}


def test_the_first_group_with_a_step_to_do_is_the_current_one() -> None:
    made = plan(1, 1, 1, 1)
    made.groups = (TaskGroup("Both", (1, 2)), TaskGroup("Last", (3,)))
    taken = Journal().take_quest(made, 0, NOW)
    assert taken.current_group == 1
    taken.complete(2)
    assert taken.current_group == 1
    taken.complete(1)
    assert taken.current_group == 2
    taken.complete(3)
    assert taken.current_group == 0
    taken.plan = None
    assert (taken.current_group, taken.current_step, list(taken.open_steps())) == (0, 0, [])
    assert not taken.has_all_done
    assert not taken.is_open(1)
    assert not taken.settle()


def test_a_quest_without_steps_is_never_all_done() -> None:
    assert not Journal().take_quest(plan(1), 0, NOW).has_all_done


def test_what_was_counted_often_enough_is_settled_by_a_changed_plan() -> None:
    taken = Journal().take_quest(plan(1, 5, 3, 0, 2), 0, NOW)
    for number, count in ((1, 4), (2, 3), (3, 9), (4, 2)):
        taken.set_count(number, count)
    taken.failed = frozenset({4})
    assert taken.settle()
    assert taken.done == (2,)
    assert not taken.settle()


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


def test_completions_are_counted_and_bounded() -> None:
    journal = Journal()
    assert (journal.times(2), bool(journal)) == (0, False)
    assert journal.finish(2, NOW) == 1
    assert journal.finish(2, Moment(NOW + 1)) == 2
    assert (journal.times(2), bool(journal)) == (2, True)
    assert journal.completed == {2: Completion(2, Moment(NOW + 1))}
    for number in range(10, 10 + MOST_COMPLETED - 2):
        journal.finish(number, NOW)
    assert journal.may_take(plan(5, 1))
    journal.take_quest(plan(5, 1), 55, NOW)
    # One more could be completed again and again: nothing would note it.
    assert not journal.may_take(plan(6, 1))
    again = plan(2, 1)
    again.is_repeatable = True
    assert journal.may_take(again)
    assert journal.finish(5, NOW) == 1
    assert (journal.times(5), len(journal.completed)) == (1, MOST_COMPLETED)
    assert Journal(journal.text).times(5) == 1


def test_an_offer_ends_when_the_quest_is_taken() -> None:
    journal = Journal()
    journal.offered = {1: 55, 2: 56}
    taken = journal.take_quest(plan(1, 1), 55, NOW)
    assert journal.offered == {2: 56}
    assert journal.drop(1) is taken
    assert journal.drop(1) is None


def test_what_is_stored_comes_again_also_of_a_quest_that_is_gone() -> None:
    journal = Journal()
    taken = journal.take_quest(plan(7, 3, 1), 55, NOW)
    taken.add_progress(1, 2)
    taken.complete(2)
    taken.set_end(1, Moment(NOW + 60))
    taken.is_tracked = False
    other = journal.take_quest(plan(6, 1, 1), 0, NOW)
    other.fail(1)
    other.flags, other.gifts, other.is_hidden = 0, 3, True
    journal.take_quest(plan(8, 1), 0, NOW)
    journal.finish(8, NOW)
    reward = QuestReward(
        7, 6, 5, items=((9, 2),), choices=((3, 1),), factions=((11, -40),), status=4
    )
    journal.pending += [
        PendingReward(8, "1", "Errand", "Done.", reward, level=2, difficulty=3),
        PendingReward(8, "2", "Errand", "", reward, has_coins=True, attempt=4),
        PendingReward(8, "gift", "Errand", "", reward, is_taken=True),
    ]
    assert [one.key for one in journal.pending] == ["8-1", "8-2", "8-gift"]
    assert (journal.thanks(other), journal.thanks(other)) == (True, False)
    again = Journal(journal.text)
    assert again.text == journal.text
    assert again.open[7].plan is None
    assert (again.open[7].counts, again.open[7].done) == ({1: 2, 2: 1}, (2,))
    assert (again.open[7].giver, again.open[7].accepted) == (55, NOW)
    assert (again.open[7].ends, again.open[7].known) == ({1: NOW + 60}, {1, 2})
    assert (again.open[7].is_tracked, again.open[7].is_hidden) == (False, False)
    assert (again.open[7].flags, again.open[7].gifts) == (None, 0)
    found = again.open[6]
    assert (found.failed, found.flags, found.gifts) == ({1}, 0, 3)
    assert (found.is_tracked, found.is_hidden) == (True, True)
    assert again.completed == journal.completed
    assert again.pending == journal.pending
    assert again.thanked == {6: (0, 3)}


def test_a_text_is_cut_to_what_a_journal_has() -> None:
    stored = {
        "open": {str(number): {} for number in range(MOST_QUESTS + 1)},
        "done": {str(number): [1, 2] for number in range(MOST_COMPLETED + 1)},
        "rewards": [{"turn": str(number)} for number in range(MOST_PENDING + 1)],
    }
    journal = Journal(json.dumps(stored))
    assert len(journal.open) == MOST_QUESTS
    assert len(journal.completed) == MOST_COMPLETED
    assert len(journal.pending) == MOST_PENDING
    assert journal.open[5].accepted == UNKNOWN


@pytest.mark.parametrize("wrong", [None, "x", -1, 1.5, True, [], {}, (1 << 52) + 1])
def test_a_value_that_does_not_fit_is_left_out(wrong: object) -> None:
    names = ("at", "giver", "counts", "steps", "failed", "known", "texts", "ends", "gifts")
    journal = Journal(json.dumps({
        "open": {"7": dict.fromkeys(names, wrong) | {"untracked": 1, "hidden": 1}, "x": {},
                 "-1": {}, "4294967296": {}},
        "done": {"7": [wrong, 1], "8": [1, wrong], "9": [1], "10": [1, 2, 3], "11": wrong},
        "rewards": [wrong, {"turn": 5}, {"turn": "1", "coins": wrong, "items": wrong}],
        "thanked": {"7": wrong, "8": [1, wrong], "x": [1, 1]},
    }))  # fmt: skip
    assert list(journal.open) == [7]
    taken = journal.open[7]
    assert (taken.accepted, taken.giver, taken.gifts) == (UNKNOWN, 0, 0)
    assert (taken.counts, taken.ends) == ({}, {})
    assert (taken.done, taken.failed, taken.known) == ((), frozenset(), frozenset())
    assert taken.texts == 0
    assert (taken.is_tracked, taken.is_hidden) == (True, False)
    assert not journal.completed
    assert not journal.thanked
    assert [(one.turn, one.reward.coins, one.reward.items) for one in journal.pending] == [
        ("1", 0, ()),
    ]  # fmt: skip


def test_numbers_are_read_up_to_what_is_stored() -> None:
    largest, most = 0xFFFFFFFF, 1 << 52
    pairs = [[0, 0], [largest, largest], [-1, 1], [1, -1], [largest + 1, 1], [1, largest + 1], [1],
             [1, 2, 3], ["1", 1], [1, 1.5], 7]  # fmt: skip
    journal = Journal(json.dumps({
        "open": {str(largest): {"at": most, "giver": 0, "counts": {"3": most, "4": -1},
                                "steps": [0, largest, -1, largest + 1, "5"]}},
        "done": {"0": [0, most], "1": [most + 1, 1], "2": [1, -1]},
        "rewards": [{"turn": "1", "items": pairs,
                     "factions": [[11, -largest], [12, -largest - 1]]}],
    }))  # fmt: skip
    taken = journal.open[largest]
    assert (taken.accepted, taken.counts) == (most, {3: most, 4: 0})
    assert taken.done == (0, largest)
    assert journal.completed == {0: Completion(0, Moment(most))}
    assert journal.pending[0].reward.items == ((0, 0), (largest, largest))
    assert journal.pending[0].reward.factions == ((11, -largest),)


def test_the_order_in_which_steps_were_done_is_stored_with_a_digest_of_the_texts() -> None:
    journal = Journal()
    taken = journal.take_quest(plan(7, 1, 1, 1), 0, NOW)
    for number in (3, 1):
        taken.complete(number)
    assert taken.plan is not None
    again = Journal(journal.text).open[7]
    assert (again.done, again.texts) == ((3, 1), taken.plan.digest)
    taken.plan.describe(3, "It is done.")
    assert Journal(journal.text).open[7].texts not in (0, again.texts)
    taken.reset(3)
    assert Journal(journal.text).open[7].done == (1,)


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
        assert not taken.failed & set(taken.done)
        assert len(set(taken.done)) == len(taken.done)
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
    journal.thanked = {largest - number: (999, 999) for number in range(1000)}
    things = ((largest, largest),) * MOST_REWARDS
    reward = QuestReward(coins=largest, items=things, choices=things, factions=things)
    for number in range(MOST_PENDING):
        one = PendingReward(largest - number, "gift999.999", "x" * 255, "\x85" * 5000, reward)
        journal.pending.append(one)
    assert 400_000 < len(journal.text) <= LONGEST_JOURNAL
