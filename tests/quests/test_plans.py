"""Plans: steps in the order of adding, groups of steps, and copies that change by themselves."""

from hypothesis import given
from hypothesis import strategies as st

from emu.quests.plans import MOST_STEPS, QuestPlan, QuestSpot, Step, StepKind


def step(number: int, text: str = "Go.") -> Step:
    return Step(number, StepKind.PLAIN, text)


def test_steps_of_one_group_and_steps_of_their_own() -> None:
    plan = QuestPlan(1, "Errand")
    assert plan.add_step(step(5, "First."), "Both.")
    assert plan.add_step(step(2, "Second."), "Both.")
    assert plan.add_step(step(9, "Alone."))
    assert not plan.add_step(step(5, "Again."))
    assert [*plan.steps] == [5, 2, 9]
    assert [(one.text, one.steps) for one in plan.groups] == [
        ("Both.", (5, 2)), ("Alone.", (9,)),
    ]  # fmt: skip
    assert plan.describe_group(1, "Both are done.")
    assert plan.groups[0].has_last_text
    assert not plan.describe_group(3, "None.")
    # The old text of a group that has its last one begins a group of its own.
    plan.add_step(step(3), "Both.")
    assert plan.group_of(3) == 2


def test_a_copy_leaves_its_master_as_it_was() -> None:
    master = QuestPlan(1, "Errand")
    master.add_step(step(1), "Group.")
    copy = master.copy()
    copy.describe(1, "Gone.")
    copy.describe_group(1, "Done.")
    copy.add_step(step(2))
    copy.rewarded(coins=5)
    copy.demand(least_level=4)
    assert (master.steps[1].text, master.groups[0].text, [*master.steps]) == ("Go.", "Group.", [1])
    assert (master.reward.coins, master.needs.least_level) == (0, 0)


def test_the_digest_changes_with_each_text_alone() -> None:
    plan = QuestPlan(1, "Errand", description="Go there.")
    plan.add_step(step(1), "Group.")
    found = [plan.digest]
    for change in (
        lambda one: one.describe(1, "Gone."), lambda one: one.describe_group(1, "Done."),
        lambda one: one.add_step(step(2)), lambda one: setattr(one, "title", "An errand"),
        lambda one: setattr(one, "zone", "the caves"),
        lambda one: setattr(one, "category", "Hallmark"),
        lambda one: setattr(one, "description", "You went there."),
    ):  # fmt: skip
        change(plan)
        found.append(plan.digest)
        assert plan.copy().digest == plan.digest
    assert len(set(found)) == len(found)
    plan.rewarded(coins=5)
    assert plan.digest == found[-1]
    again = QuestPlan(1, "An errand", "Hallmark", "the caves", description="You went there.")
    again.add_step(step(1, "Gone."), "Done.")
    again.describe_group(1, "Done.")
    again.add_step(step(2))
    assert again.digest == plan.digest, "in another process, too"


def test_a_removed_step_leaves_its_group() -> None:
    plan = QuestPlan(1, "Errand")
    plan.add_step(step(1), "Group.")
    plan.add_step(step(2), "Group.")
    assert plan.remove(1)
    assert not plan.remove(1)
    assert plan.groups[0].steps == (2,)
    plan.remove(2)
    assert not plan.groups


def test_a_place_is_near_by_the_sum_of_its_differences() -> None:
    one = Step(1, StepKind.PLACE_IN_ZONE, "Go.", spots=(QuestSpot(10, 0, 10, 7),), radius=6.0)
    assert one.is_at(13, 0, 13, 7)
    assert not one.is_at(13, 1, 13, 7)
    assert not one.is_at(10, 0, 10, 8)


@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from(["", "A", "B"])), max_size=300))
def test_every_step_is_in_one_group(added: list[tuple[int, str]]) -> None:
    plan = QuestPlan(1, "Errand")
    for number, group in added:
        plan.add_step(step(number, f"Step {number}."), group)
    assert len(plan.steps) <= MOST_STEPS
    assert sorted(one for group in plan.groups for one in group.steps) == sorted(plan.steps)
