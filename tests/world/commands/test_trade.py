"""The numbers that windows of merchants and trades send."""

from __future__ import annotations

import pytest

from emu.commands import Call, Caller
from emu.world.commands.trade import numbers_of
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
