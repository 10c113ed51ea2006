"""What scripts and behaviors give and take, also while the player is in an exchange."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from twisted.internet.defer import Deferred, ensureDeferred

from emu.errors import StoreAway
from emu.houses import Deal, Dealt, Price
from emu.items.held import Where
from emu.ledger import MOST_COINS, Owner, OwnerKind, Reason
from emu.world.actors.player import Player
from emu.world.housing.payments import Bill, Payments
from emu.world.items.gifts import Gifts
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import held, player_of, scene
from tests.support.world.trade_scenes import TradeScene


def test_what_is_given_during_an_exchange_comes_afterwards() -> None:
    harness, client = scene()
    player, gifts = player_of(client), Gifts(harness.parts.items, Counter())
    gifts.give(player, kinds.PEBBLE, 4)
    finish(player.holdings.gate.pass_through())
    harness.start = ensureDeferred
    assert gifts.give(player, kinds.MARBLE)
    assert not gifts.take_things(player, kinds.PEBBLE)
    assert held(client) == [(kinds.PEBBLE, 0, 4)]
    player.holdings.gate.leave()
    assert held(client) == [(kinds.PEBBLE, 0, 4), (kinds.MARBLE, 1, 1)]
    assert gifts.take_things(player, kinds.PEBBLE)
    assert not player.holdings.gate.is_closed


def test_too_many_waiting_gifts_are_counted() -> None:
    harness, client = scene()
    counters = Counter[str]()
    player, gifts = player_of(client), Gifts(harness.parts.items, counters)
    finish(player.holdings.gate.pass_through())
    harness.start = ensureDeferred
    for _ in range(25):
        gifts.give(player, kinds.MARBLE)
    player.holdings.gate.leave()
    assert counters["things not given: too many acts wait"] == 5
    assert player.holdings.inventory.count_of(kinds.MARBLE) == 20


def test_the_bank_is_looked_into_when_asked() -> None:
    harness, client = scene()
    player, gifts = player_of(client), Gifts(harness.parts.items, Counter())
    assert gifts.give(player, kinds.MARBLE, in_bank=True)
    assert held(client, Where.BANK) == [(kinds.MARBLE, 0, 1)]
    assert not gifts.has(player, kinds.MARBLE)
    assert gifts.has(player, kinds.MARBLE, banked=True)


def test_many_things_for_the_bank_are_many_stacks() -> None:
    """One stack of all would be larger than any other, and changes hands as many."""
    harness, client = scene()
    player, gifts = player_of(client), Gifts(harness.parts.items, Counter())
    assert gifts.give(player, kinds.MARBLE, 3, in_bank=True)
    assert held(client, Where.BANK) == [
        (kinds.MARBLE, 0, 1),
        (kinds.MARBLE, 1, 1),
        (kinds.MARBLE, 2, 1),
    ]
    assert not gifts.give(player, kinds.MARBLE, 100, in_bank=True), "there are too few places"
    assert len(held(client, Where.BANK)) == 3


def test_what_a_player_may_have_once_comes_once_into_the_bank() -> None:
    harness, client = scene()
    counters = Counter[str]()
    player, gifts = player_of(client), Gifts(harness.parts.items, counters)
    finish(player.holdings.gate.pass_through())
    harness.start = ensureDeferred
    assert gifts.give(player, kinds.SEAL, in_bank=True)
    assert gifts.give(player, kinds.SEAL, in_bank=True), "both wait for the exchange"
    player.holdings.gate.leave()
    assert held(client, Where.BANK) == [(kinds.SEAL, 0, 1)]
    assert counters["things not given: no place, or lore"] == 1


class SlowStore:
    """A player whose movements of coins wait until `answer` is called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, coins: int) -> None:
        harness, client = scene(coins=coins)
        self.player: Player = player_of(client)
        self.counters = Counter[str]()
        self.gifts = Gifts(harness.parts.items, self.counters)
        ledger, settle = harness.parts.items.ledger, harness.parts.items.ledger.settle
        self.asked: list[int] = []
        self._waiting: list[Deferred[None]] = []

        async def slow(movement: Any) -> Any:
            part = movement.parts[0]
            self.asked.append(part.amount if part.taker.number else -part.amount)
            answer: Deferred[None] = Deferred()
            self._waiting.append(answer)
            await answer
            return await settle(movement)

        monkeypatch.setattr(ledger, "settle", slow)
        harness.start = ensureDeferred

    def answer(self) -> None:
        self._waiting.pop(0).callback(None)


def test_coins_are_taken_once_while_the_store_has_not_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever hails twice in one turn pays twice, or not at all."""
    slow = SlowStore(monkeypatch, coins=60)
    assert slow.gifts.take_coins(slow.player, 50)
    assert not slow.gifts.take_coins(slow.player, 50)
    assert slow.gifts.coins(slow.player) == 10
    assert slow.gifts.take_coins(slow.player, 10)
    slow.answer()
    assert (slow.player.character.coins, slow.gifts.coins(slow.player)) == (10, 0)
    slow.answer()
    assert (slow.player.character.coins, slow.gifts.coins(slow.player)) == (0, 0)
    assert not slow.counters


def test_coins_of_one_player_have_one_movement_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each movement is a transaction, and a script can ask for hundreds in one call."""
    slow = SlowStore(monkeypatch, coins=5)
    for _ in range(1000):
        slow.gifts.give_coins(slow.player, 7)
    assert slow.gifts.take_coins(slow.player, 3000)
    assert slow.asked == [7]
    slow.answer()
    assert slow.asked == [7, 999 * 7 - 3000]
    slow.answer()
    assert slow.player.character.coins == 5 + 7000 - 3000
    assert slow.asked == [7, 999 * 7 - 3000]


def test_more_coins_than_one_can_have_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowStore(monkeypatch, coins=5)
    slow.gifts.give_coins(slow.player, 2**63 - 1)
    slow.answer()
    assert slow.player.character.coins == MOST_COINS
    slow.gifts.give_coins(slow.player, 1)
    assert (slow.asked, slow.gifts.coins(slow.player)) == ([MOST_COINS - 5], MOST_COINS)
    assert not slow.gifts.take_coins(slow.player, MOST_COINS + 1)
    assert not slow.counters


def test_coins_wait_for_a_database_that_is_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a quest gives was lost with the first failure, and what it takes stayed."""
    harness, client = scene(coins=60)
    player, gifts = player_of(client), Gifts(harness.parts.items, Counter())

    async def locked(*_about: Any) -> Any:
        raise StoreAway("the database is locked")

    # The calls that are not repeated while the database is locked.
    monkeypatch.setattr(harness.parts.items.ledger._store, "move", locked)
    gifts.give_coins(player, 50)
    assert gifts.take_coins(player, 10)
    assert player.character.coins == 100


def test_coins_are_not_taken_during_an_exchange() -> None:
    harness, client = scene(coins=60)
    player, gifts = player_of(client), Gifts(harness.parts.items, Counter())
    finish(player.holdings.gate.pass_through())
    assert not gifts.take_coins(player, 50)
    player.holdings.gate.leave()
    assert gifts.take_coins(player, 50)


@pytest.mark.parametrize("how", ["bank", "letter", "house"])
def test_a_script_takes_no_coins_that_the_player_spends(
    monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The store is asked for a deposit while the player answers a merchant of a script."""
    trade = TradeScene(coins=100, admin_status=0)
    trade.enter(2)
    player, gifts = player_of(trade.one), Gifts(trade.harness.parts.items, Counter())
    ledger, taken = trade.harness.ledger, list[tuple[int, bool]]()

    def slow(call: Any) -> Any:
        async def asked(*values: Any) -> Any:
            taken.append((gifts.coins(player), gifts.take_coins(player, 50)))
            return await call(*values)

        return asked

    if how == "bank":
        trade.banker()
        trade.one.types("/bank")
        monkeypatch.setattr(ledger._store, "move", slow(ledger._store.move))
        trade.one.types("/bank_deposit 90")
        monkeypatch.undo()
        left = 10
    elif how == "letter":
        store = trade.harness.parts.mail._store
        trade.one.types("/start_mail")
        trade.one.types("/add_mail_copper 60")
        monkeypatch.setattr(store, "send", slow(store.send))
        trade.one.types("/mail send Name2 Hello / A gift.")
        monkeypatch.undo()
        left = 30
    else:
        bill = Bill(Reason.UPKEEP, Owner(OwnerKind.HOUSING, 3), 7, Price(80, 0), 0)

        async def refuses(_payment: Any) -> Dealt:
            return Dealt(Deal.TOO_FEW_COINS)

        payments = Payments(trade.harness.world, ledger)
        finish(payments.pay(player, bill, slow(refuses)))
        left = 20
    assert taken == [(left, False)]
    assert player.holdings.coins_leaving == 0
    assert gifts.coins(player) == player.character.coins
