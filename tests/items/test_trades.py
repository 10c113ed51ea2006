"""Offers of two players: what may be offered, and that any change takes acceptances back."""

from __future__ import annotations

from itertools import count

import pytest

from emu.items.inventory import Inventory
from emu.items.kinds import Flag, ItemKind, MoreFlag
from emu.items.trades import FEW_PLACES, PlayerTrade, TradeRefusal, fits

STACK = ItemKind(1, "a pebble", stack=20)
SINGLE = ItemKind(2, "a cap")
SWORN = ItemKind(3, "a token", flags=Flag.NO_TRADE)
HEIRLOOM = ItemKind(4, "a thimble", more_flags=MoreFlag.HEIRLOOM)


class Pair:
    """Two players with things, and their trade."""

    def __init__(self) -> None:
        numbers = count(100)
        self.new = lambda: next(numbers)
        self.one, self.two = Inventory((), {}), Inventory((), {})
        self.trade = PlayerTrade(1, 2, FEW_PLACES)

    def gets(self, kind: ItemKind, amount: int = 1) -> int:
        return self.one.add_things(kind, amount, self.new)[0].id

    def offers(self, number: int, slot: int = 0, amount: int = 1) -> TradeRefusal | None:
        return self.trade.offer(1, self.one, self.one.get(number), slot, amount)


@pytest.mark.parametrize(
    ("kind", "slot", "amount", "refused"),
    [
        (SINGLE, 0, 1, None),
        (SINGLE, 0, 2, TradeRefusal.TOO_FEW),
        (SINGLE, 6, 1, TradeRefusal.OLD_CLIENT),
        (SINGLE, 12, 1, TradeRefusal.SILENT),
        (SINGLE, -1, 1, TradeRefusal.SILENT),
        (SINGLE, 0, 0, TradeRefusal.SILENT),
        (SINGLE, 0, -1, TradeRefusal.SILENT),
        (SWORN, 0, 1, TradeRefusal.NO_TRADE),
        (HEIRLOOM, 0, 1, TradeRefusal.HEIRLOOM),
    ],
)
def test_what_may_be_offered(
    kind: ItemKind, slot: int, amount: int, refused: TradeRefusal | None
) -> None:
    pair = Pair()
    assert pair.offers(pair.gets(kind), slot, amount) is refused
    assert bool(pair.trade.side(1).things) is (refused is None)


def test_what_is_offered_cannot_be_offered_twice_or_used_otherwise() -> None:
    pair = Pair()
    number = pair.gets(STACK, 5)
    assert pair.offers(number, 0, 2) is None
    assert pair.offers(number, 1, 2) is TradeRefusal.OFFERED_ALREADY
    assert not pair.one.take_things(STACK.id, 1)
    assert pair.trade.take_back(1, pair.one, 0)
    assert pair.one.take_things(STACK.id, 1)


@pytest.mark.parametrize("change", ["offer", "take back", "add", "remove"])
def test_any_change_takes_both_acceptances_back(change: str) -> None:
    pair = Pair()
    first, second = pair.gets(SINGLE), pair.gets(SINGLE)
    pair.offers(first)
    pair.trade.add_coins(1, "silver", 2, 1000)
    assert not pair.trade.accept(2)
    if change == "offer":
        pair.offers(second, 1)
    elif change == "take back":
        pair.trade.take_back(1, pair.one, 0)
    elif change == "add":
        pair.trade.add_coins(1, "copper", 1, 1000)
    else:
        pair.trade.remove_coins(1, "silver", 1)
    assert not pair.trade.side(2).has_accepted
    assert not pair.trade.accept(1)
    assert pair.trade.accept(2)


def test_nothing_changes_while_it_is_carried_out() -> None:
    pair = Pair()
    number = pair.gets(SINGLE)
    pair.trade.accept(1)
    assert pair.trade.accept(2)
    assert pair.offers(number) is TradeRefusal.SILENT
    assert not pair.trade.add_coins(1, "copper", 1, 1000)
    assert not pair.trade.remove_coins(1, "copper", 1)


@pytest.mark.parametrize(
    ("coin", "amount", "is_added"),
    [("copper", 250, True), ("copper", 251, False), ("silver", 3, False), ("plat", 2**32, False),
     ("copper", 0, False), ("copper", -1, False)],
)  # fmt: skip
def test_nobody_offers_more_coins_than_it_has(coin: str, amount: int, is_added: bool) -> None:
    pair = Pair()
    assert pair.trade.add_coins(1, coin, amount, 250) is is_added
    assert pair.trade.side(1).copper == (250 if is_added else 0)


def test_places_are_counted_after_what_is_given_is_gone() -> None:
    pair = Pair()
    for _ in range(6):
        pair.two.add_things(SINGLE, 1, pair.new)
    pair.offers(pair.gets(SINGLE))
    given, taken = pair.trade.side(1), pair.trade.side(2)
    assert not fits(pair.one, pair.two, given, taken)
    thing = next(iter(pair.two))
    assert pair.trade.offer(2, pair.two, thing, 0, 1) is None
    assert fits(pair.one, pair.two, given, taken)
