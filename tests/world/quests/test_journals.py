"""Journals of players: plans that are rebuilt after a login, quests that are gone, reloads."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emu.items.held import Place, Thing, Where
from emu.quests.journal import Completion, Journal
from emu.scripts.runtime import AT_ONCE
from emu.world.actors.player import PlayerState
from emu.world.item_events import ItemObtained
from tests.support.world.quest_scenes import BAG, CRABS, CRABS_SCRIPT, QuestScene, crabs_plan

pytest.importorskip("lupa", reason="the package lupa is not installed")

LIST, REPLY = "OP_EqQuestJournalUpdateCmd", "OP_EqQuestJournalReplyCmd"


@pytest.fixture
def scene(tmp_path: Path) -> QuestScene:
    scene = QuestScene(tmp_path)
    scene.accept()
    return scene


def come_again(scene: QuestScene) -> None:
    """Let the player have only what is stored of its journal."""
    scene.player.journal = Journal(scene.player.journal.text)


def replies(scene: QuestScene) -> list[dict[str, Any]]:
    return scene.client.decoded("WS_QuestJournalReply")


@pytest.mark.parametrize("done", [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 5)])
def test_a_plan_is_the_same_after_a_login(scene: QuestScene, done: tuple[int, ...]) -> None:
    before = scene.journal.open[CRABS]
    for step in done:
        scene.quests.complete(scene.player, before, step)
    scene.turn()
    scene.names()
    texts = [one["text"] for one in scene.client.decoded("WS_DisplayText")]
    come_again(scene)
    after = scene.journal.open[CRABS]
    assert after is not before
    assert after.plan == before.plan
    # The script rebuilds the texts; nothing is said or sent again.
    assert scene.names() == []
    assert [one["text"] for one in scene.client.decoded("WS_DisplayText")] == texts


def test_a_rebuilt_quest_moves_nothing_again(tmp_path: Path) -> None:
    script = f"""
        function Init(Quest)
            AddQuestStep(Quest, 1, "Find it.", 1, 100, "", 0, 0)
            AddQuestStepCompleteAction(Quest, 1, "Found")
        end
        function Found(Quest, Giver, Player)
            SummonItem(Player, {BAG}, 1) AddCoin(Player, 7) SendMessage(Player, "Found!")
            if HasQuest(Player, {CRABS}) and QuestStepIsComplete(Player, {CRABS}, 1) then
                AddQuestStep(Quest, 2, "Go on.", 1, 100, "", 0, 0)
            end
        end
        function Reload(Quest, Giver, Player, Step) if Step == 1 then Found(Quest, Giver, Player) end end
    """  # noqa: E501
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    scene.quests.complete_later(scene.player, CRABS, 1)
    scene.turn()
    held = len(list(scene.player.holdings.inventory))
    assert (held, scene.player.character.coins) == (1, 7)
    come_again(scene)
    assert [*scene.journal.open[CRABS].plan.steps] == [1, 2]
    assert len(list(scene.player.holdings.inventory)) == held
    assert scene.player.character.coins == 7


def test_a_reward_that_was_due_at_the_end_comes_after_the_login(scene: QuestScene) -> None:
    for step in (1, 2, 3, 5, 6):
        scene.quests.complete(scene.player, scene.journal.open[CRABS], step)
    assert scene.journal.has(CRABS)
    scene.quests._queued.clear()  # the server stops here
    come_again(scene)
    assert scene.journal.has(CRABS)
    scene.harness.world.events.publish(_entered(scene))
    scene.turn()
    assert scene.journal.times(CRABS) == 1


def test_a_reward_that_a_script_asks_for_at_reload_comes_at_once(scene: QuestScene) -> None:
    """It came when the player went to the next zone."""
    for step in (1, 2, 3, 5, 6):
        scene.quests.complete(scene.player, scene.journal.open[CRABS], step)
    scene.quests._queued.clear()  # as if its script had not asked for it
    for _ in range(2):
        scene.parts.journals.reload()
    scene.turn()
    assert scene.journal.times(CRABS) == 1
    assert not scene.parts.journals.due


def _entered(scene: QuestScene) -> Any:
    from emu.world.events import Entered  # noqa: PLC0415

    return Entered(scene.player, scene.harness.now)


def test_nothing_is_kept_for_a_player_that_has_left(scene: QuestScene) -> None:
    """A purchase ends after its player has left, and counts for its quests."""
    player, journals = scene.player, scene.quests.journals
    scene.harness.departures.leave(player, "quit", scene.harness.now)
    assert player.state is PlayerState.GONE
    (bag,) = scene.harness.kinds.load([BAG]).values()
    thing = Thing(1, BAG, Place(Where.BAGS, 0, 0), 1)
    scene.harness.world.events.publish(ItemObtained(player, thing, bag))
    assert journals._bound == {}
    assert journals.of(player).has(CRABS)


def test_a_quest_that_is_gone_stays_and_says_so(scene: QuestScene) -> None:
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 1)
    content: Any = scene.parts.journals.content
    plans, content.plans = content.plans, {}
    scene.parts.journals.reload()
    taken = scene.journal.open[CRABS]
    assert taken.plan is None
    assert taken.done == (1,)
    scene.parts.journals.inspect(scene.player, CRABS)
    assert "not on this server" in replies(scene)[-1]["description"]
    assert not scene.quests.complete(scene.player, taken, 2)
    content.plans = plans
    scene.parts.journals.reload()
    assert taken.current_step == 2


def test_a_changed_script_keeps_the_progress(scene: QuestScene) -> None:
    path = scene.folder / "Quests/crabs.lua"
    path.write_text(path.read_text().replace("Look over the beach", "Watch the beach"))
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 1)
    scene.scripts.reload()
    assert scene.parts.journals.reload() == 1
    taken = scene.journal.open[CRABS]
    assert taken.done == (1,)
    assert taken.plan.steps[2].text.startswith("Watch the beach")


def test_a_script_that_fails_leaves_no_quest(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": "function Init() nothing() end"})
    assert not scene.quests.offer(scene.player, CRABS)
    assert scene.parts.journals.plan(CRABS) is None


def test_clients_hide_and_track_quests(scene: QuestScene) -> None:
    taken = scene.journal.open[CRABS]
    number = CRABS.to_bytes(4, "little")
    scene.client.say("OP_QuestJournalSetVisibleMsg", b"\1\0\0\0" + number + b"\0")
    assert taken.is_hidden
    scene.client.say("OP_QuestJournalWaypointMsg", number)
    assert not taken.is_tracked
    scene.client.say("OP_QuestJournalInspectMsg", number)
    assert replies(scene)[-1]["quest_id"] == CRABS
    scene.client.say("OP_QuestJournalWaypointMsg", b"\7\0\0\0")


def test_flags_are_there_when_a_plan_is_rebuilt(tmp_path: Path) -> None:
    script = """
        function Init(Quest) AddQuestStep(Quest, 1, "One.", 1, 100, "", 0, 0) end
        function Accepted(Quest, Giver, Player)
            SetQuestFlags(Quest, 5)
            Reload(Quest, Giver, Player, 0)
        end
        function Reload(Quest, Giver, Player, Step)
            if GetQuestFlags(Quest) == 5 then
                AddQuestStep(Quest, 2, "Two, by chance.", 1, 100, "", 0, 0)
            end
        end
    """
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    come_again(scene)
    assert [*scene.journal.open[CRABS].plan.steps] == [1, 2]
    assert scene.journal.open[CRABS].plan.flags == 5


@pytest.mark.parametrize("reload", ["", "missing()"])
def test_a_script_that_rebuilds_nothing_is_rebuilt_by_its_actions(
    tmp_path: Path, reload: str
) -> None:
    script = f"""
        function Init(Quest)
            AddQuestStep(Quest, 1, "One.", 1, 100, "", 0, 0)
            AddQuestStepCompleteAction(Quest, 1, "Done")
        end
        function Done(Quest, Giver, Player)
            UpdateQuestStepDescription(Quest, 1, "It is done.")
            SendMessage(Player, "Well done.")
            AddQuestStep(Quest, 2, "Two.", 1, 100, "", 0, 0)
        end
        function Reload(Quest, Giver, Player, Step) {reload} end
    """
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 1)
    before = scene.journal.open[CRABS].plan
    shown = scene.client.decoded("WS_DisplayText")
    come_again(scene)
    assert scene.journal.open[CRABS].plan == before
    assert before.steps[1].text == "It is done."
    assert scene.client.decoded("WS_DisplayText") == shown


def test_a_quest_whose_script_is_being_compiled_comes_when_that_is_done(tmp_path: Path) -> None:
    background: list[Callable[[], object]] = []
    script = "-- long\n" * (AT_ONCE // 8) + CRABS_SCRIPT
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script}, background=background)
    scene.player.journal = Journal(f'{{"open":{{"{CRABS}":{{"at":5,"steps":[1]}}}}}}')
    assert scene.journal.open[CRABS].plan is None
    scene.names()
    while background:
        background.pop(0)()
        scene.turn()
    plan = scene.journal.open[CRABS].plan
    assert plan is not None
    assert [*plan.steps] == [1, 2]
    # The client is shown the quest that was missing in its list.
    assert scene.names() == [LIST]


def test_an_imported_quest_goes_on_where_its_counts_end(scene: QuestScene) -> None:
    """EQ2Emulator stores how often a step was counted, and no more."""
    counts = {"counts": {"1": 2, "2": 1, "3": 1}}
    scene.player.journal = Journal(json.dumps({"open": {str(CRABS): counts}}))
    taken = scene.journal.open[CRABS]
    assert taken.done == (1, 2, 3)
    assert [one.number for one in taken.open_steps()] == [4, 5]
    assert taken.plan.groups[0].text == "The beach is safe."


def test_a_client_that_enters_sees_completed_quests_too(tmp_path: Path) -> None:
    # real-quests-546-QueensColony-priest at 3.30 s and 156.39 s: completed ones are turned in, not
    # visible and not new, all in the order of their numbers; then all of each open quest.
    scene = QuestScene(tmp_path, plans=[crabs_plan(), replace(crabs_plan(), number=CRABS - 1)])
    scene.accept()
    scene.journal.completed[CRABS - 1] = Completion(1, scene.harness.moment)
    scene.names()
    scene.parts.journals.send_all(scene.player)
    assert scene.names() == [LIST, REPLY]
    shown = scene.client.decoded("WS_QuestJournalUpdate")[-1]
    names = ("quest_id", "completed", "turned_in", "visible", "journal_updated")
    assert [tuple(one[name] for name in names) for one in shown["quests_array"]] == [
        (CRABS - 1, 1, 1, 0, 0), (CRABS, 0, 0, 1, 0),
    ]  # fmt: skip
    assert (shown["used_quests"], shown["visible_quest_id"]) == (1, 0)


@pytest.mark.parametrize(("level", "color"), [(2, 3), (3, 2), (6, 0), (7, 0), (1, 4)])
def test_a_quest_has_the_color_of_its_level(tmp_path: Path, level: int, color: int) -> None:
    # fight-*-quest-a: 2 for level 2 at 3; real-quests-*: 0 for level 2 at 6.
    scene = QuestScene(tmp_path, level=level)
    scene.accept()
    assert replies(scene)[-1]["difficulty"] == color
    assert scene.client.decoded("WS_OfferQuest")[-1]["quest_difficulty"] == color


def test_a_newer_client_reads_the_end_of_a_completed_quest(tmp_path: Path) -> None:
    # real-quests-1208-QueensColony-mage at 44.2674 s: the first of the last eight bytes is 1.
    scene = QuestScene(tmp_path, 1208)
    scene.accept()
    taken = scene.journal.open[CRABS]
    for step in (1, 2, 3, 4, 5, 6):
        scene.quests.complete(scene.player, taken, step)
    scene.turn()
    closed = [one for one in replies(scene) if one["complete"]]
    assert [one["unknown12b"] for one in closed] == [[1, 0, 0, 0, 0, 0, 0, 0]]


def test_only_quests_that_fail_are_counted(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path)
    drops = scene.harness.world.faults.drops
    journals = scene.parts.journals
    assert journals.plan(CRABS) is journals.plan(CRABS) is not None
    assert journals.plan(77) is None
    assert drops["quest whose script fails"] == 0
    scene = QuestScene(tmp_path / "2", scripts={"Quests/crabs.lua": "function Init() no() end"})
    drops = scene.harness.world.faults.drops
    for _ in range(2):
        assert scene.parts.journals.plan(CRABS) is None
    assert drops["quest whose script fails"] == 1
