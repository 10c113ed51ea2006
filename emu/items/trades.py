"""`PlayerTrade`: what two players offer each other, and whether they have accepted it.

Any change takes both acceptances back. What is accepted cannot change before it is carried out.

Source: docs/protocol/world/trade.md#players.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from itertools import count
from typing import Final, NamedTuple

from emu.items.held import Thing, Where
from emu.items.inventory import Inventory
from emu.items.kinds import Flag, MoreFlag

FEW_PLACES, PLACES = 6, 12
"""Places for things on each side if one of the clients is old, and otherwise."""


class TradeRefusal(enum.Enum):
    """Why a change of an offer is refused."""

    SILENT = enum.auto()
    NO_TRADE = enum.auto()
    HEIRLOOM = enum.auto()
    OFFERED_ALREADY = enum.auto()
    TOO_FEW = enum.auto()
    OLD_CLIENT = enum.auto()
    """The place is one that the older of the clients does not have."""


class Offered(NamedTuple):
    """A thing that somebody offers, by its number, and how many of it."""

    thing: int
    amount: int


@dataclass(slots=True)
class Side:
    """What one player offers."""

    player: int
    things: dict[int, Offered] = field(default_factory=dict)
    """By the place in the window."""
    coins: dict[str, int] = field(default_factory=dict)
    """By the name of the coin."""
    has_accepted: bool = False

    @property
    def copper(self) -> int:
        """All its coins, in copper."""
        return sum(WORTHS[name] * count for name, count in self.coins.items())


WORTHS: Final = {"copper": 1, "silver": 100, "gold": 10_000, "plat": 1_000_000}
"""Copper of a coin, as clients name it."""


class PlayerTrade:
    """A trade of two players."""

    def __init__(self, one: int, two: int, places: int) -> None:
        """`places` is how many things each may offer."""
        self.places = places
        self.sides = {one: Side(one), two: Side(two)}
        self.is_closing = False
        """Whether it is carried out now."""

    def side(self, player: int) -> Side:
        """Return the side of a player."""
        return self.sides[player]

    def other(self, player: int) -> Side:
        """Return the side of the other player."""
        return next(side for number, side in self.sides.items() if number != player)

    def changed(self) -> None:
        """Take both acceptances back."""
        for side in self.sides.values():
            side.has_accepted = False

    def offer(  # noqa: PLR0911  # one return for each refusal
        self, player: int, inventory: Inventory, thing: Thing | None, slot: int, count: int
    ) -> TradeRefusal | None:
        """Offer a thing, or so many of a stack, in a place of the window."""
        if thing is None or thing.place.where is not Where.BAGS or self.is_closing or slot < 0:
            return TradeRefusal.SILENT
        kind, side = inventory.kind(thing), self.sides[player]
        if slot >= self.places:
            return TradeRefusal.OLD_CLIENT if slot < PLACES else TradeRefusal.SILENT
        if thing.is_attuned or Flag.NO_TRADE in kind.flags:
            return TradeRefusal.NO_TRADE
        if MoreFlag.HEIRLOOM in kind.more_flags:
            return TradeRefusal.HEIRLOOM
        if any(one.thing == thing.id for one in side.things.values()):
            return TradeRefusal.OFFERED_ALREADY
        if count > (thing.count if kind.is_stackable else 1):
            return TradeRefusal.TOO_FEW
        if count <= 0 or slot in side.things or thing.id in inventory.locked:
            return TradeRefusal.SILENT
        if inventory.inside(thing):
            return TradeRefusal.SILENT
        # The charges of a thing are its count: they go with it.
        side.things[slot] = Offered(thing.id, count if kind.is_stackable else thing.count)
        inventory.locked.add(thing.id)
        self.changed()
        return None

    def take_back(self, player: int, inventory: Inventory, slot: int) -> bool:
        """Take an offered thing back; return whether there was one."""
        if self.is_closing:
            return False
        found = self.sides[player].things.pop(slot, None)
        if found is None:
            return False
        inventory.locked.discard(found.thing)
        self.changed()
        return True

    def add_coins(self, player: int, coin: str, count: int, purse: int) -> bool:
        """Offer more coins; return False if the player does not have so many."""
        side = self.sides[player]
        if self.is_closing or count <= 0 or side.copper + WORTHS[coin] * count > purse:
            return False
        side.coins[coin] = side.coins.get(coin, 0) + count
        self.changed()
        return True

    def remove_coins(self, player: int, coin: str, count: int) -> bool:
        """Offer less coins; return False if not so many are offered."""
        side = self.sides[player]
        if self.is_closing or not 0 < count <= side.coins.get(coin, 0):
            return False
        side.coins[coin] -= count
        self.changed()
        return True

    def accept(self, player: int) -> bool:
        """Accept what both offer; return whether both have accepted it now."""
        self.sides[player].has_accepted = True
        self.is_closing = all(side.has_accepted for side in self.sides.values())
        return self.is_closing

    def end(self, player: int, inventory: Inventory) -> None:
        """Unlock what a player offers."""
        for offered in self.sides[player].things.values():
            inventory.locked.discard(offered.thing)


def fits(giver: Inventory, taker: Inventory, given: Side, taken: Side) -> bool:
    """Return whether a player has places for what it gets, after what it gives is gone."""
    trial = taker.copy()
    before, numbers = len(trial.waiting()), count(-1, -1)
    for offered in taken.things.values():
        thing = trial.get(offered.thing)
        if thing is not None:
            trial.use_up(thing, offered.amount)
    for offered in given.things.values():
        thing = giver.get(offered.thing)
        if thing is not None:
            kind = giver.kind(thing)
            if trial.refuses(kind, offered.amount) is not None:
                return False
            trial.add_things(kind, offered.amount, numbers.__next__)
    return len(trial.waiting()) == before
