"""Rewards of quests: once and whole, with full bags, wrong choices, relogs and crashes.

Source: docs/guides/quests.md#rewards.
"""

from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from emu.errors import StoreAway
from emu.model import SavedKind
from emu.quests.journal import MOST_PENDING, Journal
from emu.times import Moment
from emu.world.quests.rewards import LATER
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.quest_scenes import BAG, CRABS, FOOD, OTHER_BAG, QuestScene

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> QuestScene:
    scene = QuestScene(tmp_path)
    scene.accept()
    return scene


def packs(scene: QuestScene) -> list[dict[str, Any]]:
    return scene.client.decoded("WS_QuestRewardPackMsg")


def held(scene: QuestScene) -> list[int]:
    return sorted(one.item_id for one in scene.player.holdings.inventory)


def answer(scene: QuestScene, choice: int) -> list[str]:
    return scene.client.types(f"/accept_reward {choice} {choice}")


def test_a_choice_that_is_not_offered_gives_nothing_and_the_window_comes_again(
    scene: QuestScene,
) -> None:
    scene.quests.finish(scene.player, CRABS)
    for wrong in (0, BAG, 4711):
        before = len(packs(scene))
        assert answer(scene, wrong) == ["choose one of the offered rewards"]
        assert len(packs(scene)) == before + 1
        assert held(scene) == []
    answer(scene, OTHER_BAG)
    assert held(scene) == [BAG, OTHER_BAG]
    assert answer(scene, OTHER_BAG) == ["no reward waits for you"]
    assert held(scene) == [BAG, OTHER_BAG]


def test_full_bags(scene: QuestScene) -> None:
    inventory, kind = scene.player.holdings.inventory, scene.harness.kinds.get(kinds.MARBLE)
    assert kind is not None
    while inventory.free_places() > 0:
        inventory.add_things(kind, 1, scene.harness.parts.items.new_number)
    before = held(scene)
    scene.quests.finish(scene.player, CRABS)
    texts = answer(scene, FOOD)
    assert texts == ["You do not have enough free slots!  Free some slots and try again."]
    assert held(scene) == before
    assert len(packs(scene)) == 2
    # Stored was that the things are on their way; found by the simulation (seed 3).
    assert SavedKind.QUESTS in scene.player.unsaved.kinds
    assert "is_taken" not in scene.player.journal.text
    inventory.use_up(next(iter(inventory)), 1)
    answer(scene, FOOD)
    assert sorted(set(held(scene)) - set(before)) == [BAG, FOOD]


def test_one_window_at_a_time_and_all_again_after_a_login(scene: QuestScene) -> None:
    scene.quests.finish(scene.player, CRABS)
    plan = scene.parts.journals.plan(CRABS)
    assert plan is not None
    plan.is_repeatable = True
    scene.accept()
    scene.quests.finish(scene.player, CRABS)
    assert scene.journal.times(CRABS) == 2
    assert len(packs(scene)) == 1
    scene.player.journal = Journal(scene.player.journal.text)
    scene.parts.rewards.restore(scene.player)
    assert len(packs(scene)) == 2
    answer(scene, FOOD)
    assert len(packs(scene)) == 3
    answer(scene, FOOD)
    assert held(scene).count(BAG) == 2
    assert scene.player.character.coins == 2 * 1234
    assert not scene.journal.pending


def test_coins_that_were_moved_before_a_crash_are_not_moved_again(scene: QuestScene) -> None:
    before = scene.player.journal.text
    scene.quests.finish(scene.player, CRABS)
    assert scene.player.character.coins == 1234
    # The journal of before the quest's end was the last one that was stored.
    scene.player.journal = Journal(before)
    scene.quests.finish(scene.player, CRABS)
    assert scene.player.character.coins == 1234


@pytest.mark.parametrize("was_moved", [True, False])
def test_things_whose_fate_a_crash_left_open(scene: QuestScene, *, was_moved: bool) -> None:
    scene.quests.finish(scene.player, CRABS)
    (pending,) = scene.journal.pending
    pending.is_taken = True
    stored = scene.player.journal.text
    pending.is_taken = False
    if was_moved:
        answer(scene, FOOD)
        assert held(scene) == [BAG, FOOD]
    scene.player.journal = Journal(stored)
    scene.parts.rewards.restore(scene.player)
    if not was_moved:
        assert held(scene) == []
        answer(scene, FOOD)
    assert held(scene) == [BAG, FOOD]
    assert not scene.journal.pending


def test_a_database_that_is_away_gives_the_coins_later(
    scene: QuestScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = scene.harness.parts.ledger

    async def away(_movement: Any) -> Any:
        raise StoreAway("away")

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "settle", away)
        scene.quests.finish(scene.player, CRABS)
    assert scene.player.character.coins == 0
    scene.parts.rewards.restore(scene.player)
    assert scene.player.character.coins == 1234


@pytest.mark.parametrize("is_back", [False, True])
def test_an_answer_before_the_coins_are_stored_loses_none(
    scene: QuestScene, monkeypatch: pytest.MonkeyPatch, *, is_back: bool
) -> None:
    """Found by the simulation (seeds 5005 and 5029): the answer removed the reward."""
    ledger = scene.harness.parts.ledger

    async def away(_movement: Any) -> Any:
        raise StoreAway("away")

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "settle", away)
        scene.quests.finish(scene.player, CRABS)
        if not is_back:
            assert answer(scene, FOOD) == [LATER]
            assert (held(scene), len(packs(scene))) == ([], 2)
    answer(scene, FOOD)
    assert (held(scene), scene.player.character.coins) == ([BAG, FOOD], 1234)
    assert not scene.journal.pending


def test_two_answers_while_the_coins_are_being_stored_give_once(
    scene: QuestScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, waiting = scene.harness.parts.ledger, list[Deferred[None]]()
    settle, asked = ledger.settle, list[str]()

    async def slow(movement: Any) -> Any:
        asked.append(movement.request.rpartition("-")[2])
        waiting.append(Deferred())
        await waiting[-1]
        return await settle(movement)

    async def away(_movement: Any) -> Any:
        raise StoreAway("away")

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "settle", away)
        scene.quests.finish(scene.player, CRABS)
    monkeypatch.setattr(ledger, "settle", slow)
    monkeypatch.setattr(scene.harness, "start", Deferred.fromCoroutine)
    answer(scene, FOOD)
    answer(scene, FOOD)
    for one in waiting:
        one.callback(None)
    assert asked == ["coins", "coins", "things"]
    assert (held(scene), scene.player.character.coins) == ([BAG, FOOD], 1234)
    assert scene.player.past.standing(11, 0) == 250
    assert not scene.journal.pending


def test_a_gift_that_nothing_describes_does_not_hold_up_the_next_reward(
    scene: QuestScene,
) -> None:
    """No client answers a window without things, so the next window must not wait for that."""
    taken = scene.journal.open[CRABS]
    assert scene.parts.rewards.gift(scene.player, taken, "Take this.", ((4711, 1),))
    scene.quests.finish(scene.player, CRABS)
    answer(scene, FOOD)
    assert held(scene) == [BAG, FOOD]
    assert not scene.journal.pending


def test_a_gift_in_the_middle_of_a_quest(scene: QuestScene) -> None:
    taken = scene.journal.open[CRABS]
    assert scene.parts.rewards.gift(scene.player, taken, "Take this.", ((OTHER_BAG, 1),))
    assert not scene.parts.rewards.gift(scene.player, taken, "And this.", ((FOOD, 1),))
    assert packs(scene)[-1]["reward_data"]["text"] == "Take this."
    answer(scene, 0)
    assert held(scene) == [OTHER_BAG]
    assert scene.journal.has(CRABS)
    assert scene.parts.rewards.gift(scene.player, taken, "And this.", ((FOOD, 1),))


def test_a_gift_of_a_quest_that_is_taken_again_has_its_own_entry(scene: QuestScene) -> None:
    """The things came under the identity of the first gift: the ledger did not count them."""
    coins = scene.player.character.coins
    for times in (1, 2):
        taken = scene.journal.open[CRABS]
        taken.plan.gift_coins, taken.plan.gift_status = 30, 7
        assert scene.parts.rewards.gift(scene.player, taken, "Take this.", ((OTHER_BAG, 1),))
        answer(scene, 0)
        assert held(scene) == [OTHER_BAG] * times
        audit = finish(scene.harness.stored.ledger.audit())
        assert audit.wrong_things == ()
        assert scene.player.character.coins == coins + 30
        assert scene.player.character.status_points == 7
        scene.quests.drop(scene.player, CRABS)
        scene.harness.moment = Moment(scene.harness.moment + 0.01)
        scene.accept()


def test_experience_of_a_reward_is_stored_with_the_journal(
    scene: QuestScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash behind the quest's end, before its coins were moved, takes no experience."""
    ledger, moved = scene.harness.parts.ledger, scene.player.character.experience
    stored: list[str] = []

    async def dies(_movement: Any) -> Any:
        scene.harness.run(0.1)
        stored.append(scene.harness.store.rows[scene.player.id].quests)
        raise StoreAway("away")

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "settle", dies)
        scene.quests.finish(scene.player, CRABS)
    gained = scene.player.character.experience - moved
    assert gained > 0
    assert Journal(stored[0]).pending[0].reward.experience == 120
    assert not scene.journal.pending[0].reward.experience
    scene.player.journal = Journal(stored[0])
    scene.parts.rewards.restore(scene.player)
    assert scene.player.character.experience == moved + 2 * gained
    scene.parts.rewards.restore(scene.player)
    assert scene.player.character.experience == moved + 2 * gained


def test_the_standing_of_a_reward_whose_things_were_moved_before_a_crash(
    scene: QuestScene,
) -> None:
    scene.quests.finish(scene.player, CRABS)
    (pending,) = scene.journal.pending
    pending.is_taken = True
    stored = scene.player.journal.text
    pending.is_taken = False
    answer(scene, FOOD)
    assert scene.player.past.standing(11, 0) == 250
    # The things are stored, the answer's other effects are not.
    scene.player.journal = Journal(stored)
    scene.player.past.change_standing(11, -250)
    scene.parts.rewards.restore(scene.player)
    assert scene.player.past.standing(11, 0) == 250
    assert held(scene) == [BAG, FOOD]


def test_tradeskill_experience(scene: QuestScene) -> None:
    scene.journal.open[CRABS].plan.rewarded(trade_experience=7)
    scene.quests.finish(scene.player, CRABS)
    assert scene.player.character.tradeskill_experience == 7


def test_a_quest_stays_open_while_too_many_rewards_wait(scene: QuestScene) -> None:
    scene.quests.finish(scene.player, CRABS)
    (one,) = scene.journal.pending
    scene.journal.pending += [one] * (MOST_PENDING - 1)
    plan = scene.parts.journals.plan(CRABS)
    assert plan is not None
    plan.is_repeatable = True
    scene.accept()
    assert not scene.quests.finish(scene.player, CRABS)
    assert scene.shown()[-1] == "Take the rewards that wait for you first."
    assert scene.journal.has(CRABS)


def test_a_reward_that_is_answered_twice_comes_once(
    scene: QuestScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.quests.finish(scene.player, CRABS)
    ledger, settle, asked = scene.harness.parts.ledger, scene.harness.parts.ledger.settle, [0]

    async def slow(movement: Any) -> Any:
        asked[0] += 1
        assert answer(scene, OTHER_BAG) == []  # while the first answer waits for the store
        return await settle(movement)

    monkeypatch.setattr(ledger, "settle", slow)
    answer(scene, FOOD)
    assert asked == [1]
    assert held(scene) == [BAG, FOOD]


@pytest.fixture
def waiting(scene: QuestScene, monkeypatch: pytest.MonkeyPatch) -> list[Deferred[None]]:
    """What movements of the ledger wait for, once they are stored."""
    scene.quests.finish(scene.player, CRABS)
    ledger, settle = scene.harness.parts.ledger, scene.harness.parts.ledger.settle
    waiting: list[Deferred[None]] = []

    async def slow(movement: Any) -> Any:
        moved = await settle(movement)
        waiting.append(Deferred())
        await waiting[-1]
        return moved

    monkeypatch.setattr(ledger, "settle", slow)
    monkeypatch.setattr(scene.harness, "start", Deferred.fromCoroutine)
    return waiting


def test_a_reward_that_two_connections_answer_comes_once(
    scene: QuestScene, waiting: list[Deferred[None]]
) -> None:
    """The second connection enters while the first answer waits for the store."""
    first = scene.client
    answer(scene, FOOD)
    scene.client = scene.harness.stand(5)
    assert first.is_closed
    assert scene.client.player is scene.player
    assert answer(scene, OTHER_BAG) == ["no reward waits for you"]
    (one,) = waiting
    one.callback(None)
    assert held(scene) == [BAG, FOOD]
    assert scene.player.past.standing(11, 0) == 250
    assert answer(scene, OTHER_BAG) == ["no reward waits for you"]
    assert not scene.journal.pending


def test_a_reward_that_could_not_be_stored_is_shown_to_the_next_connection(
    scene: QuestScene, waiting: list[Deferred[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    away: Deferred[None] = Deferred()

    async def settle(_movement: Any) -> Any:
        await away

    with monkeypatch.context() as patch:
        patch.setattr(scene.harness.parts.ledger, "settle", settle)
        answer(scene, FOOD)
        scene.client = scene.harness.stand(5)
        assert packs(scene) == []
        away.errback(StoreAway("away"))
    assert len(packs(scene)) == 1
    answer(scene, FOOD)
    waiting.pop().callback(None)
    assert held(scene) == [BAG, FOOD]


def test_two_entries_find_the_outcome_of_a_crash_once(
    scene: QuestScene, waiting: list[Deferred[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A player enters a second zone while the ledger is asked for the first one."""
    answer(scene, FOOD)
    stored = scene.player.journal.text
    waiting.pop().callback(None)
    # The things are stored, the answer's other effects are not.
    scene.player.journal = Journal(stored)
    scene.player.past.change_standing(11, -250)
    ledger, asked = scene.harness.parts.ledger, list[Deferred[bool]]()

    def was_carried_out(_movement: Any) -> Deferred[bool]:
        asked.append(Deferred())
        return asked[-1]

    monkeypatch.setattr(ledger, "was_carried_out", was_carried_out)
    for _ in range(2):
        scene.parts.rewards.restore(scene.player)
    for one in asked:
        one.callback(True)
    assert len(asked) == 2
    assert scene.player.past.standing(11, 0) == 250
    assert held(scene) == [BAG, FOOD]
