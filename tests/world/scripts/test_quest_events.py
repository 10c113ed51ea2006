"""Scripts of quests: which function is called when, with which giver, and after an error.

Source: docs/guides/quests.md#steps.
"""

from pathlib import Path

import pytest

from emu.quests.journal import Journal
from tests.support.world.quest_scenes import CRABS, QuestScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

SPEAKS = """
function Init(Quest)
    AddQuestStep(Quest, 1, "One.", 2, 100, "", 0, 0)
    AddQuestStepProgressAction(Quest, 1, "Progress")
    AddQuestStepCompleteAction(Quest, 1, "Done")
    AddQuestStepFailureAction(Quest, 1, "Failed")
    AddQuestStep(Quest, 2, "Two.", 1, 100, "", 0, 0)
    SetQuestCompleteAction(Quest, "All")
end
function tell(Player, text) SendMessage(Player, text, "yellow") end
function Accepted(Quest, Giver, Player)
    tell(Player, "accepted from " .. tostring(GetName(Giver)))
end
function Progress(Quest, Giver, Player, amount) tell(Player, "progress " .. amount) end
function Done(Quest, Giver, Player) tell(Player, "done " .. GetQuestStep(Player, 900001)) end
function Failed(Quest, Giver, Player) tell(Player, "failed") end
function All(Quest, Giver, Player) tell(Player, "all") end
function Deleted(Quest, Giver, Player) tell(Player, "deleted") end
"""


@pytest.fixture
def scene(tmp_path: Path) -> QuestScene:
    return QuestScene(tmp_path, scripts={"Quests/crabs.lua": SPEAKS})


def texts(scene: QuestScene) -> list[str]:
    return [one["text"] for one in scene.client.decoded("WS_DisplayText") if one["color"] == 5]


def test_each_function_at_its_time(scene: QuestScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn) OfferQuest(NPC, Spawn, 900001) end")
    scene.hail(guard)
    scene.client.types(f"/q_accept_pending_quest {CRABS}")
    assert texts(scene) == ["accepted from Guard"]
    scene.quests.progress_later(scene.player, CRABS, 1, 1)
    scene.turn()
    scene.quests.progress_later(scene.player, CRABS, 1, 5)
    scene.turn()
    # What is above the quantity is not said.
    assert texts(scene)[1:] == ["progress 1", "progress 1", "done 2"]
    scene.quests.complete_later(scene.player, CRABS, 2)
    scene.turn()
    assert texts(scene)[-1] == "all"
    scene.client.types(f"/deletequest {CRABS}")
    assert texts(scene)[-1] == "deleted"


def test_a_step_has_its_time(scene: QuestScene) -> None:
    scene.accept()
    taken = scene.journal.open[CRABS]
    scene.quests.set_time(scene.player, taken, 1, 10)
    scene.harness.run(9.0)
    assert not taken.failed
    scene.harness.run(1.5)
    assert taken.failed == {1}
    assert texts(scene)[-1] == "failed"


def test_an_error_in_a_complete_action_leaves_the_step_undone(tmp_path: Path) -> None:
    script = SPEAKS.replace('tell(Player, "done "', 'nothing(Player, "done "')
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    taken = scene.journal.open[CRABS]
    assert scene.quests.progress(scene.player, taken, 1, 1)
    assert not scene.quests.progress(scene.player, taken, 1, 1)
    assert taken.is_open(1)
    assert taken.count(1) == 1
    assert len([line for line in scene.lines if "nothing" in line]) == 1
    assert not scene.quests.complete(scene.player, taken, 1)
    assert (taken.is_open(1), taken.count(1), taken.done) == (True, 1, ())


def test_what_scripts_ask_for_is_done_in_the_next_turn(scene: QuestScene) -> None:
    scene.accept()
    said = scene.says("SetStepComplete(Spawn, 900001, 1)", "GetQuestStep(Spawn, 900001)")
    assert said == ["1"]
    scene.turn()
    assert scene.says("", "GetQuestStep(Spawn, 900001)") == ["2"]


def test_a_handle_ends_with_its_quest(scene: QuestScene) -> None:
    scene.accept()
    guard = scene.spawn("""
        function hailed(NPC, Spawn)
            Quest = Quest or GetQuest(Spawn, 900001)
            UpdateQuestStepDescription(Quest, 1, "Changed.")
            Say(NPC, tostring(GetQuestFlags(Quest)))
        end""")
    scene.hail(guard)
    scene.turn()
    assert scene.journal.open[CRABS].plan.steps[1].text == "Changed."
    scene.quests.drop(scene.player, CRABS)
    assert scene.hail(guard) == [("Guard", "0")]


BUILT = """
function Init(Quest) end
function Accepted(Quest, Giver, Player)
    AddQuestStep(Quest, 1, "One.", 1, 100, "", 0, 0)
    AddQuestStep(Quest, 2, "Two.", 1, 100, "", 0, 0)
    AddQuestStepCompleteAction(Quest, 1, "Both")
    AddQuestStepCompleteAction(Quest, 2, "Both")
    SendMessage(Player, "accepted", "yellow")
end
function Both(Quest, Giver, Player)
    if QuestStepIsComplete(Player, 900001, 1) and QuestStepIsComplete(Player, 900001, 2)
        and not QuestStepIsComplete(Player, 900001, 3) then
        AddQuestStep(Quest, 3, "Three.", 1, 100, "", 0, 0)
        AddQuestStepCompleteAction(Quest, 3, "Third")
    end
end
function Third(Quest, Giver, Player) AddQuestStep(Quest, 4, "Four.", 1, 100, "", 0, 0) end
function Reload(Quest, Giver, Player, Step) RELOAD end
"""
"""Its first steps come with `Accepted`, and later ones only while an earlier one is not done."""


@pytest.mark.parametrize(
    "reload", ["", "if Step == 3 then Third(Quest, Giver, Player) end", "no()"]
)
def test_a_journal_has_the_same_steps_after_a_login(tmp_path: Path, reload: str) -> None:
    script = BUILT.replace("RELOAD", reload)
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    for number in range(4):
        before = scene.journal.open[CRABS]
        scene.player.journal = Journal(scene.player.journal.text)
        after = scene.journal.open[CRABS]
        assert after.plan.steps == before.plan.steps
        assert [one.number for one in after.open_steps()] == [
            one.number for one in before.open_steps()
        ]
        scene.quests.complete(scene.player, after, number + 1)
    assert texts(scene) == ["accepted"]  # a login says nothing again


TEXTED = """
function Init(Quest)
    for step = 1, 3 do
        AddQuestStep(Quest, step, "Kill kind " .. step, 1, 100, "Kill all.", 0, 0)
        AddQuestStepCompleteAction(Quest, step, "Killed" .. step)
    end
end
function Accepted(Quest, Giver, Player) UpdateQuestZone(Quest, "the caves") end
function Killed1(Quest, Giver, Player) Killed(Quest, Player, 1) end
function Killed2(Quest, Giver, Player) Killed(Quest, Player, 2) end
function Killed3(Quest, Giver, Player) Killed(Quest, Player, 3) end
function Killed(Quest, Player, Step)
    UpdateQuestStepDescription(Quest, Step, "Killed kind " .. Step)
    UpdateQuestDescription(Quest, "The last ones were of kind " .. Step)
    if QuestStepIsComplete(Player, 900001, 1) and QuestStepIsComplete(Player, 900001, 2)
        and QuestStepIsComplete(Player, 900001, 3) then
        UpdateQuestTaskGroupDescription(Quest, 1, "Killed all.")
        AddQuestStep(Quest, 4, "Return.", 1, 100, "", 0, 0)
    end
end
function Reload(Quest, Giver, Player, Step) RELOAD end
"""


@pytest.mark.parametrize("reload", [
    # Quests/Halas/clan_of_the_cave_imps.lua
    """if QuestStepIsComplete(Player, 900001, 1) then Killed1(Quest, Giver, Player)
    elseif QuestStepIsComplete(Player, 900001, 2) then Killed2(Quest, Giver, Player)
    elseif QuestStepIsComplete(Player, 900001, 3) then Killed3(Quest, Giver, Player) end""",
    # Quests/Everfrost/the_stories_of_everfrost.lua
    "if Step == 1 then Killed1(Quest, Giver, Player) end",
    # the usual one
    "if Step > 0 then Killed(Quest, Player, Step) end",
])  # fmt: skip
@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2), (2, 3, 1)])
def test_a_journal_has_the_same_texts_after_a_login(
    tmp_path: Path, reload: str, order: tuple[int, ...]
) -> None:
    """Some scripts forget steps in `Reload`, or give texts by the order of what was done."""
    script = TEXTED.replace("RELOAD", reload)
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    for number in order:
        scene.quests.complete(scene.player, scene.journal.open[CRABS], number)
        before = scene.journal.open[CRABS].plan
        assert before is not None
        assert before.description == f"The last ones were of kind {number}"
        scene.player.journal = Journal(scene.player.journal.text)
        assert scene.journal.open[CRABS].plan == before


def test_a_script_that_was_changed_gives_its_new_texts(tmp_path: Path) -> None:
    script = TEXTED.replace("RELOAD", "if Step > 0 then Killed(Quest, Player, Step) end")
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 2)
    stored = scene.player.journal.text
    (tmp_path / "Quests" / "crabs.lua").write_text(script.replace("Killed kind", "Slain kind"))
    scene.scripts.reload()
    scene.harness.parts.quests.journals.reload()
    scene.player.journal = Journal(stored)
    plan = scene.journal.open[CRABS].plan
    assert plan is not None
    assert plan.steps[2].text == "Slain kind 2"


def test_a_quest_is_rebuilt_by_the_facts_of_its_player(tmp_path: Path) -> None:
    """As EQ2Emulator calls `Reload` with the player itself: Quests/FarJourneyFreeport compares the
    version of its client, and nothing with a number is an error.
    """
    facts = """string.format("%d %d %d %d %d %s %d", GetClientVersion(Player), GetDeity(Player),
        GetFactionAmount(Player, 11), GetAlignment(Player), GetTradeskillLevel(Player),
        tostring(HasLanguage(Player, 7)), (GetPlayerHistory(Player, 8)))"""
    script = f"""
        function Init(Quest)
            AddQuestStep(Quest, 1, "One.", 1, 100) AddQuestStep(Quest, 2, "Two.", 1, 100)
            AddQuestStepCompleteAction(Quest, 1, "One")
        end
        function Accepted(Quest, Giver, Player) end
        function One(Quest, Giver, Player) UpdateQuestStepDescription(Quest, 1, {facts}) end
        function Reload(Quest, Giver, Player, Step)
            if Step == 1 then One(Quest, Giver, Player) end
        end"""
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    scene.says(
        "SetAlignment(Spawn, 1) SetDeity(Spawn, 2) AddLanguage(Spawn, 7)"
        " SetTradeskillLevel(Spawn, 5) SetPlayerHistory(Spawn, 8, 3) ChangeFaction(Spawn, 11, 500)"
    )
    taken = scene.journal.open[CRABS]
    scene.quests.complete(scene.player, taken, 1)
    scene.player.journal = Journal(scene.player.journal.text)
    text = scene.journal.open[CRABS].plan.steps[1].text
    assert scene.lines == []
    assert text == "546 2 500 1 5 true 3"


def test_a_quest_whose_first_words_need_its_giver_is_rebuilt(tmp_path: Path) -> None:
    """As Quests/StarcrestCommune/information_merchants.lua, whose giver was there when it began."""
    near = "if GetDistance(Player, Giver) > 30 then return end FaceTarget(Giver, Player)"
    script = BUILT.replace("RELOAD", "").replace(
        "function Accepted(Quest, Giver, Player)", f"function Accepted(Quest, Giver, Player) {near}"
    )
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    guard = scene.spawn("function hailed(NPC, Spawn) OfferQuest(NPC, Spawn, 900001, true) end")
    scene.hail(guard)
    before = scene.journal.open[CRABS]
    scene.quests.complete(scene.player, before, 1)
    scene.player.journal = Journal(scene.player.journal.text)
    assert before.plan.steps.keys() == {1, 2}
    assert scene.journal.open[CRABS].plan.steps.keys() == before.plan.steps.keys()
    assert scene.lines == []


def test_a_reload_that_goes_on_counts_although_it_adds_steps(tmp_path: Path) -> None:
    script = BUILT.replace("AddQuestStep(Quest, 4", "none(Quest, 4").replace(
        "RELOAD", 'AddQuestStep(Quest, 5, "Five.", 1, 100, "", 0, 0)'
    )
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    for number in (1, 2):
        scene.quests.complete(scene.player, scene.journal.open[CRABS], number)
    scene.journal.open[CRABS].plan.remove(3)
    scene.player.journal = Journal(scene.player.journal.text)
    assert list(scene.journal.open[CRABS].plan.steps) == [5]


def test_a_script_is_asked_who_may_take_its_quest(tmp_path: Path) -> None:
    criteria = "function ReceiveQuestCriteria(Quest, Giver, Player) return ANSWER end"
    path = tmp_path / "Quests" / "crabs.lua"
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": SPEAKS})
    for answer, may_take in ((None, True), ("false", False), ("GetLevel(Player) > 0", True),
                             ("nil", False), (None, True)):  # fmt: skip
        path.write_text(SPEAKS + (criteria.replace("ANSWER", answer) if answer else ""))
        scene.scripts.reload()
        scene.parts.journals.reload()
        # The second time, the server knows whether the script has the function.
        assert [scene.quests.may_take(scene.player, CRABS) for _ in range(2)] == [may_take] * 2


def test_a_handle_ends_when_its_player_leaves_the_world(scene: QuestScene) -> None:
    scene.accept()
    quests = scene.scripts.quest_scripts
    own = quests.of(scene.player, scene.journal.open[CRABS])
    assert quests.of(scene.player, scene.journal.open[CRABS]) is own
    scene.harness.departures.leave(scene.player, "quit", scene.harness.now)
    assert own.handle.subject is None
    assert quests._taken == {}
