"""The engine of quests of files: what a step moves, it moves whole or not at all."""

from dataclasses import replace
from pathlib import Path

import pytest

from emu.items.held import Place, Where
from emu.quests.journal import Journal
from emu.world.items.items import NoNumbers
from tests.support.world import item_kinds as kinds
from tests.support.world.quest_scenes import BAG, QuestScene
from tests.world.quests.test_givers import lines, staged

pytest.importorskip("lupa", reason="the package lupa is not installed")


@pytest.fixture
def scene(tmp_path: Path) -> QuestScene:
    scene = QuestScene(tmp_path, staged=staged(tmp_path))
    scene.quests.offer(scene.player, 2, is_forced=True)
    return scene


def test_a_step_that_cannot_give_its_thing_stays_undone(scene: QuestScene) -> None:
    inventory, kind = scene.player.holdings.inventory, scene.harness.kinds.get(kinds.MARBLE)
    assert kind is not None
    while inventory.free_places():
        inventory.add_things(kind, 1, scene.harness.parts.items.new_number)
    taken = scene.journal.open[2]
    assert not scene.quests.progress(scene.player, taken, 1)
    assert taken.is_open(1)
    inventory.use_up(next(iter(inventory)), 1)
    assert scene.quests.progress(scene.player, taken, 1)
    assert inventory.of_kind(BAG)


def test_a_step_that_cannot_take_its_thing_stays_undone(scene: QuestScene) -> None:
    taken = scene.journal.open[2]
    scene.quests.progress(scene.player, taken, 1)
    inventory = scene.player.holdings.inventory
    inventory.use_up(inventory.of_kind(BAG)[0], 1)
    assert not scene.quests.progress(scene.player, taken, 2)
    assert taken.is_open(2)


@pytest.mark.parametrize("state", ["in the bank", "in use"])
def test_a_step_takes_no_thing_that_cannot_be_taken(scene: QuestScene, state: str) -> None:
    """The step was done, and the player kept the thing."""
    taken = scene.journal.open[2]
    scene.quests.progress(scene.player, taken, 1)
    inventory = scene.player.holdings.inventory
    (bag,) = inventory.of_kind(BAG)
    if state == "in use":
        inventory.locked.add(bag.id)
    else:
        inventory.move_to(bag, Place(Where.BANK, 0, 0))
    assert not scene.quests.progress(scene.player, taken, 2)
    assert taken.is_open(2)
    inventory.locked.clear()
    inventory.move_to(inventory.of_kind(BAG)[0], Place(Where.BAGS, 0, 5))
    assert scene.quests.progress(scene.player, taken, 2)
    assert not inventory.of_kind(BAG)


def test_a_step_takes_nothing_if_there_is_no_number_for_its_gift(
    scene: QuestScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = scene.journal.open[2]
    scene.quests.progress(scene.player, taken, 1)
    staged_quest = scene.quests.journals.content.staged[2]
    monkeypatch.setitem(staged_quest.gives, 2, ((kinds.MARBLE, 1),))

    def fails() -> int:
        raise NoNumbers("the database does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(scene.harness.parts.items, "new_number", fails)
        assert not scene.quests.progress(scene.player, taken, 2)
    assert scene.player.holdings.inventory.of_kind(BAG)
    assert scene.quests.progress(scene.player, taken, 2)
    assert not scene.player.holdings.inventory.of_kind(BAG)


def test_the_plan_is_rebuilt_after_a_login(scene: QuestScene) -> None:
    scene.quests.progress(scene.player, scene.journal.open[2], 1)
    before = scene.journal.open[2].plan
    scene.player.journal = Journal(scene.player.journal.text)
    assert scene.journal.open[2].plan == before
    assert len(scene.player.holdings.inventory.of_kind(BAG)) == 1


def test_a_quest_has_its_own_lines_for_being_refused_and_given_up(tmp_path: Path) -> None:
    quests = {
        number: replace(one, accepted="Good.", declined="A pity.", dropped="So be it.")
        for number, one in staged(tmp_path).items()
    }
    scene = QuestScene(tmp_path, staged=quests)
    scene.quests.offer(scene.player, 2)
    assert scene.quests.decline(scene.player, 2)
    assert lines(scene)[-1] == "A pity."
    scene.quests.offer(scene.player, 2, is_forced=True)
    assert lines(scene)[-1] == "Good."
    scene.quests.drop(scene.player, 2)
    assert lines(scene)[-1] == "So be it."
