"""Merchants: lists, purchases, sales, and what is refused.

Windows and texts are those of ../shared/data/recordings/items-*-deal. Texts have no second space
before an amount: that is a fault of EQ2Emulator.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from emu.content.trade import Ware
from emu.items.held import Where
from emu.ledger import Owner, OwnerKind
from emu.versions import LAST_OLD_CLIENT
from emu.world.actors.dealings import MerchantKind
from emu.world.events import LeftZone
from emu.world.item_events import WindowsGone
from tests.support.coroutines import finish
from tests.support.world import item_kinds as kinds
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.item_recordings import recorded, recorded_kinds
from tests.support.world.trade_scenes import (
    FOR_STATUS,
    SHOP,
    VERSIONS,
    WARES,
    TradeScene,
    coins_of,
    held,
    player_of,
)
from tests.support.world.worlds import Client

SWORD = "\\aITEM 910005 Notched Training Sword:Notched Training Sword\\/a"
PEBBLE = "\\aITEM 910002 Grey River Pebble:Grey River Pebble\\/a"
POOR = f"You do not have enough coin to purchase {SWORD}."
NO_PLACE = "You do not have any slots available for this item."


def windows(client: Client) -> list[dict[str, Any]]:
    return client.decoded("WS_UpdateMerchant")


def recorded_lists(version: int) -> Iterator[dict[str, Any]]:
    layout = DIALECTS.for_version(version).layout("WS_UpdateMerchant")
    for _, _, body in recorded(version, "OP_EqUpdateMerchantCmd"):
        yield layout.decode(body[7:])


@pytest.mark.parametrize("version", VERSIONS)
def test_the_list_of_a_merchant_is_the_recorded_one(version: int) -> None:
    scene = TradeScene(version)
    scene.harness.parts.items.kinds = recorded_kinds()
    scene.merchant()
    scene.one.types("/frommerchant")
    ours = {row["item_id"]: row for row in windows(scene.one)[0]["item_array"]}
    wanted = 0 if version < LAST_OLD_CLIENT else 2
    theirs = next(one for one in recorded_lists(version) if one["type"] == wanted)
    assert len(theirs["item_array"]) >= 5
    for row in theirs["item_array"]:
        if row["item_id"] == kinds.RING:
            row["quantity"] = 2  # one had been bought before
        assert ours[row["item_id"]] == row


@pytest.mark.parametrize("version", VERSIONS)
def test_a_window_opens_with_the_recorded_lists(version: int) -> None:
    scene = TradeScene(version)
    scene.merchant()
    scene.one.types("/frommerchant")
    kinds_of = [one["type"] for one in windows(scene.one)]
    first = 0 if version < LAST_OLD_CLIENT else 2
    assert kinds_of == ([first, 1] if version <= LAST_OLD_CLIENT else [2, 1, 512, 16])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_purchase_takes_coins_and_gives_the_thing(version: int) -> None:
    scene = TradeScene(version, coins=2222)
    scene.merchant()
    scene.one.types("/frommerchant")
    before = len(scene.one.log)
    (text,) = scene.one.types(f"/buy_from_merchant {kinds.SWORD} 1")
    name = (
        SWORD if version <= LAST_OLD_CLIENT else SWORD.replace("Notched Training Sword:", "0:", 1)
    )
    assert text == f"You buy {name} from Quartermaster Odell for 1 Silver 10 Copper."
    shown = [name for name, _ in scene.one.log[before:]]
    order = ("OP_EqDisplayTextCmd", "OP_EqUpdateMerchantCmd", "OP_UpdateInventoryMsg")
    assert [name for name in shown if name in order] == [*order]
    colors = [one["color"] for one in scene.one.decoded("WS_DisplayText") if one["text"] == text]
    assert colors == [81 if version <= LAST_OLD_CLIENT else 96]
    assert (held(scene.one), coins_of(scene.one)) == ([(kinds.SWORD, 1)], 2112)
    assert [row["item_id"] for row in windows(scene.one)[-1]["item_array"]] == [kinds.SWORD]
    assert scene.is_right()


def test_several_things_keep_their_stacks_and_cost_their_number() -> None:
    scene = TradeScene(coins=500)
    scene.merchant()
    scene.one.types("/frommerchant")
    text = f"You buy 50 {PEBBLE} from Quartermaster Odell for 1 Silver 50 Copper."
    assert scene.one.types(f"/buy_from_merchant {kinds.PEBBLE} 50") == [text]
    assert held(scene.one) == [(kinds.PEBBLE, 20), (kinds.PEBBLE, 20), (kinds.PEBBLE, 10)]
    scene.one.types(f"/buy_from_merchant {kinds.SWORD} 2")
    assert held(scene.one)[3:] == [(kinds.SWORD, 1)] * 2
    assert coins_of(scene.one) == 500 - 150 - 220
    assert scene.is_right()


@pytest.mark.parametrize(
    ("version", "error"), [(546, 33), (561, 33), (1096, 38), (1208, 39), (60114, 39)]
)  # fmt: skip
def test_who_is_too_poor_reads_and_hears_so(version: int, error: int) -> None:
    """The errors are those of items-*-deal and items-1096-all."""
    scene = TradeScene(version, coins=109)
    scene.merchant()
    scene.one.types("/frommerchant")
    (text,) = scene.one.types(f"/buy_from_merchant {kinds.SWORD} 1")
    assert text.startswith(POOR[: POOR.index("\\")])
    assert scene.one.decoded("WS_DisplaySpellFailed")[-1]["error_code"] == error
    assert scene.one.decoded("WS_PlaySound")[-1]["name"] == "buy_failed"
    assert (held(scene.one), coins_of(scene.one)) == ([], 109)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_list_of_ones_own_things_is_the_recorded_one(version: int) -> None:
    scene = TradeScene(version, coins=500)
    scene.harness.parts.items.kinds = recorded_kinds()
    scene.merchant()
    scene.one.types("/frommerchant")
    scene.one.types(f"/buy_from_merchant {kinds.SWORD} 1")
    ours = next(one for one in windows(scene.one) if one["type"] == 1 and one["item_array"])
    theirs = next(
        one for one in recorded_lists(version)
        if one["type"] == 1 and any(row["item_id"] == kinds.SWORD for row in one["item_array"])
    )  # fmt: skip
    (row,) = ours["item_array"]
    same = next(one for one in theirs["item_array"] if one["item_id"] == kinds.SWORD)
    assert row == same | {"unique_item_id": row["unique_item_id"]}


def test_tokens_are_taken() -> None:
    scene = TradeScene()
    scene.merchant()
    scene.one.types(f"/summonitem {kinds.BRASS} 9")
    scene.one.types("/frommerchant")
    (text,) = scene.one.types(f"/buy_from_merchant {kinds.HAT} 1")
    assert text.endswith("from Quartermaster Odell for 0 Copper.")
    assert held(scene.one) == [(kinds.BRASS, 6), (kinds.HAT, 1)]
    (text,) = scene.one.types(f"/buy_from_merchant {kinds.HAT} 3")
    assert text.startswith("You do not have enough coin")
    assert held(scene.one) == [(kinds.BRASS, 6), (kinds.HAT, 1)]
    assert scene.is_right()


def status_scene() -> TradeScene:
    """A merchant who sells marbles for 30 status points each, and a player with 70 points."""
    scene = TradeScene(status_points=70)
    scene.harness.trade._wares[SHOP] = (*WARES, FOR_STATUS)
    scene.merchant()
    scene.one.types("/frommerchant")
    return scene


def stored_status(scene: TradeScene) -> int:
    return scene.harness.store.rows[1].status_points


def test_status_points_are_taken_with_the_thing() -> None:
    scene = status_scene()
    assert len(scene.one.types(f"/buy_from_merchant {kinds.MARBLE} 2")) == 1
    assert held(scene.one) == [(kinds.MARBLE, 1)] * 2
    # Stored at once: after a crash nobody has the thing and the points.
    assert (player_of(scene.one).character.status_points, stored_status(scene)) == (10, 10)
    (text,) = scene.one.types(f"/buy_from_merchant {kinds.MARBLE} 1")
    assert text.startswith("You do not have enough")
    assert held(scene.one) == [(kinds.MARBLE, 1)] * 2


def test_a_purchase_that_is_not_stored_gives_status_points_back() -> None:
    scene = status_scene()
    scene.harness.store.broken = True
    assert scene.one.types(f"/buy_from_merchant {kinds.MARBLE} 2") != []
    scene.harness.store.broken = False
    scene.harness.run(5.0)
    assert (held(scene.one), player_of(scene.one).character.status_points) == ([], 70)
    assert stored_status(scene) == 70


def test_limited_stock_is_bought_up_and_returns() -> None:
    scene = TradeScene(coins=1000)
    scene.merchant()
    scene.one.types("/frommerchant")
    assert scene.one.types(f"/buy_from_merchant {kinds.RING} 3") == []
    scene.one.types(f"/buy_from_merchant {kinds.RING} 1")
    rows = {row["item_id"]: row for row in windows(scene.one)[-1]["item_array"]}
    assert rows[kinds.RING]["quantity"] == 1
    scene.one.types(f"/buy_from_merchant {kinds.RING} 1")
    assert kinds.RING not in {row["item_id"] for row in windows(scene.one)[-1]["item_array"]}
    assert scene.one.types(f"/buy_from_merchant {kinds.RING} 1") == []
    scene.harness.run(601)
    assert len(scene.one.types(f"/buy_from_merchant {kinds.RING} 2")) == 1
    assert held(scene.one) == [(kinds.RING, 1)] * 4


def test_a_purchase_that_is_not_stored_leaves_the_stock() -> None:
    scene = TradeScene(coins=1000)
    scene.merchant()
    scene.one.types("/frommerchant")
    scene.harness.store.broken = True
    assert scene.one.types(f"/buy_from_merchant {kinds.RING} 2") != []
    scene.harness.store.broken = False
    assert (held(scene.one), coins_of(scene.one)) == ([], 1000)
    assert len(scene.one.types(f"/buy_from_merchant {kinds.RING} 2")) == 1
    assert scene.is_right()


def test_full_bags_are_refused_before_anything_is_paid() -> None:
    scene = TradeScene(coins=10_000)
    scene.merchant()
    scene.one.types("/frommerchant")
    for _ in range(6):
        scene.one.types(f"/buy_from_merchant {kinds.SWORD} 1")
    assert scene.one.types(f"/buy_from_merchant {kinds.SWORD} 1") == [NO_PLACE]
    assert scene.one.types(f"/buy_from_merchant {kinds.PEBBLE} 1") == [NO_PLACE]
    assert coins_of(scene.one) == 10_000 - 660


@pytest.mark.parametrize(
    "words",
    [
        "", "x", "910005", "910005 0", "910005 -1", "910005 256", "910005 4294967296",
        "910005 4294967297", "910001 1", "-5 1", "99999999999999999999999 1", "910005 x",
    ],
)  # fmt: skip
def test_a_purchase_that_makes_no_sense_changes_nothing(words: str) -> None:
    scene = TradeScene(coins=100_000)
    scene.merchant()
    scene.one.types("/frommerchant")
    assert scene.one.types(f"/buy_from_merchant {words}") == []
    assert (held(scene.one), coins_of(scene.one)) == ([], 100_000)


@pytest.mark.parametrize("closing", ["never", "closed", "far", "gone", "other"])
def test_without_an_open_window_near_the_merchant_nothing_is_bought(closing: str) -> None:
    scene = TradeScene(coins=1000)
    spawn = scene.merchant()
    texts = []
    if closing != "never":
        scene.one.types("/frommerchant")
    if closing == "closed":
        scene.one.types("/cancel_merchant")
    elif closing == "far":
        scene.goes(scene.one, 40.0)
        texts = ["You are too far away!"]
    elif closing == "gone":
        player_of(scene.one).zone.remove(spawn, scene.harness.now)
        scene.harness.run(1.0)
    elif closing == "other":
        scene.mender()
        scene.one.types("/repair")
    assert scene.one.types(f"/buy_from_merchant {kinds.SWORD} 1") == texts
    assert scene.one.types(f"/sell_to_merchant {kinds.SWORD} 1") == texts
    assert (held(scene.one), coins_of(scene.one)) == ([], 1000)


def test_a_sale_gives_what_the_thing_is_worth_and_can_be_bought_back() -> None:
    scene = TradeScene(1208)
    scene.merchant()
    scene.one.types(f"/summonitem {kinds.PEBBLE} 5")
    (thing,) = player_of(scene.one).holdings.inventory
    scene.one.types("/frommerchant")
    number = thing.id << 32 | kinds.PEBBLE
    name = PEBBLE.replace("Grey River Pebble:", "0:", 1)
    assert scene.one.types(f"/sell_to_merchant {number} 2") == [
        f"You sell 2 {name} to Quartermaster Odell for 6 Copper."
    ]
    assert (held(scene.one), coins_of(scene.one)) == ([(kinds.PEBBLE, 3)], 6)
    assert [one["type"] for one in windows(scene.one)[-2:]] == [1, 512]
    (back,) = windows(scene.one)[-1]["item_array"]
    assert (back["price"], back["stack_size"], back["quantity"]) == (3, 2, 2)
    sold = Owner(OwnerKind.SOLD, 1)
    ((lot,),) = finish(scene.harness.stored.things.of([sold])).values()
    assert (lot.item_id, lot.count) == (kinds.PEBBLE, 2)
    assert scene.one.types(f"/buyback_from_merchant {lot.id << 32 | kinds.PEBBLE} 1") == []
    assert (held(scene.one), coins_of(scene.one)) == ([(kinds.PEBBLE, 3), (kinds.PEBBLE, 2)], 0)
    assert windows(scene.one)[-1]["item_array"] == []
    assert scene.is_right()


def test_what_was_sold_can_be_bought_back_after_coming_back() -> None:
    scene = TradeScene()
    scene.merchant()
    scene.one.types(f"/summonitem {kinds.SWORD}")
    scene.one.types("/frommerchant")
    scene.one.types(f"/sell_to_merchant {kinds.SWORD} 1")
    scene.harness.departures.leave(player_of(scene.one), "quit", scene.harness.now)
    scene.one = scene.enter(1)
    scene.merchant()
    scene.one.types("/frommerchant")
    scene.one.types(f"/buyback_from_merchant {kinds.SWORD} 1")
    assert (held(scene.one), coins_of(scene.one)) == ([(kinds.SWORD, 1)], 0)
    assert scene.is_right()


def test_the_last_ten_sales_can_be_bought_back() -> None:
    scene = TradeScene(1208)
    scene.merchant()
    scene.one.types("/frommerchant")
    for _ in range(12):
        scene.one.types(f"/summonitem {kinds.MARBLE}")
        scene.one.types(f"/sell_to_merchant {kinds.MARBLE} 1")
    assert len(windows(scene.one)[-1]["item_array"]) == 10
    sold = Owner(OwnerKind.SOLD, 1)
    (lots,) = finish(scene.harness.stored.things.of([sold])).values()
    assert len(lots) == 10
    assert coins_of(scene.one) == 12 * 12
    assert scene.is_right()


@pytest.mark.parametrize("how", ["sells", "leaves"])
def test_a_list_that_is_old_when_it_is_read_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """What was bought back elsewhere meanwhile would be in the list again."""
    scene = TradeScene(1208)
    scene.merchant()
    scene.one.types(f"/summonitem {kinds.SWORD}")
    merchants = scene.harness.parts.trading.merchants
    read = merchants._store.of

    async def late(owners: Any) -> Any:
        found = await read(owners)
        if how == "sells":
            scene.one.types(f"/sell_to_merchant {kinds.SWORD} 1")
        else:
            for event in (WindowsGone, LeftZone):
                scene.harness.world.events.publish(event(player_of(scene.one)))
        return found

    monkeypatch.setattr(merchants._store, "of", late)
    scene.one.types("/frommerchant")
    monkeypatch.undo()
    if how == "leaves":
        assert merchants._sold == {}
    scene.one.types("/frommerchant")
    scene.one.types(f"/sell_to_merchant {kinds.SWORD} 1")
    assert held(scene.one) == []
    scene.one.types(f"/buyback_from_merchant {kinds.SWORD} 1")
    assert held(scene.one) == [(kinds.SWORD, 1)]
    assert scene.is_right()


def test_two_sales_at_once_are_both_in_the_list() -> None:
    scene = TradeScene(1208)
    scene.merchant()
    scene.one.types(f"/summonitem {kinds.MARBLE}")
    scene.one.types(f"/summonitem {kinds.PEBBLE}")
    scene.one.types("/frommerchant")
    works: list[Any] = []
    scene.harness.start = works.append
    scene.one.types(f"/sell_to_merchant {kinds.MARBLE} 1")
    scene.one.types(f"/sell_to_merchant {kinds.PEBBLE} 1")
    scene.harness.start = finish
    for work in works:
        finish(work)
    rows = windows(scene.one)[-1]["item_array"]
    assert [row["item_id"] for row in rows] == [kinds.MARBLE, kinds.PEBBLE]
    assert scene.is_right()


def test_what_is_bought_back_twice_at_once_comes_once() -> None:
    scene = TradeScene(1208)
    scene.merchant()
    scene.one.types(f"/summonitem {kinds.SWORD}")
    scene.one.types("/frommerchant")
    scene.one.types(f"/sell_to_merchant {kinds.SWORD} 1")
    works: list[Any] = []
    scene.harness.start = works.append
    for command in ("buyback_from_merchant 910005 1", "inventory destroy 0") * 2:
        scene.one.types(f"/{command}")
    scene.harness.start = finish
    for work in works:
        finish(work)
    assert held(scene.one) == []
    assert coins_of(scene.one) == 0
    assert scene.is_right()


def test_a_sale_that_is_not_stored_can_be_repeated() -> None:
    scene = TradeScene(1208)
    scene.merchant()
    scene.one.types(f"/summonitem {kinds.SWORD}")
    scene.one.types("/frommerchant")
    scene.harness.store.broken = True
    assert scene.one.types(f"/sell_to_merchant {kinds.SWORD} 1") != []
    scene.harness.store.broken = False
    assert (held(scene.one), coins_of(scene.one)) == ([(kinds.SWORD, 1)], 0)
    scene.one.types(f"/sell_to_merchant {kinds.SWORD} 1")
    assert len(windows(scene.one)[-1]["item_array"]) == 1
    scene.harness.store.broken = True
    scene.one.types("/buyback_from_merchant 910005 1")
    scene.harness.store.broken = False
    scene.one.types("/buyback_from_merchant 910005 1")
    assert (held(scene.one), coins_of(scene.one)) == ([(kinds.SWORD, 1)], 0)
    assert scene.is_right()


def test_a_merchant_gives_no_more_than_was_paid() -> None:
    scene = TradeScene(coins=1000)
    scene.harness.trade._wares[SHOP] = (*WARES[:1], Ware(kinds.PEBBLE, None, 1, 0, ()))
    scene.merchant()
    scene.one.types(f"/summonitem {kinds.PEBBLE} 5")
    scene.one.types("/frommerchant")
    scene.one.types(f"/buy_from_merchant {kinds.PEBBLE} 5")
    assert held(scene.one) == [(kinds.PEBBLE, 10)]
    scene.one.types(f"/sell_to_merchant {kinds.PEBBLE} 10")
    assert coins_of(scene.one) == 1000 - 5 + 10


@pytest.mark.parametrize(
    ("item", "text"),
    [(kinds.QUILL, "This item has no value."), (kinds.STONE, "This item has no value.")],
)
def test_what_has_no_value_is_not_taken(item: int, text: str) -> None:
    scene = TradeScene()
    scene.merchant()
    scene.one.types(f"/summonitem {item}")
    scene.one.types("/frommerchant")
    assert windows(scene.one)[-1]["item_array"] == []
    assert scene.one.types(f"/sell_to_merchant {item} 1") == [text]
    assert held(scene.one) == [(item, 1)]


def test_a_bag_with_things_and_what_lies_in_the_bank_are_not_taken() -> None:
    scene = TradeScene()
    scene.merchant()
    scene.one.types(f"/summonitem {kinds.SATCHEL}")
    scene.one.types(f"/summonitem {kinds.MARBLE}")
    scene.one.types(f"/summonitem {kinds.CAP} bank")
    scene.one.types("/frommerchant")
    assert scene.one.types(f"/sell_to_merchant {kinds.SATCHEL} 1") == [
        "You cannot sell a bag with items inside it."
    ]
    assert scene.one.types(f"/sell_to_merchant {kinds.CAP} 1") == [
        "You cannot sell an item in the bank."
    ]
    assert held(scene.one, Where.BANK) == [(kinds.CAP, 1)]


@pytest.mark.parametrize("words", ["", "x 1", "910002 0", "910002 -1", "910002 6", "77 1"])
def test_a_sale_that_makes_no_sense_changes_nothing(words: str) -> None:
    scene = TradeScene()
    scene.merchant()
    scene.one.types(f"/summonitem {kinds.PEBBLE} 5")
    scene.one.types("/frommerchant")
    assert scene.one.types(f"/sell_to_merchant {words}") == []
    assert scene.one.types(f"/buyback_from_merchant {words}") == []
    assert (held(scene.one), coins_of(scene.one)) == ([(kinds.PEBBLE, 5)], 0)


def test_who_buys_nothing_shows_no_things_of_the_player() -> None:
    scene = TradeScene()
    scene.merchant(merchant_kind=MerchantKind.BUYS_NOTHING)
    scene.one.types(f"/summonitem {kinds.SWORD}")
    scene.one.types("/frommerchant")
    assert windows(scene.one)[-1]["item_array"] == []
    assert scene.one.types(f"/sell_to_merchant {kinds.SWORD} 1") == []
    assert held(scene.one) == [(kinds.SWORD, 1)]


def test_a_thing_that_nothing_describes_is_left_out_and_counted() -> None:
    scene = TradeScene()
    scene.harness.trade._wares[SHOP] = (Ware(77, None, 5, 0, ()), *WARES)
    scene.merchant()
    scene.one.types("/frommerchant")
    assert len(windows(scene.one)[0]["item_array"]) == len(WARES)
    drops = scene.harness.faults.drops
    assert drops["thing of a merchant that nothing describes"] == 1


def test_a_merchant_without_a_script_is_not_hailed() -> None:
    """As Quartermaster Odell in items-546-deal; those of real-merchants-* have scripts."""
    scene = TradeScene()
    scene.merchant()
    scene.one.types("/frommerchant")
    assert scene.one.hears() == []
