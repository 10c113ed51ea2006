"""Whatever players and a failing store do: things are stored as they are shown, each once.

The model knows how many things of each kind two players have. After each step that lets the store
answer, the records in the database equal the inventories, and the entries explain all things.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from emu.errors import StoreError
from emu.items.held import Where
from emu.items.inventory import Inventory
from emu.ledger import Outcome, Owner, OwnerKind, Reason
from emu.world.actors.player import Player
from emu.world.items.exchanges import Act, coins, things
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import player_of, scene

KINDS = [kinds.MARBLE, kinds.PEBBLE, kinds.PURSE, kinds.SWORD, kinds.CAP, kinds.CHARM]
SHOP = Owner(OwnerKind.MERCHANT, 7)
WHO = st.integers(0, 1)
PLACE = st.integers(-1, 12)


class Things(RuleBasedStateMachine):
    """Two players, a store that may fail, and a model of what each has."""

    def __init__(self) -> None:
        super().__init__()
        self.harness, first = scene(coins=1000)
        self.clients = [first, self.harness.stand(2, 1208, class_=1, coins=1000, admin_status=100)]
        self.model: list[Counter[int]] = [Counter(), Counter()]

    def player(self, who: int) -> Player:
        return player_of(self.clients[who])

    def counts(self, who: int) -> Counter[int]:
        found: Counter[int] = Counter()
        for one in self.player(who).holdings.inventory:
            found[one.item_id] += one.count
        return found

    @property
    def is_broken(self) -> bool:
        return bool(self.harness.store.broken)

    @rule(who=WHO, item=st.sampled_from(KINDS), count=st.integers(1, 25))
    def summon(self, who: int, item: int, count: int) -> None:
        count = count if item == kinds.PEBBLE else 1
        assert self.clients[who].types(f"/summonitem {item} {count}") == []
        self.model[who][item] += count

    @rule(
        who=WHO, place=PLACE, slot=PLACE, count=st.integers(0, 5),
        to=st.sampled_from([0, -3, -4, -2, 77]),
    )  # fmt: skip
    def move(self, who: int, place: int, slot: int, count: int, to: int) -> None:
        self.harness.parts.item_acts.has_bank = lambda _player: slot % 2 == 0
        self.clients[who].types(f"/inventory move {place} {slot} {to} {count}")

    @rule(who=WHO, act=st.sampled_from(["equip", "unequip", "unpack", "pop"]), place=PLACE)
    def wear(self, who: int, act: str, place: int) -> None:
        self.clients[who].types(f"/inventory {act} {place}")

    @rule(who=WHO, place=PLACE)
    def destroy(self, who: int, place: int) -> None:
        inventory = self.player(who).holdings.inventory
        number = self.player(who).session.items.number_at(place)
        thing = inventory.get(number) if number is not None else None
        gone = [thing, *inventory.inside(thing)] if thing is not None else []
        assert self.clients[who].types(f"/inventory destroy {place}") == []
        for one in gone:
            self.model[who][one.item_id] -= one.count

    @rule(who=WHO, item=st.sampled_from(KINDS), price=st.integers(0, 900))
    def buy(self, who: int, item: int, price: int) -> None:
        player, items = self.player(who), self.harness.parts.items
        kind = self.harness.kinds.get(item)
        assert kind is not None
        mine, before = Owner.character(player.id), player.character.coins

        def act() -> Act:
            player.holdings.inventory.add_things(kind, 1, items.new_number)
            return Act([coins(mine, SHOP, price), things(SHOP, mine, item, 1)])

        try:
            outcome = finish(items.exchange(Reason.BOUGHT, [player], act))
        except StoreError:
            assert self.is_broken
            return
        assert (outcome is Outcome.DONE) == (price <= before)
        self.model[who][item] += outcome is Outcome.DONE
        items.changed(player)

    @rule(giver=WHO, place=PLACE, price=st.integers(0, 900))
    def trade(self, giver: int, place: int, price: int) -> None:
        one, two = self.player(giver), self.player(1 - giver)
        number = one.session.items.number_at(place)
        thing = one.holdings.inventory.get(number) if number is not None else None
        if thing is None or thing.place.where is not Where.BAGS:
            return
        if one.holdings.inventory.inside(thing):
            return
        kind, items = one.holdings.inventory.kind(thing), self.harness.parts.items
        mine, other = Owner.character(one.id), Owner.character(two.id)

        def act() -> Act:
            one.holdings.inventory.use_up(thing, thing.count)
            two.holdings.inventory.accept(thing, kind)
            return Act([things(mine, other, kind.id, thing.count), coins(other, mine, price)])

        try:
            outcome = finish(items.exchange(Reason.TRADED, [one, two], act))
        except StoreError:
            assert self.is_broken
            return
        if outcome is Outcome.DONE:
            self.model[giver][kind.id] -= thing.count
            self.model[1 - giver][kind.id] += thing.count
        for player in (one, two):
            items.changed(player)

    @rule(is_broken=st.booleans())
    def fail(self, is_broken: bool) -> None:
        self.harness.store.broken = is_broken

    @precondition(lambda self: not self.is_broken)
    @rule(who=WHO)
    def come_back(self, who: int) -> None:
        self.harness.run(6.0)
        self.harness.departures.leave(self.player(who), "quit", self.harness.now)
        version = self.clients[who].dialect.version
        self.clients[who] = self.harness.stand(who + 1, version)

    @invariant()
    def everybody_has_what_the_model_has(self) -> None:
        for who in (0, 1):
            assert self.counts(who) == +self.model[who]
            inventory = self.player(who).holdings.inventory
            assert inventory.weight == Inventory(inventory, inventory._kinds).weight

    @precondition(lambda self: not self.is_broken)
    @invariant()
    def what_is_stored_is_what_is_shown(self) -> None:
        self.harness.run(6.0)  # what could not be stored before is stored now
        for who in (0, 1):
            player = self.player(who)
            assert not player.holdings.has_unsaved
            mine = Owner.character(player.id)
            account = Owner(OwnerKind.ACCOUNT, player.character.account_id)
            found = finish(self.harness.stored.things.of([mine, account]))
            stored = {one.id: one for several in found.values() for one in several}
            assert stored == {one.id: one for one in player.holdings.inventory}
        assert finish(self.harness.stored.ledger.audit()).wrong_things == ()


@pytest.mark.slow
def test_things_are_stored_as_they_are_shown() -> None:
    run_state_machine_as_test(Things)
