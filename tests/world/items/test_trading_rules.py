"""The checks R20 to R29, R34, R35, R37 and R38: merchants, banks, menders, loot and trades.

Source: ../shared/spec/eq2-items.md 18; texts and numbers are those of
../shared/data/recordings/items-*-deal. F are those which EQ2Emulator fails.
"""

from __future__ import annotations

from typing import Any

import pytest

from emu.items.held import Where
from emu.versions import LAST_OLD_CLIENT
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import VERSIONS, TradeScene, coins_of, held, makes, player_of
from tests.support.world.worlds import Client

ALL = pytest.mark.parametrize("version", VERSIONS)


# -- merchants, bank ------------------------------------------------------------------------------


@ALL
def test_r20_a_merchant_shows_its_list(version: int) -> None:
    scene = TradeScene(version)
    scene.merchant()
    scene.one.types("/frommerchant")
    lists = {one["type"] & 0x7F: one for one in scene.one.decoded("WS_UpdateMerchant")}
    rows = lists[0 if version == 546 else 2]["item_array"]
    assert [(row["item_id"], row["price"]) for row in rows][:2] == [
        (kinds.SWORD, 110), (kinds.PEBBLE, 3),
    ]  # fmt: skip


@ALL
def test_r21_a_purchase_takes_coins(version: int) -> None:
    scene = TradeScene(version, coins=200)
    scene.merchant()
    scene.one.types("/frommerchant")
    (text,) = scene.one.types(f"/buy_from_merchant {kinds.SWORD} 1")
    assert text.endswith("from Quartermaster Odell for 1 Silver 10 Copper.")
    assert (coins_of(scene.one), held(scene.one)) == (90, [(kinds.SWORD, 1)])


@ALL
def test_r22_a_sale_gives_coins(version: int) -> None:
    scene = TradeScene(version)
    makes(scene.one, kinds.CAP)
    scene.merchant()
    scene.one.types("/frommerchant")
    (text,) = scene.one.types(f"/sell_to_merchant {kinds.CAP} 1")
    assert text.endswith("to Quartermaster Odell for 70 Copper.")
    assert (coins_of(scene.one), held(scene.one)) == (70, [])


@ALL
def test_r23_what_cannot_be_bought_or_sold_is_refused(version: int) -> None:
    scene = TradeScene(version, coins=5)
    makes(scene.one, kinds.QUILL)
    scene.merchant()
    scene.one.types("/frommerchant")
    (text,) = scene.one.types(f"/buy_from_merchant {kinds.SWORD} 1")
    assert text.startswith("You do not have enough coin to purchase ")
    assert scene.one.types(f"/sell_to_merchant {kinds.QUILL} 1") == ["This item has no value."]
    # It has only two rings.
    scene = TradeScene(version, coins=900)
    scene.merchant()
    scene.one.types("/frommerchant")
    for _ in range(3):
        scene.one.types(f"/buy_from_merchant {kinds.RING} 1")
    assert held(scene.one) == [(kinds.RING, 1)] * 2


@ALL
def test_r24_a_bank_keeps_coins_and_things(version: int) -> None:
    scene = TradeScene(version, coins=100)
    makes(scene.one, kinds.MARBLE)
    scene.banker()
    scene.one.types("/bank")
    assert scene.one.decoded("WS_UpdateBank")[-1]["bank_coins"] == 0
    (text,) = scene.one.types("/bank_deposit 30")
    assert text.startswith("30 Copper deposited")
    scene.one.types("/inventory move 0 0 -3 1")
    assert (coins_of(scene.one), held(scene.one, Where.BANK)) == (70, [(kinds.MARBLE, 1)])
    scene.one.types("/bank_withdraw 30")
    assert coins_of(scene.one) == 100


# -- loot, trade ----------------------------------------------------------------------------------


@ALL
def test_r25_a_corpse_gives_coins_and_things_with_texts(version: int) -> None:
    scene = TradeScene(version)
    body = scene.kill("a straw brigand", (kinds.MARBLE, 1), coins=21)
    assert scene.one.types("/loot") == ["You loot 21 Copper from the corpse of a straw brigand"]
    (text,) = scene.asks(scene.one, body)
    assert text.endswith("from the corpse of a straw brigand")
    assert (coins_of(scene.one), held(scene.one)) == (21, [(kinds.MARBLE, 1)])


@ALL
def test_r26_a_chest_is_closed_to_others(version: int) -> None:
    scene = TradeScene(version)
    two = scene.enter(2, version)
    scene.kill("a straw captain", (kinds.CAP, 1))
    scene.targets(two, scene.chest())
    assert two.types("/loot") == ["You are not allowed to loot at this time."]
    scene.targets(scene.one, scene.chest())
    scene.one.types("/loot")
    assert len(scene.asks(scene.one, scene.chest())) == 1
    assert (held(scene.one), held(two)) == ([(kinds.CAP, 1)], [])


def trading(version: int, **values: Any) -> tuple[TradeScene, Client]:
    """Return two players with a window of trade; the first offers a sword for the other's coins."""
    scene = TradeScene(version, coins=50, **values)
    two = scene.enter(2, version, coins=50)
    scene.harness.run(1.0)
    makes(scene.one, kinds.SWORD)
    index = player_of(scene.one).index_of(player_of(two).spawn)
    scene.one.types(f"/start_trade {index}")
    scene.one.types("/add_trade_item 0 0 1")
    two.types("/add_trade_copper 20")
    return scene, two


@ALL
def test_r27_a_trade_is_done_when_both_accept(version: int) -> None:
    scene, two = trading(version)
    scene.one.types("/accept_trade")
    assert held(two) == []
    two.types("/accept_trade")
    assert (held(scene.one), held(two)) == ([], [(kinds.SWORD, 1)])
    assert (coins_of(scene.one), coins_of(two)) == (70, 30)
    assert scene.is_right()


@ALL
def test_r28_a_trade_is_refused_or_cancelled(version: int) -> None:
    scene, two = trading(version)
    index = player_of(two).index_of(player_of(scene.one).spawn)
    assert two.types(f"/start_trade {index}") == ["You are already trading."]
    makes(scene.one, kinds.TOKEN)
    assert scene.one.types("/add_trade_item 1 1 1") == ["You can't trade NO-TRADE items."]
    two.types("/cancel_trade")
    assert scene.one.types("/accept_trade") == ["You are not currently trading."]
    assert (held(two), coins_of(two)) == ([], 50)


@ALL
def test_r29_what_is_accepted_cannot_be_changed(version: int) -> None:
    """F: the other side could take its offer back after the acceptance."""
    scene, two = trading(version)
    scene.one.types("/accept_trade")
    two.types("/remove_trade_copper 20")
    two.types("/accept_trade")
    assert (held(scene.one), held(two), coins_of(two)) == ([(kinds.SWORD, 1)], [], 50)
    scene.one.types("/accept_trade")  # now it has seen the change
    assert held(two) == [(kinds.SWORD, 1)]


# -- menders, amounts, numbers, distance ----------------------------------------------------------


GREAVES, RELIC = 5, 6
"""A legendary thing of level 6, and one that no mender takes."""
DAMAGED = (
    f'id = {GREAVES}, name = "Gilded Boots", slots = 128, level = 6, tier = 7, armor = {{low = 4}}',
    f'id = {RELIC}, name = "Cracked Relic", slots = 512, norepair = 1, baubles = {{cast_time = 1}}',
)


def dies(scene: TradeScene) -> list[str]:
    """Let the first player die and live again; return the messages of the death."""
    harness, player = scene.harness, player_of(scene.one)
    before = len(scene.one.log)
    harness.minds.harm.kill(player.zone, player.spawn, None)
    names = [name for name, _ in scene.one.log[before:]]
    harness.parts.combat.falls.resurrect(player, health=100.0, power=100.0)
    harness.run(1.0)
    return names


def conditions(scene: TradeScene) -> dict[int, int]:
    inventory = player_of(scene.one).holdings.inventory
    return {one.item_id: one.condition for one in inventory}


def window_of(scene: TradeScene) -> dict[int, int]:
    """Return the prices of the window of a mender by kind."""
    window = scene.one.decoded("WS_UpdateMerchant")[-1]
    assert window["type"] == (112 if scene.one.dialect.version <= LAST_OLD_CLIENT else 96)
    return {row["item_id"]: row["price"] for row in window["item_array"]}


@ALL
def test_r34_a_death_wears_down_and_a_mender_repairs(version: int) -> None:
    """A price is the level times 10 less a tenth of the condition, for legendary things 4 times."""
    scene = TradeScene(version, coins=100, level=6)
    scene.harness.parts.items.kinds = kinds.item_kinds(DAMAGED)
    makes(scene.one, kinds.BOOTS, GREAVES, RELIC, kinds.CAP)
    for item in (kinds.BOOTS, GREAVES, RELIC):
        at = next(row for row, one in enumerate(held(scene.one)) if one[0] == item)
        assert scene.one.types(f"/inventory equip {at}") == []
    names = dies(scene)
    # One window for each of the two things that suffer.
    assert names.count("OP_EqExamineInfoCmd") == 2
    worn = {kinds.BOOTS: 90, GREAVES: 90, RELIC: 100, kinds.CAP: 100}
    assert conditions(scene) == worn
    dies(scene)
    assert conditions(scene) == worn | {kinds.BOOTS: 80, GREAVES: 80}
    assert scene.one.types("/mender_repair_all") == [], "no window is open"
    mender = scene.mender()
    scene.one.types("/repair")
    assert window_of(scene) == {kinds.BOOTS: 2, GREAVES: 6 * 2 * 4}

    begin = len(scene.one.log)
    (text,) = scene.one.types(f"/mender_repair {kinds.BOOTS}")
    assert text.startswith("You give Mender Sallow 2 Copper to repair your ")
    names = [name for name, _ in scene.one.log[begin:]]
    shown = ("OP_UpdateInventoryMsg", "OP_EqExamineInfoCmd", "OP_EqDisplayTextCmd",
             "OP_EqPlaySoundCmd", "OP_EqUpdateMerchantCmd")  # fmt: skip
    assert [name for name in names if name in shown] == [*shown]
    line = scene.one.decoded("WS_DisplayText")[-1]
    assert line["color"] == (80 if version <= LAST_OLD_CLIENT else 95)
    assert scene.one.decoded("WS_PlaySound")[-1]["name"] == "coin_cha_ching"
    assert (conditions(scene)[kinds.BOOTS], coins_of(scene.one)) == (100, 98)
    assert window_of(scene) == {GREAVES: 48}
    assert scene.one.types(f"/mender_repair {RELIC}") == []

    all_of_them = scene.one.types("/mender_repair_all")
    assert all_of_them[0] == "You give 48 Copper to repair all of your items."
    assert [one.split(":")[0] for one in all_of_them[1:]] == ["Repaired"]
    assert (conditions(scene)[GREAVES], coins_of(scene.one)) == (100, 50)
    assert window_of(scene) == {}

    for _ in range(3):
        dies(scene)
    scene.targets(scene.one, mender)
    scene.one.types("/repair")
    assert window_of(scene) == {kinds.BOOTS: 3, GREAVES: 6 * 3 * 4}
    (text,) = scene.one.types(f"/mender_repair {GREAVES}")
    assert text.startswith("You do not have enough coin to repair ")
    assert scene.one.decoded("WS_PlaySound")[-1]["name"] == "buy_failed"
    assert (conditions(scene)[GREAVES], coins_of(scene.one)) == (70, 50)
    assert scene.is_right()


@ALL
@pytest.mark.parametrize("amount", ["101", "4294967295", "4294967396", "-1", "0"])
def test_r35_no_amount_makes_money(version: int, amount: str) -> None:
    """F: an amount that the purse has only in larger coins made 4,294,967 platinum."""
    scene = TradeScene(version, coins=100)
    scene.banker()
    scene.one.types("/bank")
    scene.one.types("/bank_deposit 40")
    scene.one.types(f"/bank_deposit {amount}")
    scene.one.types(f"/bank_withdraw {amount}")
    bank = scene.one.decoded("WS_UpdateBank")[-1]["bank_coins"]
    assert coins_of(scene.one) + bank == 100
    assert scene.is_right()


@ALL
def test_r37_many_bought_keep_stacks_and_cost_their_number(version: int) -> None:
    """F: 50 of a stack of 20 came as one record and 3 unstackable ones as one."""
    scene = TradeScene(version, coins=1000)
    scene.merchant()
    scene.one.types("/frommerchant")
    scene.one.types(f"/buy_from_merchant {kinds.PEBBLE} 50")
    assert held(scene.one) == [(kinds.PEBBLE, 20), (kinds.PEBBLE, 20), (kinds.PEBBLE, 10)]
    assert coins_of(scene.one) == 1000 - 150
    scene.one.types(f"/buy_from_merchant {kinds.CAP} 3")
    assert held(scene.one)[3:] == [(kinds.CAP, 1)] * 3
    assert coins_of(scene.one) == 850 - 210


@ALL
@pytest.mark.parametrize("who", ["merchant", "banker"])
def test_r38_merchant_and_banker_serve_only_near(version: int, who: str) -> None:
    """F: an open window served over any distance."""
    scene = TradeScene(version, coins=500)
    spawn = scene.merchant() if who == "merchant" else scene.banker()
    command = "frommerchant" if who == "merchant" else "bank"
    scene.one.types(f"/{command}")
    scene.goes(scene.one, 40.0)
    scene.one.types(f"/buy_from_merchant {kinds.SWORD} 1")
    scene.one.types("/bank_deposit 40")
    assert (held(scene.one), coins_of(scene.one)) == ([], 500)
    assert player_of(scene.one).position.distance_to(spawn.position) > 12.0
