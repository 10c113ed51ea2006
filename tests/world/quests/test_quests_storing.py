"""A step of a quest and the things that its action moves are stored together.

Source: docs/guides/quests.md#storage.
"""

from pathlib import Path
from typing import Any

import pytest

from emu.ledger import Movement
from emu.quests.journal import Journal
from tests.support.world.quest_scenes import BAG, CRABS, CRABS_SCRIPT, OTHER_BAG, QuestScene

pytest.importorskip("lupa", reason="the package lupa is not installed")

TAKES = CRABS_SCRIPT.replace(
    'UpdateQuestStepDescription(Quest, 3, "I cast the spell.")', f"RemoveItem(Player, {BAG}, 1)"
).replace('SendMessage(Player, "One crab less.", "yellow")', f"SummonItem(Player, {OTHER_BAG}, 1)")


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> QuestScene:
    monkeypatch.setattr("tests.support.world.quest_scenes.CRABS_SCRIPT", TAKES)
    scene = QuestScene(tmp_path)
    scene.accept()
    return scene


@pytest.fixture
def stored(scene: QuestScene, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Movement, Journal]]:
    """The movements that were given to the store, each with the journal that was before."""
    ledger, found = scene.harness.parts.ledger, list[tuple[Movement, Journal]]()
    store_later = ledger.store_later

    async def watched(movement: Movement) -> Any:
        row = scene.harness.store.rows[scene.player.id]
        found.append((movement, Journal(row.quests)))
        return await store_later(movement)

    monkeypatch.setattr(ledger, "store_later", watched)
    return found


def test_a_thing_is_taken_with_its_step(
    scene: QuestScene, stored: list[tuple[Movement, Journal]]
) -> None:
    """The store gets the journal directly before the movement: both share a transaction."""
    scene.kill(901)
    movement, journal = stored[-1]
    assert [part.number for part in movement.parts] == [OTHER_BAG]
    assert journal.open[CRABS].counts == {1: 1}
    kind = scene.harness.kinds.get(BAG)
    assert kind is not None
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 1)
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 2)
    scene.player.holdings.inventory.add_things(kind, 1, scene.harness.parts.items.new_number)
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 3)
    movement, journal = stored[-1]
    assert BAG in [part.number for part in movement.parts]
    assert journal.open[CRABS].done == (1, 2, 3)


def test_a_journal_waits_for_things_that_wait_for_the_store(
    scene: QuestScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the store has one movement, the next one and its step wait for each other."""
    ledger, late, harness = scene.harness.parts.ledger, list[Any](), scene.harness
    store_later = ledger.store_later

    async def slow(movement: Movement) -> Any:
        late.append(movement)
        if len(late) == 1:
            scene.kill(901)
            harness.run(1.0)
            before = Journal(harness.store.rows[scene.player.id].quests)
            assert before.open[CRABS].counts == {1: 1}
        return await store_later(movement)

    monkeypatch.setattr(ledger, "store_later", slow)
    scene.kill(901)
    harness.run(0.1)
    assert len(late) == 2
    after = Journal(harness.store.rows[scene.player.id].quests)
    assert after.open[CRABS].counts == {1: 2}
    assert not scene.player.holdings.has_unsaved


def test_a_journal_is_stored_in_the_next_turn(scene: QuestScene) -> None:
    scene.quests.complete(scene.player, scene.journal.open[CRABS], 1)
    scene.harness.run(0.01)
    assert Journal(scene.harness.store.rows[scene.player.id].quests).open[CRABS].done == (1,)


def test_things_are_stored_although_saves_of_their_player_raise(
    scene: QuestScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_values: Any) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(scene.harness.world.saves.saver, "save_state", fails)
    scene.kill(901)
    assert not scene.player.holdings.has_unsaved
    assert scene.player.unsaved.kinds
    monkeypatch.undo()
    scene.harness.run(60.0)
    row = scene.harness.store.rows[scene.player.id]
    assert Journal(row.quests).open[CRABS].counts == {1: 1}
