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


def test_a_refused_purchase_delays_nothing_and_makes_nothing() -> None:
    """A player without coins could keep a merchant from having anything again."""
    now = [0.0]
    stocks = Stocks(lambda: now[0])
    stocks.note_bought(SHOP, RING, 1)
    stocks.note_sold(SHOP)
    now[0] = RETURNS - 1.0
    stocks.note_bought(SHOP, RING, 1)
    stocks.note_bought(SHOP, RING, -1)
    assert stocks.left(SHOP, RING) == 1
    now[0] = RETURNS
    assert stocks.left(SHOP, RING) == 2
    stocks.note_bought(SHOP, RING, 1)
    now[0] = 3 * RETURNS
    stocks.note_bought(SHOP, RING, -1)
    assert stocks.left(SHOP, RING) == 2, "it was refused after everything had come back"


def test_merchants_that_are_gone_are_forgotten() -> None:
    now = [0.0]
    stocks = Stocks(lambda: now[0])
    stocks.note_bought(SHOP, RING, 1)
    now[0] = 2 * RETURNS
    other = Spawn(8, SpawnKind.NPC, "Odell", Position(0.0, 0.0, 0.0))
    stocks.note_bought(other, RING, 1)
    assert list(stocks._stocks) == [other.id]
