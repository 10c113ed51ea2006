"""The quests of players: offers, steps, completion, as the C++ server was recorded to do them.

Source: ../shared/data/recordings/fight-546-quest-a.jsonl.gz, docs/guides/quests.md.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.world.quest_scenes import BAG, CRAB, CRABS, FOOD, MITTS, QuestScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

from emu.quests.journal import MOST_QUESTS
from emu.quests.plans import QuestPlan, StepKind
from emu.world.actors.player import PlayerState
from emu.world.events import Entered
from emu.world.quest_events import QuestDropped, QuestStepChanged
from emu.world.quests.quests import MOST_OFFERED, NOT_DELETABLE

LIST, REPLY = "OP_EqQuestJournalUpdateCmd", "OP_EqQuestJournalReplyCmd"


@pytest.fixture
def scene(tmp_path: Path) -> QuestScene:
    return QuestScene(tmp_path)


def replies(scene: QuestScene) -> list[dict[str, Any]]:
    return scene.client.decoded("WS_QuestJournalReply")


def test_a_quest_is_offered_accepted_and_given_up(scene: QuestScene) -> None:
    assert scene.quests.offer(scene.player, CRABS)
    (offer,) = scene.client.decoded("WS_OfferQuest")
    assert (offer["title"], offer["min_coin"], offer["text"]) == (
        "Crabs on the Beach", 1234, "Anikra pays what she promised.",
    )  # fmt: skip
    assert offer["accept_command"] == f"q_accept_pending_quest {CRABS}"
    assert scene.client.types(f"/q_accept_pending_quest {CRABS}") == ["You take on the crabs."]
    assert scene.names()[-3:] == ["OP_OfferQuestMsg", LIST, REPLY]
    assert scene.client.types(f"/deletequest {CRABS}") == ["You gave it up."]
    assert scene.names() == [LIST, LIST]
    assert not scene.journal.has(CRABS)


def test_the_whole_quest(scene: QuestScene) -> None:
    scene.accept()
    scene.kill(901)
    assert scene.journal.open[CRABS].count(1) == 1
    scene.kill(901)
    assert scene.journal.open[CRABS].current_step == 2
    scene.client.walk(20.0, -7.0, 243.0)
    scene.player.spawn.move(scene.player.position._replace(x=20.0, y=-7.0, z=243.0))
    scene.parts.counting.moved(scene.player)
    taken = scene.journal.open[CRABS]
    assert [one.number for one in taken.open_steps()] == [3, 4, 5]
    scene.parts.counting.count(scene.player, StepKind.SPELL, 110012)
    scene.parts.counting.count(scene.player, StepKind.HARVEST, MITTS)
    assert [one.number for one in taken.open_steps()] == [4, 6]
    scene.quests.complete_later(scene.player, CRABS, 6)
    assert not taken.is_done(6)
    scene.names()
    scene.turn()
    assert scene.names() == [
        LIST, REPLY, "OP_RewardPackMsg", LIST, "OP_EqPlaySoundCmd", REPLY, LIST,
    ]  # fmt: skip
    assert scene.journal.times(CRABS) == 1
    assert not scene.journal.has(CRABS)
    assert scene.player.character.coins == 1234
    scene.client.types(f"/accept_reward {FOOD} {FOOD}")
    held = {one.item_id for one in scene.player.holdings.inventory}
    assert held == {BAG, FOOD}
    assert scene.player.past.standing(11) == 250
    assert not scene.journal.pending


def test_what_is_not_open_changes_nothing(scene: QuestScene) -> None:
    scene.accept()
    before = scene.player.journal.text
    for line in (
        "q_accept_pending_quest 900001", "q_deny_pending_quest 900001", "q_accept_pending_quest x",
        "deletequest 4711", "deletequest", "deletequest -1", "deletequest 99999999999999999999",
        "accept_reward 0 0", "share_quest 4711",
    ):  # fmt: skip
        scene.client.types(f"/{line}")
        scene.turn()
        assert scene.player.journal.text == before, line
    assert scene.player.is_online


def test_a_quest_is_shared_with_those_near_who_do_not_ignore_its_player(scene: QuestScene) -> None:
    scene.accept()
    harness, row = scene.harness, scene.player.character
    clients = [harness.stand(number, zone_id=row.zone_id) for number in (6, 7)]
    harness.run(1.0)
    for client in clients:
        scene.client.types(f"/invite {client.player.name}")  # type: ignore[union-attr]
        client.types("/accept")
        client.player.teleport(scene.player.position, harness.now)  # type: ignore[union-attr]
    clients[1].types(f"/ignore {scene.player.name}")
    scene.client.types(f"/share_quest {CRABS}")
    offered = [CRABS in client.player.journal.offered for client in clients]  # type: ignore[union-attr]
    assert offered == [True, False]


def test_a_quest_asks_for_what_its_player_looks_like(scene: QuestScene) -> None:
    """An illusion counts: the class and race of the spawn come first."""
    player = scene.player
    own = player.character.class_, player.character.race
    assert scene.quests.candidate(player)[1:3] == own
    player.spawn.appearance = dict(player.spawn.appearance) | {
        "class": 31, "race": 17, "model_type": 118,
    }  # fmt: skip
    assert scene.quests.candidate(player)[1:4] == (31, 17, 118)


def test_a_quest_is_given_up_once(scene: QuestScene) -> None:
    scene.accept()
    assert scene.quests.drop(scene.player, CRABS)
    assert not scene.quests.drop(scene.player, CRABS)


def test_nobody_takes_a_seventy_sixth_quest(scene: QuestScene) -> None:
    for number in range(MOST_QUESTS):
        scene.journal.take_quest(QuestPlan(number + 1, "Errand"), 0, scene.harness.moment)
    assert not scene.quests.offer(scene.player, CRABS)
    scene.client.types(f"/q_accept_pending_quest {CRABS}")
    assert CRABS not in scene.journal.open
    texts = [one["text"] for one in scene.client.decoded("WS_DisplayText")]
    assert texts[-1] == "You cannot have more than 75 quests."


def test_a_death_counts_for_five_players_at_once(scene: QuestScene) -> None:
    """One of the group has fought; somebody without a group sees it, and counts nothing."""
    scene.accept()
    others = [
        scene.harness.stand(6 + at, name=f"Other{letter}") for at, letter in enumerate("abcde")
    ]
    for other in others:
        assert other.player is not None
        scene.quests.offer(other.player, CRABS, is_forced=True)
        other.player.spawn.move(scene.player.position)
    for other in others[:-1]:
        assert other.player is not None
        scene.client.types(f"/invite {other.player.name}")
        other.types("/acceptinvite")
    victim = scene.spawn("", "a shore crab")
    victim.look = replace(victim.look, dealing=victim.look.dealing._replace(number=CRAB))
    victim.mind.fighters[scene.player.spawn] = None
    scene.harness.parts.minds.harm.kill(scene.zone, victim, scene.player.spawn)
    counts = [
        scene.quests.journal(one.player).open[CRABS].counts for one in (scene.client, *others)
    ]
    assert counts == [{1: 1}] * 5 + [{}]


def test_a_step_is_done_while_its_player_changes_the_zone(scene: QuestScene) -> None:
    scene.accept()
    before, scene.player.state = len(scene.client.log), PlayerState.ZONING
    scene.quests.complete_later(scene.player, CRABS, 1)
    scene.turn()
    assert scene.journal.open[CRABS].done == (1,)
    assert len(scene.client.log) == before
    scene.player.state = PlayerState.STANDING
    scene.client.say("OP_QuestJournalInspectMsg", CRABS.to_bytes(4, "little"))
    assert scene.client.decoded("WS_QuestJournalReply")[-1]["task_groups_completed"] == 1


def test_a_giver_that_is_gone_when_its_offer_is_accepted(scene: QuestScene) -> None:
    guard = scene.spawn("function hailed(NPC, Spawn) OfferQuest(NPC, Spawn, 900001) end")
    scene.hail(guard)
    scene.scripts.vanished(scene.zone, guard)
    scene.parts.vanished(scene.zone, guard)
    scene.zone.remove(guard, scene.harness.now)
    scene.client.types(f"/q_accept_pending_quest {CRABS}")
    assert scene.journal.has(CRABS)
    assert scene.lines == []
    assert scene.shown()[-1] == "You take on the crabs."


def test_an_offer_that_two_windows_accept_is_taken_once(scene: QuestScene) -> None:
    for _ in range(2):
        assert scene.quests.offer(scene.player, CRABS)
    for _ in range(2):
        scene.client.types(f"/q_accept_pending_quest {CRABS}")
    assert scene.shown().count("You take on the crabs.") == 1
    assert not scene.quests.offer(scene.player, CRABS)


def test_an_offer_that_two_sessions_accept_is_taken_once(scene: QuestScene) -> None:
    assert scene.quests.offer(scene.player, CRABS)
    first, second = scene.client, scene.harness.stand(5)
    player = second.player
    assert player is not None
    second.types(f"/q_accept_pending_quest {CRABS}")
    first.types(f"/q_accept_pending_quest {CRABS}")
    scene.turn()
    lines = [
        one["text"] for client in (first, second) for one in client.decoded("WS_DisplayText")
    ]  # fmt: skip
    assert lines.count("You take on the crabs.") == 1
    assert list(scene.quests.journal(player).open) == [CRABS]


def test_a_step_whose_action_fails_stays_open_with_its_count(tmp_path: Path) -> None:
    script = """
        function Init(Quest)
            AddQuestStepKill(Quest, 1, "Kill two.", 2, 100, "", 0, 901)
            AddQuestStepCompleteAction(Quest, 1, "Fails")
        end
        function Fails() nothing() end"""
    scene = QuestScene(tmp_path, scripts={"Quests/crabs.lua": script})
    scene.accept()
    taken = scene.journal.open[CRABS]
    assert scene.quests.progress(scene.player, taken, 1)
    assert not scene.quests.progress(scene.player, taken, 1)
    assert not scene.quests.complete(scene.player, taken, 1)
    assert (taken.is_open(1), taken.count(1), taken.done) == (True, 1, ())


def test_each_change_of_a_step_is_shown_and_is_an_event(scene: QuestScene) -> None:
    scene.accept()
    changes: list[QuestStepChanged] = []
    scene.harness.world.events.subscribe(QuestStepChanged, changes.append)
    scene.names()
    taken = scene.journal.open[CRABS]
    assert scene.quests.progress(scene.player, taken, 1)
    assert scene.names()
    assert scene.quests.progress(scene.player, taken, 1)
    assert scene.names()
    assert not scene.quests.progress(scene.player, taken, 1), "it is done"
    assert scene.names() == []
    assert [(one.quest, one.step, one.is_done) for one in changes] == [
        (CRABS, 1, False), (CRABS, 1, True),
    ]  # fmt: skip


def test_a_step_fails_when_its_time_is_over(scene: QuestScene) -> None:
    scene.accept()
    taken = scene.journal.open[CRABS]
    scene.quests.set_time(scene.player, taken, 1, 20)
    scene.quests.set_time(scene.player, taken, 2, 20)  # it is not open
    assert [*taken.ends] == [1]
    scene.harness.run(19.0)
    assert taken.is_open(1)
    scene.harness.run(2.0)
    assert not taken.is_open(1)
    assert 1 not in taken.done
    assert not scene.quests.fail(scene.player, taken, 1)


def test_a_missed_chance_is_shown_and_changes_nothing(scene: QuestScene) -> None:
    scene.accept()
    before, taken = scene.player.journal.text, scene.journal.open[CRABS]
    scene.names()
    scene.quests.missed(scene.player, taken, 1)
    assert scene.names() == [REPLY]
    assert scene.player.journal.text == before
    scene.player.state = PlayerState.ZONING
    scene.quests.missed(scene.player, taken, 1)
    assert scene.names() == []


def test_a_step_whose_times_are_ended_stays_open(scene: QuestScene) -> None:
    scene.accept()
    taken = scene.journal.open[CRABS]
    scene.quests.set_time(scene.player, taken, 1, 20)
    scene.quests.end_times(scene.player, taken)
    scene.harness.run(30.0)
    assert (taken.is_open(1), dict(taken.ends)) == (True, {})


def test_a_time_goes_on_and_a_reward_waits_after_a_login(scene: QuestScene) -> None:
    scene.accept()
    taken = scene.journal.open[CRABS]
    scene.quests.set_time(scene.player, taken, 1, 20)
    scene.harness.world.events.publish(Entered(scene.player, scene.harness.now))
    scene.harness.run(21.0)
    assert not taken.is_open(1)
    assert scene.quests.finish(scene.player, CRABS)
    assert scene.journal.pending
    before = scene.client.names.count("OP_RewardPackMsg")
    scene.harness.world.events.publish(Entered(scene.player, scene.harness.now))
    assert scene.client.names.count("OP_RewardPackMsg") == before + 1
    assert not scene.quests.finish(scene.player, CRABS), "it is completed already"


def test_a_quest_that_was_refused_is_not_offered_any_more(scene: QuestScene) -> None:
    """Source: eq2-lua.md 2 (the function Declined of a quest's script)."""
    assert scene.quests.offer(scene.player, CRABS)
    assert scene.quests.decline(scene.player, CRABS)
    assert scene.shown()[-1:] == ["Another time, then."]
    assert not scene.quests.decline(scene.player, CRABS)
    assert not scene.quests.accept(scene.player, CRABS)
    assert not scene.journal.has(CRABS)


def test_offers_are_few_and_the_oldest_one_goes(tmp_path: Path) -> None:
    plans = [QuestPlan(number, "Errand") for number in range(1, MOST_OFFERED + 2)]
    scene = QuestScene(tmp_path, plans=plans)
    for plan in plans:
        assert scene.quests.offer(scene.player, plan.number, 7)
    offered = scene.journal.offered
    assert (len(offered), 1 in offered, 2 in offered) == (MOST_OFFERED, False, True)
    assert {*offered.values()} == {7}


def test_a_quest_that_must_be_kept_is_dropped_only_by_force(tmp_path: Path) -> None:
    scene = QuestScene(tmp_path, plans=[QuestPlan(5, "Errand", is_deletable=False)])
    assert scene.quests.offer(scene.player, 5, is_forced=True)
    assert not scene.quests.drop(scene.player, 5)
    assert scene.shown()[-1:] == [NOT_DELETABLE]
    dropped: list[int] = []
    scene.harness.world.events.subscribe(QuestDropped, lambda event: dropped.append(event.quest))
    assert scene.quests.drop(scene.player, 5, is_forced=True)
    assert dropped == [5]
