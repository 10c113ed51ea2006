"""Trades of players: window, texts, acceptance, and one transaction over both.

Texts and windows are those of ../shared/data/recordings/items-546-deal and items-1208-deal.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from twisted.internet.defer import Deferred

from emu.errors import StoreError
from emu.versions import LAST_OLD_CLIENT
from tests.support.examples import tries
from tests.support.world import item_kinds as kinds
from tests.support.world.ghost_views import DIALECTS
from tests.support.world.item_recordings import recorded
from tests.support.world.trade_scenes import (
    VERSIONS,
    TradeScene,
    coins_of,
    held,
    piles_up,
    player_of,
)
from tests.support.world.worlds import Client

ROWS = ("your_item_array", "their_item_array")


class Pair(TradeScene):
    """Two players beside each other."""

    def __init__(self, version: int = 546, second: int | None = None, **values: Any) -> None:
        super().__init__(version, **values)
        self.two = self.enter(2, second or version, **values)
        self.harness.run(1.0)

    def index(self, viewer: Client, other: Client) -> int:
        index = player_of(viewer).index_of(player_of(other).spawn)
        assert index is not None
        return index

    def start(self) -> list[str]:
        return self.one.types(f"/start_trade {self.index(self.one, self.two)}")

    def window(self, client: Client) -> dict[str, Any]:
        return client.decoded("WS_PlayerTrade")[-1]

    def types_of(self, client: Client) -> list[int]:
        return [one["type"] for one in client.decoded("WS_PlayerTrade")]


def test_who_cannot_trade_reads_why() -> None:
    pair = Pair()
    assert pair.one.types("/start_trade 1") == ["You can't trade with yourself."]
    for nonsense in ("77777", "", "x", "-1", "4294967296"):
        assert pair.one.types(f"/start_trade {nonsense}") == ["Unable to find target"]
    assert pair.start() == []
    assert pair.start() == ["You are already trading."]
    third = pair.enter(3)
    pair.harness.run(1.0)
    index = pair.index(third, pair.one)
    assert third.types(f"/start_trade {index}") == ["Your target is already trading."]
    for command in ("accept_trade", "add_trade_item 0 0 1", "add_trade_copper 1"):
        assert third.types(f"/{command}") == ["You are not currently trading."]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_recorded_trade(version: int) -> None:
    pair = Pair(version, coins=700)
    for item, count in ((kinds.PEBBLE, 5), (kinds.TOKEN, 1), (kinds.THIMBLE, 1)):
        pair.one.types(f"/summonitem {item} {count}")
    pair.two.types(f"/summonitem {kinds.MARBLE}")
    pair.start()
    one, two = pair.one, pair.two
    assert one.types("/add_trade_item 1 0 1") == ["You can't trade NO-TRADE items."]
    assert one.types("/add_trade_item 2 0 1") == ["You can't trade HEIRLOOM items."]
    assert one.types("/add_trade_item 0 0 9") == ["You do not have enough quantity..."]
    assert one.types("/add_trade_item 0 0 2") == []
    assert one.types("/add_trade_item 0 1 1") == ["Item is already being traded."]
    is_old = version <= LAST_OLD_CLIENT
    old = "You are trading with an older client with a 6 trade slot restriction..."
    one.types("/inventory move 0 5 0 0")
    assert held(one)[0] == (kinds.PEBBLE, 5)
    assert one.types("/add_trade_item 3 7 1") == []
    if is_old:
        one.types(f"/summonitem {kinds.MARBLE}")
        assert one.types("/add_trade_item 3 7 1") == [old]
    for command in ("add_trade_copper 45", "add_trade_silver 2", "remove_trade_copper 5"):
        assert one.types(f"/{command}") == []
    assert one.types("/add_trade_plat 9") == []
    assert two.types("/add_trade_item 0 0 1") == []
    mine, theirs = pair.window(one), pair.window(two)
    assert [row["item_quantity"] for row in mine["your_item_array"]] == [2]
    assert (mine["your_copper"], mine["your_silver"], mine["your_plat"]) == (40, 2, 0)
    assert [mine[name] for name in ROWS] == [theirs[name] for name in reversed(ROWS)]
    one.types("/accept_trade")
    assert pair.types_of(two)[-1] == 16
    assert pair.types_of(one)[-1] == 1
    two.types("/accept_trade")
    assert pair.types_of(one)[-2:] == [16, 24]
    assert pair.types_of(two)[-1] == 24
    assert (kinds.MARBLE, 1) in held(one)
    assert held(two) == [(kinds.PEBBLE, 2)]
    assert (coins_of(one), coins_of(two)) == (700 - 240, 700 + 240)
    assert pair.is_right()


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_rows_of_the_window_are_the_recorded_ones(version: int) -> None:
    pair = Pair(version)
    pair.one.types(f"/summonitem {kinds.PEBBLE} 5")
    pair.start()
    pair.one.types("/add_trade_item 0 0 2")
    (row,) = pair.window(pair.one)["your_item_array"]
    name = "OP_EqUpdatePlayerTradeCmd" if version < 1208 else "OP_EqUpdateStoreCmd"
    layout = DIALECTS.for_version(version).layout("WS_PlayerTrade")
    found = [layout.decode(body[7:]) for _, _, body in recorded(version, name)]
    rows = [one["your_item_array"][0] for one in found if one["your_item_array"]]
    assert {"item_slot": 0, "item_quantity": 2}.items() <= rows[0].items()
    assert row == rows[0]


def test_what_is_accepted_cannot_be_changed() -> None:
    pair = Pair(coins=500)
    pair.two.types(f"/summonitem {kinds.SWORD}")
    pair.start()
    pair.two.types("/add_trade_item 0 0 1")
    pair.one.types("/add_trade_gold 0")
    pair.one.types("/add_trade_silver 3")
    pair.one.types("/accept_trade")
    pair.two.types("/remove_trade_item 0")
    pair.two.types("/accept_trade")
    assert (held(pair.one), held(pair.two)) == ([], [(kinds.SWORD, 1)])
    assert (coins_of(pair.one), coins_of(pair.two)) == (500, 500)
    pair.one.types("/accept_trade")
    assert (coins_of(pair.one), coins_of(pair.two)) == (200, 800)
    assert pair.is_right()


@pytest.mark.parametrize(
    "how", ["cancel_trade", "reject_trade", "zone", "quit", "lost", "other client"]
)
def test_a_trade_that_ends_early_moves_nothing(how: str) -> None:
    pair = Pair()
    pair.one.types(f"/summonitem {kinds.SWORD}")
    pair.start()
    pair.one.types("/add_trade_item 0 0 1")
    pair.two.types("/accept_trade")
    if how in ("zone", "quit"):
        pair.harness.departures.leave(player_of(pair.two), how, pair.harness.now)
    elif how == "lost":
        pair.harness.departures.link_lost(player_of(pair.two), how, pair.harness.now)
    elif how == "other client":
        pair.enter(2)
    else:
        pair.two.types(f"/{how}")
    assert pair.types_of(pair.one)[-1] == 2
    assert pair.one.types("/accept_trade") == ["You are not currently trading."]
    assert pair.one.types("/inventory equip 0") == []
    assert pair.is_right()


def test_nothing_is_put_into_a_bag_that_is_offered() -> None:
    pair = Pair()
    pair.one.types(f"/summonitem {kinds.SATCHEL}")
    pair.start()
    pair.one.types("/add_trade_item 0 0 1")
    pair.one.types(f"/summonitem {kinds.SWORD}")
    (satchel,) = player_of(pair.one).holdings.inventory.of_kind(kinds.SATCHEL)
    pair.one.types(f"/inventory move 1 0 {satchel.id} 0")
    pair.one.types("/inventory move 1 0 0 0")
    pair.one.types("/accept_trade")
    pair.two.types("/accept_trade")
    assert held(pair.one) == [(kinds.SWORD, 1)]
    assert held(pair.two) == [(kinds.SATCHEL, 1)]
    assert pair.is_right()


def test_who_leaves_while_a_trade_is_stored_has_traded_or_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = Pair(coins=100)
    pair.one.types(f"/summonitem {kinds.SWORD}")
    pair.start()
    pair.one.types("/add_trade_item 0 0 1")
    pair.two.types("/add_trade_silver 1")
    pair.one.types("/accept_trade")
    ledger = pair.harness.ledger
    settle = ledger.settle

    async def leaves(movement: Any) -> Any:
        """Let the second player leave before the store answers."""
        pair.harness.departures.leave(player_of(pair.two), "quit", pair.harness.now)
        return await settle(movement)

    monkeypatch.setattr(ledger, "settle", leaves)
    pair.harness.start = Deferred.fromCoroutine
    pair.two.types("/accept_trade")
    pair.harness.run(1.0)
    monkeypatch.undo()
    back = pair.enter(2)
    assert (held(pair.one), held(back)) == ([], [(kinds.SWORD, 1)])
    assert (coins_of(pair.one), coins_of(back)) == (200, 0)
    assert pair.is_right()
    assert pair.one.types("/accept_trade") == ["You are not currently trading."]


@pytest.mark.parametrize("is_offered", [True, False])
def test_what_a_window_locks_during_a_refused_exchange_stays_so(
    monkeypatch: pytest.MonkeyPatch, *, is_offered: bool
) -> None:
    """The store is asked about a purchase while the player offers a thing, or takes it back."""
    pair = Pair(coins=100)
    pair.one.types(f"/summonitem {kinds.SWORD}")
    pair.merchant()
    pair.one.types("/frommerchant")
    pair.start()
    if not is_offered:
        pair.one.types("/add_trade_item 0 0 1")

    async def refuses(_movement: Any) -> Any:
        pair.one.types("/add_trade_item 0 0 1" if is_offered else "/remove_trade_item 0")
        raise StoreError("away")

    monkeypatch.setattr(pair.harness.ledger, "settle", refuses)
    pair.one.types(f"/buy_from_merchant {kinds.PEBBLE} 1")
    monkeypatch.undo()
    (sword,) = player_of(pair.one).holdings.inventory
    assert (sword.id in player_of(pair.one).holdings.inventory.locked) is is_offered


def test_who_has_no_place_for_what_it_gets_keeps_what_it_gives() -> None:
    pair = Pair()
    pair.one.types(f"/summonitem {kinds.SWORD}")
    for _ in range(6):
        pair.two.types(f"/summonitem {kinds.MARBLE}")
    pair.start()
    pair.one.types("/add_trade_item 0 0 1")
    pair.one.types("/accept_trade")
    assert pair.two.types("/accept_trade") == ["You do not have any free slots."]
    assert held(pair.one) == [(kinds.SWORD, 1)]
    pair.two.types("/inventory destroy 0")
    pair.one.types("/accept_trade")
    pair.two.types("/accept_trade")
    assert held(pair.two)[0] == (kinds.SWORD, 1)
    assert pair.is_right()


def test_a_stack_above_its_limit_changes_hands_whole() -> None:
    """Its parts had one number, so only the last one was there afterwards."""
    pair = Pair()
    pair.one.types(f"/summonitem {kinds.PEBBLE} 45")
    piles_up(pair.one, kinds.PEBBLE)
    pair.start()
    pair.one.types("/add_trade_item 0 0 45")
    for client in (pair.one, pair.two):
        client.types("/accept_trade")
    assert held(pair.two) == [(kinds.PEBBLE, 20), (kinds.PEBBLE, 20), (kinds.PEBBLE, 5)]
    assert held(pair.one) == []
    assert pair.is_right()


def test_players_trade_while_they_are_near_each_other() -> None:
    pair = Pair(coins=100)
    pair.start()
    pair.one.types("/add_trade_silver 1")
    pair.one.types("/accept_trade")
    player = player_of(pair.two)
    near = player.position
    player.teleport(near._replace(x=near.x + 40.0), pair.harness.now)
    assert pair.two.types("/accept_trade") == ["You are too far away!"]
    assert coins_of(pair.two) == 100
    player.teleport(near, pair.harness.now)
    pair.two.types("/accept_trade")
    assert coins_of(pair.two) == 200


def test_a_trade_that_is_not_stored_stays_open() -> None:
    pair = Pair(coins=100)
    pair.one.types(f"/summonitem {kinds.SWORD}")
    pair.start()
    pair.one.types("/add_trade_item 0 0 1")
    pair.two.types("/add_trade_silver 1")
    pair.one.types("/accept_trade")
    pair.harness.store.broken = True
    assert pair.two.types("/accept_trade") == ["The trade cannot be carried out now; try again."]
    pair.harness.store.broken = False
    assert held(pair.one) == [(kinds.SWORD, 1)]
    pair.one.types("/accept_trade")
    pair.two.types("/accept_trade")
    assert held(pair.two) == [(kinds.SWORD, 1)]
    assert (coins_of(pair.one), coins_of(pair.two)) == (200, 0)
    assert pair.is_right()


class TradeMachine(RuleBasedStateMachine):
    """Two players do whatever their windows can send, and more."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = Pair(coins=1000)
        for client in (self.pair.one, self.pair.two):
            client.types(f"/summonitem {kinds.PEBBLE} 20")
            client.types(f"/summonitem {kinds.SWORD}")
            client.types(f"/summonitem {kinds.TOKEN}")
            client.types(f"/summonitem {kinds.SATCHEL}")
        self.things = self.all_things()

    def all_things(self) -> Counter[int]:
        found: Counter[int] = Counter()
        for client in (self.pair.one, self.pair.two):
            for item, count in held(client):
                found[item] += count
        return found

    @rule(
        is_first=st.booleans(),
        command=st.sampled_from([
            "add_trade_item {} {} {}", "remove_trade_item {}", "add_trade_copper {}",
            "add_trade_silver {}", "remove_trade_copper {}", "accept_trade", "accept_trade",
            "cancel_trade", "inventory move {} {} 0 {}", "start", "start",
        ]),
        numbers=st.tuples(*[st.sampled_from([0, 1, 2, 3, 4, 5, 20, -1, 255, 2**32])] * 3),
    )  # fmt: skip
    def acts(self, is_first: bool, command: str, numbers: tuple[int, ...]) -> None:
        client = self.pair.one if is_first else self.pair.two
        if command == "start":
            self.pair.start()
        else:
            client.types("/" + command.format(*numbers))

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        assert self.all_things() == self.things
        assert coins_of(self.pair.one) + coins_of(self.pair.two) == 2000
        assert min(coins_of(self.pair.one), coins_of(self.pair.two)) >= 0

    def teardown(self) -> None:
        assert self.pair.is_right()


@pytest.mark.slow
def test_no_succession_of_commands_loses_or_doubles_anything() -> None:
    limits = settings(tries(15), stateful_step_count=25, deadline=None)
    run_state_machine_as_test(TradeMachine, settings=limits)
