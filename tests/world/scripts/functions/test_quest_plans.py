"""Functions that build plans: each call of `Init` against the plan that it makes."""

from pathlib import Path

import pytest

from emu.quests.plans import QuestPlan, QuestSpot, StepKind
from emu.world.scripts.functions.quest_plans import PLANS
from tests.support.world.quest_scenes import CRABS, QuestScene
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


def plan_of(tmp_path: Path, body: str) -> QuestPlan:
    script = f"function Init(Quest) {body} end"
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    plan = scene.parts.journals.plan(CRABS)
    assert plan is not None, scene.lines
    return plan


def test_steps_of_all_kinds(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        """
        AddQuestStep(Quest, 1, "Plain.", 3, 50, "Group", 7, 99, 5, 6)
        AddQuestStepChat(Quest, 2, "Talk.", 1, "Group", 8, 11, 12, 0, 13)
        AddQuestStepKill(Quest, 3, "Kill.", 5, 33.5, "", 9, 21)
        AddQuestStepKillSelfUpdate(Quest, 4, "Kill.", 1, 100, "", 0, 22)
        AddQuestStepKillByRace(Quest, 5, "Race.", 1, 100, "", 0, 300)
        AddQuestStepObtainItem(Quest, 6, "Item.", 1, 100, "", 0, 31, 32)
        AddQuestStepCraft(Quest, 7, "Craft.", 1, 100, "", 0, 33)
        AddQuestStepHarvest(Quest, 8, "Harvest.", 1, 100, "", 0, 34)
        AddQuestStepSpell(Quest, 9, "Spell.", 1, 100, "", 0, 35)
        AddQuestStepLocation(Quest, 10, "Place.", 12, "", 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 7, 8, 9)
        AddQuestStepZoneLoc(Quest, 11, "Zone.", 4, "", 0, 1, 2, 3, 27, 4, 5, 6, 28)
    """,
    )
    assert [one.kind for one in plan.steps.values()] == [
        StepKind.PLAIN, StepKind.TALK, StepKind.KILL, StepKind.KILL_SELF, StepKind.KILL_RACE,
        StepKind.OBTAIN, StepKind.CRAFT, StepKind.HARVEST, StepKind.SPELL, StepKind.PLACE,
        StepKind.PLACE_IN_ZONE,
    ]  # fmt: skip
    plain, kill = plan.steps[1], plan.steps[3]
    assert (plain.quantity, plain.percent, plain.icon, plain.usable_item) == (3, 50.0, 7, 99)
    assert plain.ids == {5, 6}
    assert plan.steps[2].ids == {11, 12}
    assert (kill.percent, kill.ids) == (33.5, {21})
    assert plan.steps[10].spots == (QuestSpot(1, 2, 3), QuestSpot(4, 5, 6))
    assert plan.steps[11].spots == (QuestSpot(1, 2, 3, 27), QuestSpot(4, 5, 6, 28))
    assert plan.groups[0].steps == (1, 2)


def test_rewards(tmp_path: Path) -> None:
    reward = plan_of(
        tmp_path,
        """
        AddQuestRewardCoin(Quest, 4, 3, 2, 1)
        AddQuestRewardItem(Quest, 50, 2)
        AddQuestSelectableRewardItem(Quest, 51, 1)
        AddQuestSelectableRewardItem(Quest, 52, 3)
        AddQuestRewardFaction(Quest, 11, -40)
        SetQuestRewardExp(Quest, 999)
        SetQuestRewardStatus(Quest, 5, 6, 7)
        SetQuestRewardComment(Quest, "Thanks.")
    """,
    ).reward
    assert reward.coins == 1_020_304
    assert reward.items[-1] == (50, 2)
    assert reward.choices[-2:] == ((51, 1), (52, 3))
    assert reward.factions[-1] == (11, -40)
    assert (reward.experience, reward.status, reward.comment) == (999, 5, "Thanks.")


def test_needs_and_traits(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        """
        SetQuestPrereqLevel(Quest, 8) AddQuestPrereqQuest(Quest, 3) AddQuestPrereqClass(Quest, 1)
        AddQuestPrereqClass(Quest, 2) AddQuestPrereqRace(Quest, 9)
        AddQuestPrereqModelType(Quest, 77) AddQuestPrereqTradeskillLevel(Quest, 4)
        AddQuestPrereqTradeskillClass(Quest, 5) AddQuestPrereqFaction(Quest, 11, 100, 200)
        AddQuestPrereqItem(Quest, 8, 2)
        SetQuestRepeatable(Quest) SetQuestYellow(Quest) SetCompleteFlag(Quest)
        SetQuestFeatherColor(Quest, 2) SetQuestFlags(Quest, 6) QuestReturnNPC(Quest, 44)
        SetCompletedDescription(Quest, "Over.") UpdateQuestZone(Quest, "Antonica")
        RegisterQuest(Quest, "Name", "Type", "Zone", 5, "Text")
    """,
    )
    needs = plan.needs
    assert (needs.least_level, needs.quests, needs.classes, needs.races) == (8, (3,), (1, 2), (9,))
    assert (needs.models, needs.tradeskill_level, needs.tradeskill_classes) == ((77,), 4, (5,))
    assert (needs.standings, needs.items) == (((11, 100, 200),), ((8, 2),))
    assert plan.is_repeatable
    assert plan.is_yellow
    assert plan.has_complete_flag
    assert (plan.feather, plan.flags, plan.returner, plan.completed_text) == (2, 6, 44, "Over.")
    assert (plan.title, plan.category, plan.zone, plan.level) == ("Name", "Type", "Zone", 5)


def test_steps_that_are_removed_and_begin_anew(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    scene.accept()
    scene.journal.open[CRABS].add_progress(1, 1)
    scene.says("""
        local quest = GetQuest(Spawn, 900001)
        ResetQuestStep(quest, 1, "Once more.", "Again.")
        AddQuestStep(quest, 8, "More.", 1, 100, "", 0, 0)
        RemoveQuestStep(Spawn, quest, 8)
    """)
    taken = scene.journal.open[CRABS]
    assert taken.count(1) == 0
    assert (taken.plan.steps[1].text, taken.plan.groups[0].text) == ("Once more.", "Again.")
    assert [*taken.plan.steps] == [1]


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), PLANS) == []
