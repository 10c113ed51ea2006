"""The ledger of a world: lost answers, balances in any succession, and movements to be finished."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import StoreAway, StoreError
from emu.ledger import Balance, Movement, Outcome, Owner, OwnerKind, Part, Reason
from emu.processes.ports import CAME, LOST
from emu.world.ledger.ledger import CHANGED, MOST_REMEMBERED
from tests.support.coroutines import finish
from tests.support.world.worlds import WorldHarness

WAY = Owner(OwnerKind.TRANSPORTER, 51)
AWAY = StoreAway("the connection was lost")


class LossyStore:
    """A ledger's store whose answers are lost, before or after it has done its work."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.before = 0
        """Calls that do nothing and fail."""
        self.after = 0
        """Calls that fail after their work."""
        self.surely = 0
        """Calls of `move_surely` that fail."""
        self.calls: list[str] = []

    async def move(self, *values: Any) -> Any:
        self.calls.append("move")
        if self.before:
            self.before -= 1
            raise AWAY
        moved = await self._store.move(*values)
        if self.after:
            self.after -= 1
            raise AWAY
        return moved

    async def move_later(self, *values: Any) -> Any:
        return await self.move(*values)

    async def move_surely(self, *values: Any) -> Any:
        self.calls.append("move_surely")
        if self.surely:
            self.surely -= 1
            raise StoreError("the disk is full")
        return await self._store.move(*values)

    async def prune(self, *values: Any) -> Any:
        return await self._store.prune(*values)

    async def in_bank(self, *values: Any) -> Any:
        return await self._store.in_bank(*values)

    async def bar(self, *values: Any) -> Any:
        self.calls.append("bar")
        return await self._store.bar(*values)


class Scene:
    """A player with 100 copper, and a store that loses answers."""

    def __init__(self) -> None:
        self.harness = WorldHarness()
        self.one = self.harness.stand(5, name="Aldana", coins=100)
        self.ledger = self.harness.ledger
        self.store = LossyStore(self.harness.stored.ledger)
        self.ledger._store = self.store
        self.late: list[str] = []

    def price(self, coins: int = 30) -> Movement:
        part = Part(Owner.character(5), WAY, coins)
        return self.ledger.movement(Reason.TRAVEL, [part], [self.one.player.character.account_id])

    def pay(self, movement: Movement) -> Any:
        return finish(self.ledger.move(movement, late=lambda: self.late.append("done")))

    @property
    def coins(self) -> tuple[int, int]:
        """What the store and the player in the world have."""
        return self.harness.store.rows[5].coins, self.one.player.character.coins


@pytest.fixture
def scene() -> Scene:
    return Scene()


def shown(scene: Scene) -> int:
    """Return how many sheets the client was sent when what is due now is done."""
    scene.harness.run(0.1)
    client = scene.one
    return sum(name == "OP_UpdateCharacterSheetMsg" for name, _ in client.log)


def test_a_movement_is_shown_to_its_players(scene: Scene) -> None:
    before = shown(scene)
    assert scene.pay(scene.price()).is_done
    assert scene.coins == (70, 70)
    assert shown(scene) == before + 1


def test_a_refused_movement_brings_the_balance_of_the_store(scene: Scene) -> None:
    row = scene.harness.store.rows[5]
    # A letter has taken the coins elsewhere, and the world does not know it yet.
    scene.harness.store.rows[5] = replace(row, coins=20, ledger_revision=4)
    assert scene.pay(scene.price()).outcome is Outcome.TOO_FEW
    assert scene.coins == (20, 20)


@pytest.mark.parametrize("is_done", [False, True], ids=["not done", "done"])
def test_a_lost_answer_is_asked_for_again_and_paid_once(scene: Scene, is_done: bool) -> None:
    scene.store.before, scene.store.after = int(not is_done), int(is_done)
    assert scene.pay(scene.price()).is_done
    assert scene.coins == (70, 70)
    assert (scene.store.calls, scene.late) == (["move", "move"], [])


def test_a_movement_that_was_not_done_while_the_database_was_away_never_is(scene: Scene) -> None:
    price = scene.price()
    scene.store.before = 2
    with pytest.raises(StoreAway):
        scene.pay(price)
    assert (scene.store.calls[-1], scene.late) == ("bar", [])
    # The first request has been on its way for long.
    assert finish(scene.harness.stored.ledger.move(price, 1.0)).outcome is Outcome.BARRED
    assert scene.coins == (100, 100)


def test_a_movement_that_was_done_after_all_is_reported_late(scene: Scene) -> None:
    price = scene.price()
    scene.store.after = 2
    with pytest.raises(StoreAway):
        scene.pay(price)
    assert scene.late == ["done"]
    assert scene.coins == (70, 70)
    scene.ledger.undo(price)
    scene.ledger.undo(price)
    assert scene.coins == (100, 100), "it is given back once"


def test_another_error_is_no_lost_answer(scene: Scene) -> None:
    scene.harness.store.broken = True
    with pytest.raises(StoreError):
        scene.pay(scene.price())
    assert scene.store.calls == ["move"]


def test_what_must_be_finished_is_tried_again_when_the_store_answers(scene: Scene) -> None:
    price = scene.price()
    scene.pay(price)
    scene.store.surely = 1
    scene.ledger.undo(price)
    assert scene.coins == (70, 70)
    assert scene.harness.world.faults.drops["movement not finished"] == 1
    scene.pay(scene.price(1))
    assert scene.coins == (99, 99)
    assert scene.store.calls.count("move_surely") == 2


def test_a_movement_of_unknown_outcome_is_counted(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_values: object) -> None:
        raise StoreError("the server stops")

    monkeypatch.setattr(scene.store, "bar", fails)
    scene.store.before = 2
    with pytest.raises(StoreAway):
        scene.pay(scene.price())
    assert scene.harness.world.faults.drops["movement of unknown outcome"] == 1


def test_an_older_balance_never_replaces_a_newer_one(scene: Scene) -> None:
    """A share of the group and a letter can end together: their answers come in any succession."""
    before = shown(scene)
    scene.ledger.learn([Balance(5, 250, 9)])
    scene.ledger.learn([Balance(5, 180, 8)])
    assert scene.one.player.character.coins == 250
    assert shown(scene) == before + 1
    scene.ledger.learn([Balance(5, 180, 10)])
    assert scene.one.player.character.coins == 180


def test_a_row_that_was_read_before_a_movement_leaves_its_coins(scene: Scene) -> None:
    old = replace(scene.one.player.character, admin_status=10)
    scene.pay(scene.price())
    scene.harness.account_changes.refresh(scene.one.player, old)
    assert scene.one.player.character.admin_status == 10
    assert scene.coins == (70, 70)
    fresh = replace(old, coins=300, ledger_revision=7)
    scene.harness.account_changes.refresh(scene.one.player, fresh)
    assert scene.one.player.character.coins == 300


def test_answers_in_the_other_succession_leave_the_newest_coins(scene: Scene) -> None:
    waiting: list[Coroutine[Any, Any, Any]] = []
    first = finish(scene.harness.stored.ledger.move(scene.price(30), 1.0))
    second = finish(scene.harness.stored.ledger.move(scene.price(5), 1.0))
    for moved in (second, first):
        scene.ledger.learn(moved.balances)
    assert (scene.coins, waiting) == ((65, 65), [])


def test_a_player_of_another_node_is_shown_its_balance() -> None:
    here = WorldHarness()
    there = WorldHarness(beside=here)
    far = there.stand(6, name="Borvik", coins=100)
    gift = Part(Owner(OwnerKind.GAME_MASTER, 1), Owner.character(6), 11)
    movement = here.ledger.movement(Reason.COMMAND, [gift], [106])
    assert finish(here.ledger.move(movement)).is_done
    assert far.player.character.coins == 111
    # A note that comes late has no effect.
    here.bus.publish(CHANGED, {"char_id": 6, "coins": 1, "revision": 0})
    assert far.player.character.coins == 111


@pytest.mark.parametrize("topic", [CAME, LOST])
def test_balances_are_read_anew_when_notes_about_them_may_be_lost(scene: Scene, topic: str) -> None:
    row = scene.harness.store.rows[5]
    # Another node has moved coins, and its note about it has not come.
    scene.harness.store.rows[5] = replace(row, coins=300, ledger_revision=4)
    assert scene.coins == (300, 100)
    scene.harness.store.broken = True
    scene.harness.bus.publish(topic, {"process": "west"})
    assert scene.coins == (300, 100)
    scene.harness.store.broken = False
    scene.harness.bus.publish(topic, {"process": "west"})
    assert scene.coins == (300, 300)


@pytest.mark.parametrize("is_beside", [False, True])
def test_a_movement_after_the_row_of_an_entry_was_read_counts(is_beside: bool) -> None:
    """A simulation has found it: a game master gives coins to whoever logs in just then."""
    here = WorldHarness()
    mover = WorldHarness(beside=here) if is_beside else here
    here.stand(5, name="Aldana", coins=100)
    here.exist("Borvik")
    read = here.store.rows[1000]
    gift = Part(Owner(OwnerKind.GAME_MASTER, 1), Owner.character(1000), 11)
    assert finish(mover.ledger.move(mover.ledger.movement(Reason.COMMAND, [gift], [2000]))).is_done
    stored = mover.store.rows[1000]
    assert (read.coins, stored.coins) == (0, 11)
    here.store.rows[1000] = read
    entered = here.stand(1000).player.character
    assert (entered.coins, entered.ledger_revision) == (11, stored.ledger_revision)


def test_balances_of_those_who_are_nowhere_are_forgotten_in_time() -> None:
    here = WorldHarness()
    most = MOST_REMEMBERED
    for number in range(1000, 1003 + most):
        here.ledger.learn([Balance(number, 7, 2), Balance(number, 5, 1)])
    first, last = (here.stand(one, name=f"Aldana{one}") for one in (1000, 1002 + most))
    assert (first.player.character.coins, last.player.character.coins) == (0, 7)


def test_a_character_that_is_nowhere_in_the_world_has_its_coins_stored(scene: Scene) -> None:
    scene.harness.exist("Dagny")
    gift = Part(Owner(OwnerKind.SCRIPT), Owner.character(1000), 7)
    assert scene.pay(scene.ledger.movement(Reason.COMMAND, [gift], [2000])).is_done
    assert scene.harness.store.rows[1000].coins == 7


def test_old_entries_are_removed_by_the_settings(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[float, int, float]] = []

    async def prune(*values: Any) -> int:
        asked.append(values)
        return len(asked) < 3

    monkeypatch.setattr(scene.store, "prune", prune)
    scene.harness.world.rules = replace(
        scene.harness.world.rules, ledger_days=2.0, ledger_entries=50
    )
    finish(scene.ledger.prune())
    moment = scene.harness.moment
    assert asked == [(moment - 2 * 86_400, 50, moment)] * 3, "until nothing is left to remove"

    async def fails(*_values: Any) -> int:
        raise StoreError("the disk is full")

    monkeypatch.setattr(scene.store, "prune", fails)
    finish(scene.ledger.prune())
    assert scene.harness.world.faults.drops["old entries of the ledger not removed"] == 1


STEPS = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from(["", "before", "after"]), st.integers(1, 3)),
    max_size=12,
)


@pytest.mark.slow
@given(steps=STEPS)
def test_whatever_answers_are_lost_a_price_is_paid_once_or_not_at_all(
    steps: list[tuple[int, str, int]],
) -> None:
    """A payment that fails for the player, and turns out to be done, is given back."""
    scene = Scene()
    left = 100
    for coins, fault, times in steps:
        price = scene.price(coins)
        scene.store.before = scene.store.after = 0
        if fault:
            setattr(scene.store, fault, times)
        try:
            moved = finish(scene.ledger.move(price, late=partial(scene.ledger.undo, price)))
        except StoreAway:
            assert times >= 2
        else:
            assert moved.is_done == (coins <= left)
            left -= coins * moved.is_done
        assert scene.coins == (left, left)
    audit = scene.harness.stored.store.world.ledger.audit() if steps else None
    assert audit is None or audit.held == left
