"""Quests of files: phase after phase, and the same again from the progress alone."""

from emu.quests.journal import Journal
from emu.quests.plans import QuestPlan, Step, StepKind
from emu.quests.staged import Giver, Phase, StagedQuest
from emu.times import Moment

QUEST = StagedQuest(
    QuestPlan(1, "Errand", description="Begin.", completed_text="The end."), Giver("Anikra"),
    (
        Phase("Both.", "Both are done.", (
            Step(1, StepKind.KILL, "Kill.", 2), Step(2, StepKind.TALK, "Talk."),
        )),
        Phase("Return.", "", (Step(3, StepKind.TALK, "Tell."),)),
    ),
)  # fmt: skip


def test_the_next_phase_begins_when_all_of_the_one_before_is_done() -> None:
    journal = Journal()
    taken = journal.take_quest(QUEST.master(), 0, Moment(1.0))
    plan = taken.plan
    assert plan is not None
    assert [*plan.steps] == [1, 2]
    taken.complete(2)
    assert not QUEST.went_on(taken, 2)
    assert [*plan.steps] == [1, 2]
    taken.complete(1)
    assert not QUEST.went_on(taken, 1)
    assert [*plan.steps] == [1, 2, 3]
    assert plan.groups[0].text == "Both are done."
    taken.complete(3)
    assert QUEST.went_on(taken, 3)
    assert plan.description == "The end."

    again = Journal(journal.text).open[1]
    again.plan = QUEST.master()
    assert QUEST.restored(again)
    assert again.plan.steps == plan.steps
    assert again.plan.groups == plan.groups


def test_each_player_has_a_plan_of_its_own() -> None:
    first, second = (Journal().take_quest(QUEST.master(), 0, Moment(1.0)) for _ in range(2))
    for number in (1, 2):
        first.complete(number)
        QUEST.went_on(first, number)
    assert second.plan is not None
    assert [*second.plan.steps] == [1, 2]
