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


def test_numbers_of_a_step_are_bounded(tmp_path: Path) -> None:
    ids = ", ".join(str(number) for number in range(1, 106))
    spots = ", ".join(f"{number}, 2, 3" for number in range(1, 56))
    plan = plan_of(
        tmp_path,
        f"""
        AddQuestStepKill(Quest, 1, "Kill.", 4294967295, 100, "", -5, {ids})
        AddQuestStepKill(Quest, 2, "Kill.", 1, 100, "", 0, 5, nil, 6)
        AddQuestStepLocation(Quest, 3, "Place.", 12, "", -1, {spots}, 7, 8)
        AddQuestStepZoneLoc(Quest, 4, "Zone.", 4, "", 0, 0, 0, 1, 27, 4, 5, 6)
    """,
    )
    kill, place = plan.steps[1], plan.steps[3]
    assert (kill.quantity, kill.icon, len(kill.ids)) == (0x7FFFFFFF, 0, 100)
    assert plan.steps[2].ids == {5}
    assert (place.radius, place.quantity, place.icon, len(place.spots)) == (12.0, 1, 0, 50)
    # The zone of the last place is missing.
    assert plan.steps[4].spots == (QuestSpot(0, 0, 1, 27), QuestSpot(4, 5, 6, 0))


def test_what_a_quest_gives_is_bounded(tmp_path: Path) -> None:
    most, number = 0x7FFFFFFF, 4294967295
    plan = plan_of(
        tmp_path,
        f"""
        AddQuestRewardCoin(Quest, {number}, 1, 1, 1)
        AddQuestRewardItem(Quest, 0, 2) AddQuestRewardItem(Quest, {most + 1}, 2)
        AddQuestRewardItem(Quest, {most}, 70000) AddQuestRewardItem(Quest, 50)
        AddQuestSelectableRewardItem(Quest, 51, -3) AddQuestSelectableRewardItem(Quest, 0, 1)
        AddQuestSelectableRewardItem(Quest, 52, 70000)
        AddQuestRewardFaction(Quest, 0, 5)
        SetQuestRewardExp(Quest, {number}) SetQuestRewardStatus(Quest, {number}, {number}, 7)
        SetStatusTmpReward(Quest, {number}) SetCoinTmpReward(Quest, {number})
        SetQuestFeatherColor(Quest, 4) SetQuestPrereqLevel(Quest, -8)
        AddQuestPrereqTradeskillLevel(Quest, -1) AddQuestPrereqItem(Quest, 0, 2)
        AddQuestPrereqItem(Quest, 8) AddQuestPrereqFaction(Quest, 0, 1, 2)
        RegisterQuest(Quest, "Name", "Type", "Zone", 300, "Text")
    """,
    )
    reward = plan.reward
    assert reward.coins == most
    assert reward.items[-2:] == ((most, 0xFFFF), (50, 1))
    assert reward.choices[-2:] == ((51, 1), (52, 0xFFFF))
    assert 0 not in [faction for faction, _ in reward.factions]
    assert (reward.experience, reward.status) == (most, most)
    assert (reward.least_status, reward.most_status) == (most, 7)
    assert (plan.gift_status, plan.gift_coins) == (most, most)
    assert (plan.feather, plan.level) == (0, 255)
    assert (plan.needs.least_level, plan.needs.tradeskill_level) == (0, 0)
    assert (plan.needs.items, plan.needs.standings) == (((8, 1),), ())


@pytest.mark.parametrize("number", [1, 3])
def test_a_feather_has_one_of_three_colors(tmp_path: Path, number: int) -> None:
    assert plan_of(tmp_path, f"SetQuestFeatherColor(Quest, {number})").feather == number


def test_a_quest_without_one_of_its_texts_keeps_its_own(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 'RegisterQuest(Quest, "Name", "", "Zone", 5, "Text")')
    assert plan.title == "Crabs on the Beach"


def test_functions_of_steps_are_named(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        """
        AddQuestStep(Quest, 1, "Plain.", 1, 100, "", 0, 0)
        AddQuestStepCompleteAction(Quest, 1, "A") AddQuestStepProgressAction(Quest, 1, "B")
        AddQuestStepFailureAction(Quest, 1, "C") SetQuestCompleteAction(Quest, "D")
        UpdateQuestStepDescription(Quest, 1, "Other.") UpdateQuestDescription(Quest, "Why.")
    """,
    )
    assert plan.steps[1].actions == ("A", "B", "C")
    assert (plan.on_complete, plan.steps[1].text, plan.description) == ("D", "Other.", "Why.")


@pytest.mark.parametrize(
    "change",
    [
        'AddQuestStep(quest, 8, "More.", 1, 100, "", 0, 0)', "RemoveQuestStep(Spawn, quest, 1)",
        'AddQuestStepLocation(quest, 9, "Place.", 12, "", 0, 1, 2, 3)',
        'ResetQuestStep(quest, 1, "", "")', 'UpdateQuestStepDescription(quest, 1, "Other.")',
        'UpdateQuestTaskGroupDescription(quest, 1, "Other.")', "SetQuestYellow(quest)",
        'UpdateQuestDescription(quest, "Why.")', "SetCompleteFlag(quest)",
    ],
)  # fmt: skip
def test_a_player_is_shown_each_change_of_its_quest(tmp_path: Path, change: str) -> None:
    scene = QuestScene(tmp_path)
    scene.accept()
    scene.turn()
    before = len(scene.client.decoded("WS_QuestJournalReply"))
    scene.says(f"local quest = GetQuest(Spawn, {CRABS}) {change}")
    scene.turn()
    assert len(scene.client.decoded("WS_QuestJournalReply")) > before
    assert scene.lines == []


def test_flags_of_a_taken_quest_are_stored_with_it(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    scene.accept()
    scene.says(f"SetQuestFlags(GetQuest(Spawn, {CRABS}), 6)")
    assert scene.journal.open[CRABS].flags == 6
    assert '"flags":6' in scene.player.journal.text
