"""What merchants have only some of."""

from __future__ import annotations

from emu.content.trade import Ware
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.items.stocks import RETURNS, Stocks
from emu.world_stream.movement import Position

SHOP = Spawn(7, SpawnKind.NPC, "Odell", Position(0.0, 0.0, 0.0))
RING, PEBBLE = Ware(1, 2, 0, 0, ()), Ware(2, None, 0, 0, ())


def test_what_is_bought_up_returns() -> None:
    now = [0.0]
    stocks = Stocks(lambda: now[0])
    assert (stocks.left(SHOP, RING), stocks.left(SHOP, PEBBLE)) == (2, None)
    assert stocks.is_full(SHOP)
    stocks.note_bought(SHOP, RING, 2)
    assert (stocks.left(SHOP, RING), stocks.is_full(SHOP)) == (0, False)
    stocks.note_bought(SHOP, RING, -1)
    assert stocks.left(SHOP, RING) == 1
    now[0] = RETURNS
    assert (stocks.left(SHOP, RING), stocks.is_full(SHOP)) == (2, True)
