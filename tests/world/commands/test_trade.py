"""The numbers that windows of merchants and trades send."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from emu.commands import Call, Caller
from emu.errors import StoreError
from emu.rules.coins import coins_text
from emu.world.commands.trade import MOST_THINGS, NOT_NOW, numbers_of
from tests.support.world import item_kinds as kinds
from tests.support.world.trade_scenes import TradeScene


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("910005 1", [910005, 1]),
        ("910005", [910005, -1]),
        ("", [-1, -1]),
        ("910005 1 7", [910005, 1]),
        ("x \u0662", [-1, -1]),
        ("-7 99999999999999999999", [-7, 99999999999999999999]),
        ("1 999999999999999999999", [1, -1]),
        ("1e3 --5", [-1, -1]),
    ],
)
def test_what_is_no_number_is_below_0(words: str, numbers: list[int]) -> None:
    call = Call(Caller("Borvik", 0, "game"), {"words": words}, 0.0)
    assert numbers_of(call, 2) == numbers


def test_a_game_master_changes_what_a_creature_has() -> None:
    scene = TradeScene()
    spawn = scene.foe("a straw man", (kinds.MARBLE, 1), coins=40)
    assert scene.one.types("/loot list") == ["coins: 40 Copper", "910001  Chipped Marble  1"]
    assert scene.one.types("/loot setcoin 150") == ["your target has 1 Silver 50 Copper"]
    assert scene.one.types(f"/loot additem {kinds.PEBBLE}") == ["your target has Grey River Pebble"]
    assert scene.one.types("/loot removeitem 910001") == ["your target has it no more"]
    assert scene.one.types("/loot removeitem 910001") == ["your target has no such thing"]
    assert scene.one.types("/loot additem 77") == ["there is no item 77"]
    scene.one.types("/kill")
    remains = scene.harness.parts.trading.loots.remains[spawn.id]
    assert (remains.coins, [lot.kind.id for lot in remains.lots]) == (150, [kinds.PEBBLE])
    assert scene.one.types("/loot list") == ["your target is no living creature"]


def test_only_game_masters_kill_and_see_loot() -> None:
    scene = TradeScene(admin_status=0)
    spawn = scene.foe("a straw man")
    scene.one.types("/kill")
    assert spawn.hp_percent == 100


WINDOWS = [
    ("frommerchant", "merchants", "open", (), {}),
    ("tomerchant", "merchants", "open", (), {"to_sell": True}),
    ("cancel_merchant", "merchants", "close", (), {}),
    ("buy_from_merchant 20904 3", "merchants", "buy", (20904, 3), {}),
    ("sell_to_merchant 20904 3", "merchants", "sell", (20904, 3), {}),
    ("buyback_from_merchant 7", "merchants", "buy_back", (7,), {}),
    ("repair", "menders", "open", (), {}),
    ("mender_repair 20904", "menders", "repair", (20904,), {}),
    ("mender_repair_all", "menders", "repair", (), {}),
    ("bank", "banks", "open", (), {}),
    ("cancel_bank", "banks", "close", (), {}),
    ("bank_deposit 150", "banks", "deposit", (150,), {}),
    ("bank_withdraw 150", "banks", "withdraw", (150,), {}),
    ("loot", "looting", "open", (), {}),
    ("lootcorpse", "looting", "open", (), {}),
    ("start_trade 26", "trades", "start", (26,), {}),
    ("add_trade_item 1 2 3", "trades", "add_item", (1, 2, 3), {}),
    ("remove_trade_item 2", "trades", "remove_item", (2,), {}),
    *[
        (f"{word}_trade_{coin} 5", "trades", f"{word}_coins", (coin, 5), {})
        for word in ("add", "remove")
        for coin in ("copper", "silver", "gold", "plat")
    ],
    ("accept_trade", "trades", "accept", (), {}),
    ("cancel_trade", "trades", "cancel", (), {}),
    ("reject_trade", "trades", "cancel", (), {}),
]


def test_each_command_of_a_window_asks_for_its_act(monkeypatch: pytest.MonkeyPatch) -> None:
    scene, asked = TradeScene(), list[tuple[Any, ...]]()
    trading = scene.harness.command_context.trading

    def record(window: str, act: str) -> None:
        owner = type(getattr(trading, window))
        is_async = inspect.iscoroutinefunction(getattr(owner, act))

        def work(_self: Any, *about: Any, **options: Any) -> None:
            asked.append((window, act, about, options))

        async def later(_self: Any, *about: Any, **options: Any) -> None:
            work(_self, *about, **options)

        monkeypatch.setattr(owner, act, later if is_async else work)

    for window, act in {one[1:3] for one in WINDOWS}:
        record(window, act)
    player = scene.one.player
    for line, window, act, about, options in WINDOWS:
        assert scene.one.types(f"/{line}") == [], line
        assert asked.pop() == (window, act, (player, *about), options), line
        assert asked == []


@pytest.mark.parametrize("line", ["buy_from_merchant 1 1", "bank_deposit 5", "mender_repair_all"])
def test_an_act_that_cannot_be_stored_is_answered(
    monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    scene = TradeScene()

    async def fail(*_about: Any) -> None:
        raise StoreError("the disk is full")

    trading = scene.harness.command_context.trading
    for owner, act in (
        (trading.merchants, "buy"), (trading.banks, "deposit"), (trading.menders, "repair"),
    ):  # fmt: skip
        monkeypatch.setattr(type(owner), act, fail)
    assert scene.one.types(f"/{line}") == [NOT_NOW]


def test_what_a_creature_may_have_is_bounded() -> None:
    scene = TradeScene()
    scene.foe("a straw man", coins=40)
    assert scene.one.types("/loot setcoin -1") == ["name an amount of copper, 0 for none"]
    assert scene.one.types("/loot list") == ["coins: 40 Copper"]
    scene.one.types("/loot setcoin 0")
    assert scene.one.types("/loot list") == [f"coins: {coins_text(0)}"]
    for _ in range(MOST_THINGS):
        scene.one.types(f"/loot additem {kinds.MARBLE}")
    assert scene.one.types(f"/loot additem {kinds.MARBLE}") == ["your target has too many things"]
    assert len(scene.one.types("/loot list")) == 1 + MOST_THINGS
    assert scene.one.types(f"/loot removeitem {kinds.MARBLE}") == ["your target has it no more"]
    assert len(scene.one.types("/loot list")) == 1


def test_a_kill_is_of_a_creature_or_of_oneself() -> None:
    scene = TradeScene()
    player = scene.one.player
    assert player is not None
    assert scene.one.types("/kill") == ["your target is no creature"]
    assert scene.one.types("/kill everybody") == ["kill takes nothing or the word self"]
    other = scene.enter(2)
    assert other.player is not None
    player.set_target(other.player.spawn)
    assert scene.one.types("/kill") == ["your target is no creature"]
    assert scene.one.types("/loot list") == ["your target is no living creature"]
    assert player.spawn.hp_percent == 100
    scene.one.types("/kill SELF")
    assert player.spawn.hp_percent == 0
