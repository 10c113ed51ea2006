"""The bank: window, coins and things, as in items-*-deal."""

from __future__ import annotations

import pytest

from emu.items.held import Where
from tests.support.world import item_kinds as kinds
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.item_recordings import recorded
from tests.support.world.trade_scenes import VERSIONS, TradeScene, coins_of, held, player_of

CHEAT = "Stop trying to cheat!"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_recorded_deposits_and_withdrawals(version: int) -> None:
    scene = TradeScene(version, coins=45_255)
    scene.banker()
    assert scene.one.types("/bank") == []
    assert scene.one.types("/bank_deposit 10") == [
        "10 Copper deposited (0 Plat 0 Gold 0 Silver 10 Copper in the bank now.)"
    ]
    assert scene.one.types("/bank_deposit 20200") == [
        "2 Gold 2 Silver deposited (0 Plat 2 Gold 2 Silver 10 Copper in the bank now.)"
    ]
    assert scene.one.types("/bank_withdraw 10110") == [
        "1 Gold 1 Silver 10 Copper withdrawn (0 Plat 1 Gold 1 Silver 0 Copper in the bank now.)"
    ]
    assert scene.one.types("/bank_withdraw 5000000") == [CHEAT]
    assert coins_of(scene.one) == 45_255 - 10 - 20_200 + 10_110
    assert scene.is_right()


def test_a_single_copper_is_put_in_and_taken_out() -> None:
    scene = TradeScene(coins=1)
    scene.banker()
    scene.one.types("/bank")
    assert scene.one.types("/bank_deposit 1")[0].startswith("1 Copper deposited")
    assert scene.one.types("/bank_deposit 1") == [CHEAT]
    assert scene.one.types("/bank_withdraw 2") == [CHEAT]
    assert scene.one.types("/bank_withdraw 1")[0].startswith("1 Copper withdrawn")
    assert coins_of(scene.one) == 1
    assert scene.is_right()


def test_the_window_is_the_recorded_one() -> None:
    scene = TradeScene(546, coins=45_255)
    scene.banker()
    scene.one.types("/bank")
    layout = DIALECTS.for_version(546).layout("WS_UpdateBank")
    theirs = next(layout.decode(body[7:]) for _, _, body in recorded(546, "OP_EqUpdateBankCmd"))
    (ours,) = scene.one.decoded("WS_UpdateBank")
    same = ("bank_coins", "gold", "plat", "display")
    assert {name: ours[name] for name in same} == {name: theirs[name] for name in same}
    assert (ours["silver"], ours["copper"]) == (52, 55)


def test_what_lies_in_the_bank_is_there_again() -> None:
    scene = TradeScene(coins=1000)
    scene.banker()
    scene.one.types("/bank")
    scene.one.types("/bank_deposit 400")
    scene.one.types(f"/summonitem {kinds.MARBLE}")
    assert scene.one.types("/inventory move 0 2 -3 0") == []
    scene.harness.departures.leave(player_of(scene.one), "quit", scene.harness.now)
    scene.one = scene.enter(1)
    assert held(scene.one, Where.BANK) == [(kinds.MARBLE, 1)]
    scene.banker()
    scene.one.types("/bank")
    assert scene.one.decoded("WS_UpdateBank")[-1]["bank_coins"] == 400
    assert scene.is_right()


@pytest.mark.parametrize("how", ["never", "closed", "far", "walks", "dies", "left", "lost"])
def test_without_an_open_window_near_the_banker_nothing_moves(how: str) -> None:
    scene = TradeScene(coins=1000)
    banker = scene.banker()
    scene.one.types(f"/summonitem {kinds.MARBLE}")
    if how != "never":
        scene.one.types("/bank")
    if how == "closed":
        scene.one.types("/cancel_bank")
    elif how == "far":
        scene.goes(scene.one, 40.0)
    elif how == "walks":
        banker.move(banker.position._replace(x=banker.position.x + 40.0))
    elif how == "dies":
        player_of(scene.one).zone.remove(banker, scene.harness.now)
    elif how == "left":
        scene.harness.departures.leave(player_of(scene.one), "quit", scene.harness.now)
        scene.one = scene.enter(1)
    elif how == "lost":
        scene.harness.departures.link_lost(player_of(scene.one), "gone", scene.harness.now)
        scene.one = scene.enter(1)
    texts = ["You are too far away!"] if how in ("far", "walks") else []
    assert scene.one.types("/bank_deposit 10") == texts
    assert scene.one.types("/bank_withdraw 10") == texts
    assert scene.one.types("/inventory move 0 2 -3 0") == ["Could not move item to that location."]
    assert coins_of(scene.one) == 1000
    assert held(scene.one) == [(kinds.MARBLE, 1)]


@pytest.mark.parametrize("words", ["", "x", "0", "-1", "-4294967296"])
def test_an_amount_that_makes_no_sense_changes_nothing(words: str) -> None:
    scene = TradeScene(coins=1000)
    scene.banker()
    scene.one.types("/bank")
    assert scene.one.types(f"/bank_deposit {words}") == []
    assert scene.one.types(f"/bank_withdraw {words}") == []
    assert coins_of(scene.one) == 1000


@pytest.mark.parametrize("amount", ["1001", "4294967296", "99999999999999999999"])
def test_nobody_deposits_more_than_the_purse_has(amount: str) -> None:
    scene = TradeScene(coins=1000)
    scene.banker()
    scene.one.types("/bank")
    assert scene.one.types(f"/bank_deposit {amount}") == [CHEAT]
    assert coins_of(scene.one) == 1000
    assert scene.is_right()


def test_whoever_is_no_banker_has_no_bank() -> None:
    scene = TradeScene(coins=1000)
    scene.merchant()
    assert scene.one.types("/bank") == []
    assert scene.one.decoded("WS_UpdateBank") == []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_closed_bank_is_shown_to_the_client(version: int) -> None:
    """As in items-*-deal, for all versions."""
    scene = TradeScene(version, coins=1000)
    scene.banker()
    scene.one.types("/bank")
    scene.one.types("/bank_deposit 200")
    before = len(scene.one.decoded("WS_UpdateBank"))
    assert scene.one.types("/cancel_bank") == []
    (shown,) = scene.one.decoded("WS_UpdateBank")[before:]
    assert (shown["display"], shown["bank_coins"]) == (0, 200)
    scene.one.types("/cancel_bank")
    assert len(scene.one.decoded("WS_UpdateBank")) == before + 1
