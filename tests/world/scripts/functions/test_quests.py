"""What scripts ask about quests, by what the quests ask of a character."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emu.quests.journal import Journal
from emu.quests.needs import NO_NEEDS, QuestNeeds
from emu.quests.plans import QuestPlan
from emu.world.scripts.functions.quests import QUESTS
from tests.support.world.craft_scenes import texts
from tests.support.world.quest_scenes import BAG, CRABS, OTHER_BAG, QuestScene, QuestsInMemory
from tests.support.world.script_calls import failing_without
from tests.support.world.script_scenes import ScriptScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

NEEDS = {
    1: NO_NEEDS,
    2: QuestNeeds(least_level=10),
    3: QuestNeeds(most_level=9),
    4: QuestNeeds(least_level=5, most_level=20, classes=(4, 3), races=(9,)),
    5: QuestNeeds(classes=(4, 5)),
    6: QuestNeeds(races=(8,)),
    7: QuestNeeds(quests=(1,)),
    8: QuestNeeds(standings=((20, 0, 0),)),
    9: QuestNeeds(standings=((20, 1, 0),)),
    10: QuestNeeds(standings=((20, -5, -1),)),
    11: QuestNeeds(tradeskill_level=2),
}


@pytest.fixture
def scene(tmp_path: Path) -> ScriptScene:
    plans = [QuestPlan(number, "Errand", needs=needs) for number, needs in NEEDS.items()]
    scene = ScriptScene(tmp_path, quests=QuestsInMemory(plans))
    scene.player.spawn.level = 10
    scene.player.spawn.appearance = {"race": 9, "class": 3, "gender": 1}
    return scene


def may_take(scene: ScriptScene, *quests: int) -> list[str]:
    return scene.says("", *(f"CanReceiveQuest(Spawn, {quest})" for quest in quests))


def test_a_quest_may_be_taken_if_nothing_is_missing(scene: ScriptScene) -> None:
    answers = may_take(scene, *NEEDS)
    assert [quest for quest, may in zip(NEEDS, answers, strict=True) if may == "true"] == [
        1, 2, 4, 8,
    ]  # fmt: skip


def test_standing_and_tradeskill_count(scene: ScriptScene) -> None:
    scene.player.past.change_standing(20, 40)
    scene.player.character = replace(scene.player.character, tradeskill_level=2)
    assert may_take(scene, 8, 9, 10, 11) == ["true", "true", "false", "true"]


def test_there_is_no_such_quest_or_no_player(scene: ScriptScene) -> None:
    calls = ("(Spawn, 99)", "(NPC, 1)", "(nil, 1)", "(Spawn)")
    answers = scene.says("", *(f"CanReceiveQuest{call}" for call in calls))
    assert answers == ["false", "nil", "nil", "false"]


def test_the_things_of_a_gift_are_read_as_all_numbers(tmp_path: Path) -> None:
    """What is no number is none, as EQ2Emulator reads arguments; also behind the named ones."""
    script = f"""
        function Init(Quest) AddQuestStep(Quest, 1, "Wait.", 1, 100, "") end
        function Accepted(Quest, Giver, Player)
            GiveQuestItem(Quest, Player, "Take these.", {BAG}, 0/0, 1/0, -1/0, -1, 1 << 63, nil,
                {{}}, Quest, true, "{OTHER_BAG}")
        end
    """
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    assert scene.scripts.counters["functions failed"] == scene.scripts.counters["errors"] == 0
    (gift,) = scene.journal.pending
    assert gift.reward.items == ((BAG, 1), (OTHER_BAG, 1))
    assert scene.client.decoded("WS_QuestRewardPackMsg")


@pytest.mark.parametrize("has_login", [False, True])
def test_coins_of_a_gift_come_with_one_window(tmp_path: Path, has_login: bool) -> None:
    """Each further gift of the quest gave the coins and the status of the first one again.

    Scripts set both for the window of one GiveQuestItem (../shared/spec/eq2-real-content.md 4).
    """
    script = f"""
        function Init(Quest) AddQuestStep(Quest, 1, "Wait.", 1, 100, "") end
        function Accepted(Quest, Giver, Player)
            AddQuestStepCompleteAction(Quest, 1, "More")
            SetCoinTmpReward(Quest, 30)
            SetStatusTmpReward(Quest, 7)
            GiveQuestItem(Quest, Player, "Take this.", {BAG})
            AddQuestStep(Quest, 2, "Wait again.", 1, 100, "")
        end
        function More(Quest, Giver, Player)
            GiveQuestItem(Quest, Player, "And this.", {OTHER_BAG})
        end
        function Reload(Quest, Giver, Player, Step) Accepted(Quest, Giver, Player) end
    """
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    before = scene.player.character.coins, scene.player.character.status_points
    scene.accept()
    scene.client.types("/accept_reward 0 0")
    if has_login:
        scene.player.journal = Journal(scene.player.journal.text)
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 1)
    (gift,) = scene.journal.pending
    assert (gift.reward.coins, gift.reward.status) == (0, 0)
    scene.client.types("/accept_reward 0 0")
    held = sorted(one.item_id for one in scene.player.holdings.inventory)
    assert held == [BAG, OTHER_BAG]
    after = scene.player.character.coins, scene.player.character.status_points
    assert after == (before[0] + 30, before[1] + 7)


def test_a_quest_says_which_things_it_gives(tmp_path: Path) -> None:
    """Source: eq2-lua.md 3 (HasQuestRewardItem)."""
    scene = QuestScene(tmp_path)
    scene.accept()
    taken = scene.journal.open[CRABS]
    taken.plan.reward = replace(taken.plan.reward, items=((11, 1),), choices=((12, 1), (13, 2)))
    quest = f"GetQuest(Spawn, {CRABS})"
    calls = [f"HasQuestRewardItem({quest}, {item})" for item in (11, 12, 13, 14)]
    said = scene.says("", *calls, "HasQuestRewardItem(nil, 11)")
    assert said == ["true", "true", "true", "false", "false"]


def test_only_spawns_provide_quests(tmp_path: Path) -> None:
    """Source: eq2-lua.md 3 (ProvidesQuest)."""
    scene = QuestScene(tmp_path)
    provided: list[tuple[str, int]] = []
    feathers: Any = scene.scripts.feathers
    feathers.provide = lambda _zone, spawn, quest: provided.append((spawn.name, quest))
    scene.says(f"ProvidesQuest(NPC, {CRABS}) ProvidesQuest(Spawn, {CRABS}) ProvidesQuest(NPC, 0)")
    assert provided == [("Guard", CRABS)]


def test_the_step_of_a_quest_that_nobody_has_is_0(scene: ScriptScene) -> None:
    calls = ("(Spawn, 1)", "(Spawn, 99)", "(NPC, 1)")
    assert scene.says("", *(f"GetQuestStep{call}" for call in calls)) == ["0", "0", "0"]


TIMED = """
    function Init(Quest) AddQuestStep(Quest, 1, "Wait.", 1, 100, "") end
    function Accepted(Quest, Giver, Player)
        SetQuestTimer(Quest, Player, 1, 60, "")
        {more}
    end
"""


def test_a_time_that_ends_after_a_login_calls_its_function(tmp_path: Path) -> None:
    """The rebuilt quest had forgotten the function: nobody learned that the time was over."""
    script = """
        function Init(Quest) AddQuestStep(Quest, 1, "Wait.", 1, 100, "") end
        function Accepted(Quest, Giver, Player) SetQuestTimer(Quest, Player, 1, 60, "Late") end
        function Reload(Quest, Giver, Player, Step) Accepted(Quest, Giver, Player) end
        function Late(Quest, Giver, Player) SendMessage(Player, "Too late.", "yellow") end
    """
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    ends = scene.journal.open[CRABS].ends
    scene.player.journal = Journal(scene.player.journal.text)
    assert scene.journal.open[CRABS].ends == ends
    scene.quests.fail(scene.player, scene.journal.open[CRABS], 1)
    scene.turn()
    assert "Too late." in texts(scene.client)


def test_a_quest_is_a_handle_only_of_who_has_it(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": TIMED.format(more="")})
    calls = [f"GetQuest{one}" for one in ("(Spawn, 900001)", "(NPC, 900001)", "(nil, 900001)")]
    assert scene.says("", *calls) == ["nil", "nil", "nil"]
    scene.accept()
    assert scene.says("", *calls) == ["quest", "nil", "nil"]
    assert scene.scripts.counters["functions failed"] == scene.scripts.counters["errors"] == 0


@pytest.mark.parametrize(
    ("call", "has_time"), [("Quest, nil", False), ("nil, Player", True), ("Quest, Player", False)]
)
def test_the_time_of_a_quest_ends_for_who_has_it(tmp_path: Path, call: str, has_time: bool) -> None:
    script = TIMED.format(more=f"SetQuestTimerComplete({call})")
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    assert bool(scene.journal.open[900001].ends) is has_time
    assert scene.scripts.counters["functions failed"] == scene.scripts.counters["errors"] == 0


def test_a_missing_argument_fails_nothing(tmp_path: Path) -> None:
    assert failing_without(ScriptScene(tmp_path), QUESTS) == []
