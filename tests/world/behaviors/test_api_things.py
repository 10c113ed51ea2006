"""What behaviors do with the things and coins of players, and the hooks about things.

Every movement has its entry in the ledger, which the auditor of the harness adds up.
"""

from __future__ import annotations

from typing import Any

import pytest

from emu.items.held import Where
from emu.world.actors.spawn import Spawn
from emu.world.behaviors import Visitor
from emu.world.behaviors.api import MOST_COPPER
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import TradeScene, coins_of, held, player_of


class Watcher:
    """A behavior that writes down what happens to things."""

    def __init__(self, _me: Any, options: Any) -> None:
        self.log, self.result = options["log"], options.get("result")

    def on_loot(self, visitor: Any, item: int, count: int) -> None:
        self.log.append(("loot", visitor.name, item, count))

    def on_trade(self, visitor: Any, item: int, count: int) -> None:
        self.log.append(("trade", visitor.name, item, count))

    def on_use(self, visitor: Any, item: int) -> Any:
        self.log.append(("use", visitor.name, item))
        return self.result


def visitor_of(scene: TradeScene) -> Visitor:
    return Visitor(player_of(scene.one), scene.harness.behaviors.context)


def watch(scene: TradeScene, spawn: Spawn | None, **options: Any) -> list[tuple[Any, ...]]:
    log: list[tuple[Any, ...]] = []
    scene.harness.library._classes["watcher"] = Watcher
    zone = player_of(scene.one).zone
    assert scene.harness.behaviors.start_behavior("watcher", {"log": log, **options}, zone, spawn)
    return log


def test_things_are_given_and_taken() -> None:
    scene = TradeScene()
    visitor = visitor_of(scene)
    assert not visitor.has(kinds.PEBBLE)
    assert visitor.give(kinds.PEBBLE, 5)
    assert (visitor.has(kinds.PEBBLE, 5), visitor.has(kinds.PEBBLE, 6)) == (True, False)
    assert not visitor.take(kinds.PEBBLE, 6)
    assert visitor.take(kinds.PEBBLE, 2)
    assert held(scene.one) == [(kinds.PEBBLE, 3)]
    assert not visitor.give(77)
    assert visitor.give(kinds.SEAL)
    assert not visitor.give(kinds.SEAL)  # nobody may have two
    scene.harness.run(1.0)
    assert scene.is_right()


def test_worn_things_count_and_stay() -> None:
    scene = TradeScene()
    visitor = visitor_of(scene)
    visitor.give(kinds.CAP)
    scene.one.types("/inventory equip 0")
    assert visitor.has(kinds.CAP)
    assert not visitor.take(kinds.CAP)
    assert held(scene.one, Where.WORN) == [(kinds.CAP, 1)]


def test_coins_are_given_and_taken() -> None:
    scene = TradeScene()
    visitor = visitor_of(scene)
    assert visitor.coin(250)
    assert not visitor.coin(-251)
    assert visitor.coin(-50)
    assert coins_of(scene.one) == 200
    assert scene.is_right()


@pytest.mark.parametrize("values", [(-1, 1), (2**31, 1), (kinds.PEBBLE, 0), (kinds.PEBBLE, 10_001)])
def test_numbers_that_no_thing_has_are_refused(values: tuple[int, int]) -> None:
    scene = TradeScene()
    visitor = visitor_of(scene)
    for act in (visitor.has, visitor.give, visitor.take):
        with pytest.raises(ValueError, match=r".+"):
            act(*values)
    with pytest.raises(ValueError, match=r".+"):
        visitor.coin(MOST_COPPER + 1)
    assert held(scene.one) == []


def test_an_absent_player_gets_nothing() -> None:
    scene = TradeScene()
    visitor, player = visitor_of(scene), player_of(scene.one)
    scene.harness.departures.leave(player, "quit", scene.harness.now)
    assert (visitor.give(kinds.PEBBLE), visitor.coin(5)) == (False, False)
    assert list(player.holdings.inventory) == []


def test_a_body_and_its_zone_are_called_for_loot() -> None:
    scene = TradeScene()
    foe = scene.foe("a sand crab", (kinds.PEBBLE, 4))
    own, zone = watch(scene, foe), watch(scene, None)
    scene.one.types("/kill")
    scene.harness.run(1.0)
    scene.one.types("/loot")
    scene.asks(scene.one, foe)
    assert own == zone == [("loot", "Name1", kinds.PEBBLE, 4)]


def test_a_merchant_and_its_zone_are_called_for_trades() -> None:
    scene = TradeScene(coins=500)
    merchant = scene.merchant()
    own, zone = watch(scene, merchant), watch(scene, None)
    scene.one.types("/frommerchant")
    scene.one.types(f"/buy_from_merchant {kinds.PEBBLE} 3")
    scene.one.types(f"/sell_to_merchant {kinds.PEBBLE} 2")
    scene.one.types(f"/buyback_from_merchant {kinds.PEBBLE} 2")
    assert own == zone == [("trade", "Name1", kinds.PEBBLE, one) for one in (3, -2, 2)]


def test_a_zone_is_called_for_trades_of_players() -> None:
    scene = TradeScene()
    two = scene.enter(2)
    scene.harness.run(1.0)
    zone = watch(scene, None)
    scene.one.types(f"/summonitem {kinds.PEBBLE} 3")
    index = player_of(scene.one).index_of(player_of(two).spawn)
    scene.one.types(f"/start_trade {index}")
    scene.one.types("/add_trade_item 0 0 2")
    scene.one.types("/accept_trade")
    two.types("/accept_trade")
    assert zone == [("trade", "Name1", kinds.PEBBLE, -2), ("trade", "Name2", kinds.PEBBLE, 2)]


@pytest.mark.parametrize(("result", "left"), [(True, 2), (None, 3), (False, 3), (1, 3)])
def test_a_use_takes_a_charge_if_a_behavior_says_that_it_did_something(
    result: object, left: int
) -> None:
    scene = TradeScene()
    target = scene.stands("Old Shrine", "pray", scene.banker().look.dealing)
    own, other = watch(scene, target, result=result), watch(scene, scene.banker())
    scene.targets(scene.one, target)
    scene.one.types(f"/summonitem {kinds.CHARM}")
    scene.one.types("/use_item 256")
    assert (own, other) == ([("use", "Name1", kinds.CHARM)], [])
    assert held(scene.one) == [(kinds.CHARM, left)]
