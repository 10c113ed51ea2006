"""Rows of merchants' windows: the difficulty of a thing's level, and lists that are too long."""

from __future__ import annotations

import pytest

from emu.items.kinds import ItemKind
from emu.world.items.shop_rows import row, send_rows
from tests.support.world.trade_scenes import TradeScene, player_of


@pytest.mark.parametrize(
    ("level", "difficulty"),
    [(0, 3), (20, 3), (21, 2), (25, 1), (30, 0), (15, 4), (5, 6)],
    ids=["any", "white", "yellow", "orange", "red", "blue", "grey"],
)
def test_a_level_has_the_color_of_an_enemy_of_that_level(level: int, difficulty: int) -> None:
    player = player_of(TradeScene(level=20).one)
    kind = ItemKind(5, "a cap", level=level)
    assert row(player, kind, 7, stack=1)["item_difficulty"] == difficulty


def test_a_client_without_the_merchant_is_sent_no_list() -> None:
    scene = TradeScene()
    spawn = scene.merchant()
    player = player_of(scene.one)
    kind = ItemKind(5, "a cap")
    send_rows(player, spawn, [row(player, kind, 7, stack=1)], 1)
    player.zone.remove(spawn, scene.harness.now)
    scene.harness.run(1.0)
    send_rows(player, spawn, [row(player, kind, 7, stack=1)], 1)
    assert len(scene.one.decoded("WS_UpdateMerchant")) == 1
