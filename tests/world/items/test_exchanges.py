"""What has changed of things is stored, and an act with another owner happens wholly or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from emu.errors import StoreError
from emu.items.held import Place, Thing, Where
from emu.ledger import Outcome, Owner, OwnerKind, Reason
from emu.world.items.exchanges import Act, coins, things
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import held, player_of, scene
from tests.support.world.worlds import WorldHarness

SHOP = Owner(OwnerKind.MERCHANT, 7)


def test_an_exchange_moves_coins_and_things_together() -> None:
    harness, client = scene(coins=100)
    player, items = player_of(client), harness.parts.items
    kind = harness.kinds.get(kinds.MARBLE)
    assert kind is not None

    def buys(price: int) -> Callable[[], Any]:
        def act() -> Any:
            inventory = player.holdings.inventory
            inventory.add_things(kind, 1, items.new_number)
            mine = Owner.character(player.id)
            return Act([coins(mine, SHOP, price), things(SHOP, mine, kind.id, 1)])

        return act

    assert finish(items.exchange(Reason.BOUGHT, [player], buys(60))) is Outcome.DONE
    items.changed(player)
    assert (held(client), player.character.coins) == ([(kinds.MARBLE, 0, 1)], 40)
    assert finish(items.exchange(Reason.BOUGHT, [player], buys(60))) is Outcome.TOO_FEW
    assert (held(client), player.character.coins) == ([(kinds.MARBLE, 0, 1)], 40)
    harness.store.broken = True
    with pytest.raises(StoreError):
        finish(items.exchange(Reason.BOUGHT, [player], buys(1)))
    harness.store.broken = False
    assert held(client) == [(kinds.MARBLE, 0, 1)]
    assert not player.holdings.gate.is_closed
    audit = finish(harness.stored.ledger.audit())
    assert (audit.things, audit.wrong_things) == (1, ())


def test_what_could_not_be_stored_is_stored_later() -> None:
    harness, client = scene()
    client.types(f"/summonitem {kinds.MARBLE}")
    harness.store.broken = True
    client.types("/inventory move 0 4 0 1")
    assert player_of(client).holdings.has_unsaved
    harness.store.broken = False
    harness.run(10.0)
    assert not player_of(client).holdings.has_unsaved
    owner = Owner.character(1)
    (thing,) = finish(harness.stored.things.of([owner]))[owner]
    assert thing.place.slot == 4


def test_an_account_has_stored_its_things_when_its_last_change_is_in_the_store() -> None:
    harness, client = scene()
    account_id = player_of(client).character.account_id
    client.types(f"/summonitem {kinds.MARBLE}")
    harness.store.broken = True
    client.types("/inventory move 0 4 0 1")
    harness.service.send_away(player_of(client), "for the test", harness.now)
    assert not harness.service.has_stored(account_id)
    assert harness.service.has_stored(account_id + 1)
    harness.store.broken = False
    harness.run(10.0)
    assert harness.service.has_stored(account_id)


@pytest.mark.parametrize("is_alone", [True, False])
def test_things_that_were_read_already_are_not_read_again(
    is_alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness, client = scene()
    owner = player_of(client)
    account = Owner(OwnerKind.ACCOUNT, owner.character.account_id)
    other = harness.character(2, account_id=account.number)
    if is_alone:
        harness.service.send_away(owner, "for the test", harness.now)
    mine = Thing(2000, kinds.MARBLE, Place(Where.BAGS, 0, 3))
    shared = Thing(2001, kinds.MARBLE, Place(Where.SHARED, 0, 1))

    async def of(_owners: Any) -> Any:
        raise AssertionError("they are read again")

    monkeypatch.setattr(harness.stored.things, "of", of)
    stored = {Owner.character(2): [mine], account: [shared]}
    holdings = finish(harness.service.load(other, 546, stored)).holdings
    # The character of the account that is in the world has the shared bank.
    assert {*holdings.inventory} == ({mine, shared} if is_alone else {mine})
    assert holdings.has_shared is is_alone


def test_two_characters_that_take_each_other_for_alone_double_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On two nodes, until each has heard of the entry at the other one."""
    harness, one = scene()
    first = player_of(one)
    one.types(f"/summonitem {kinds.MARBLE}")
    harness.parts.item_acts.has_bank = lambda _player: True
    one.types("/inventory move 0 0 -4 1")
    harness.run(1.0)
    monkeypatch.setattr(harness.world.processes.presence, "of_account", lambda _account: [])
    other = harness.stand(2, 546, admin_status=100, account_id=first.character.account_id)
    second = player_of(other)
    taken = [player.holdings.inventory.in_list(Where.SHARED) for player in (first, second)]
    assert [len(things) for things in taken] == [1, 1]
    for player in (first, second):
        (thing,) = player.holdings.inventory.in_list(Where.SHARED)
        harness.parts.items.use_up(player, thing, 1, Owner(OwnerKind.USE))
        harness.parts.items.changed(player)
        harness.run(1.0)
    account = Owner(OwnerKind.ACCOUNT, first.character.account_id)
    found = finish(harness.stored.ledger.of_owner(account, 9))
    assert [one.taker for one in found].count(OwnerKind.USE) == 1
    assert finish(harness.stored.ledger.audit()).wrong_things == ()
    # What it sees is not true: it has to come again.
    assert first.is_online
    assert not second.is_online


def test_who_comes_back_keeps_what_was_not_stored_when_it_left() -> None:
    """The process that lets it in again raises its term, and the store refuses earlier terms."""
    harness, client = scene()
    client.types(f"/summonitem {kinds.MARBLE}")
    harness.store.broken = True
    client.types("/inventory move 0 4 0 1")
    harness.service.send_away(player_of(client), "for the test", harness.now)
    harness.store.broken = False
    harness.claim(1)
    again = harness.enter(1)
    assert [thing.place.slot for thing in player_of(again).holdings.inventory] == [4]
    owner = Owner.character(1)
    (thing,) = finish(harness.stored.things.of([owner]))[owner]
    assert thing.place.slot == 4


def lets_in_again(harness: WorldHarness, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """Let this process claim the character once while a movement is on its way to the store."""
    ledger = harness.parts.items.ledger
    carry_out, calls = getattr(ledger, call), list[int]()

    async def late(*values: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            harness.claim(1)
        return await carry_out(*values)

    monkeypatch.setattr(ledger, call, late)


def test_who_comes_back_while_things_are_stored_stays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    harness, client = scene()
    client.types(f"/summonitem {kinds.PEBBLE} 3")
    harness.run(1.0)
    lets_in_again(harness, monkeypatch, "store_later")
    client.types(f"/summonitem {kinds.MARBLE}")
    harness.run(1.0)
    assert not client.is_closed
    assert not player_of(client).holdings.has_unsaved
    assert len(harness.stored.store.world.things.of([Owner.character(1)])[Owner.character(1)]) == 2


def test_who_comes_back_during_an_exchange_gets_the_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    harness, client = scene()
    player, items = player_of(client), harness.parts.items
    lets_in_again(harness, monkeypatch, "settle")

    def act() -> Act:
        kind = items.kinds.get(kinds.PEBBLE)
        assert kind is not None
        items.make(player, kind, 2, SHOP)
        return Act(())

    outcome = finish(items.exchange(Reason.BOUGHT, [player], act))
    assert outcome is Outcome.DONE
    assert not client.is_closed
    assert held(client) == [(kinds.PEBBLE, 0, 2)]


def test_what_is_gone_is_gone_from_the_store() -> None:
    harness, client = scene()
    client.types(f"/summonitem {kinds.MARBLE}")
    harness.run(2.0)
    owner, player = Owner.character(1), player_of(client)
    (thing,) = finish(harness.stored.things.of([owner]))[owner]
    player.holdings.inventory.use_up(thing, thing.count)
    harness.parts.items.changed(player)
    harness.run(2.0)
    assert not finish(harness.stored.things.of([owner])).get(owner)
