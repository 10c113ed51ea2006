"""A merchant, a bank and a trade of players beside each other."""

from __future__ import annotations

from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import TradeScene, coins_of, held, player_of


def test_what_is_offered_to_a_player_is_not_sold_banked_or_destroyed() -> None:
    scene = TradeScene()
    two = scene.enter(2)
    scene.harness.run(1.0)
    scene.one.types(f"/summonitem {kinds.SWORD}")
    scene.one.types(f"/start_trade {player_of(scene.one).index_of(player_of(two).spawn)}")
    scene.one.types("/add_trade_item 0 0 1")
    scene.merchant()
    scene.one.types("/frommerchant")
    assert scene.one.types(f"/sell_to_merchant {kinds.SWORD} 1") == [
        "You cannot sell the item in use."
    ]
    scene.banker()
    scene.one.types("/bank")
    assert scene.one.types("/inventory move 0 0 -3 0") == ["You cannot move the item in use."]
    assert scene.one.types("/inventory destroy 0") == ["You cannot destroy the item in use."]
    assert (held(scene.one), coins_of(scene.one)) == ([(kinds.SWORD, 1)], 0)
