"""`Trades`: trades of players, and their window.

A trade is carried out as one movement over both characters. It ends when one of the players closes
the window, leaves the zone, loses its client, or has traded.

Source: docs/protocol/world/trade.md#players, recorded in ../shared/data/recordings/items-*-deal and
items-546-561-two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from emu.errors import CommandError, StoreError
from emu.items.held import Thing
from emu.items.kinds import ItemKind
from emu.items.trades import FEW_PLACES, PLACES, PlayerTrade, Side, TradeRefusal, fits
from emu.ledger import Outcome, Owner, Part, Reason
from emu.world.actors.client import ERROR_COLOR, send_text
from emu.world.actors.options import Option
from emu.world.actors.player import IN_ZONE, Player, Relation
from emu.world.actors.spawn import TOO_FAR
from emu.world.item_events import WindowsGone
from emu.world.items.exchanges import Act, coins, things
from emu.world.items.items import Items
from emu.world.items.texts import RED, YELLOW

STRUCT: Final = "WS_PlayerTrade"
OPEN, CANCELLED, ACCEPTED, DONE = 1, 2, 16, 24
"""Types of the window's messages."""
REACH: Final = 30.0
"""How far from each other two players may trade."""
SELF: Final = "You can't trade with yourself."
NOBODY: Final = "Unable to find target"
TRADING: Final = "You are already trading."
OTHER_TRADES: Final = "Your target is already trading."
NOT_TRADING: Final = "You are not currently trading."
DECLINES: Final = "{name} declines trades."
NO_SPACE: Final = "You do not have any free slots."
OTHER_HAS_NO_SPACE: Final = "{name} does not have enough free slots."
NOT_STORED: Final = "The trade cannot be carried out now; try again."
_TEXTS: Final[Mapping[TradeRefusal, str]] = {
    TradeRefusal.NO_TRADE: "You can't trade NO-TRADE items.",
    TradeRefusal.HEIRLOOM: "You can't trade HEIRLOOM items.",
    TradeRefusal.OFFERED_ALREADY: "Item is already being traded.",
    TradeRefusal.TOO_FEW: "You do not have enough quantity...",
    TradeRefusal.OLD_CLIENT: (
        "You are trading with an older client with a 6 trade slot restriction..."
    ),
}
_SHOWN_AFTER: Final = (
    TradeRefusal.NO_TRADE, TradeRefusal.HEIRLOOM, TradeRefusal.OFFERED_ALREADY,
)  # fmt: skip
"""Refusals after which the window is sent again, as recorded."""


class Trades:
    """The trades of one world."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._world = items.world
        self._trades: dict[int, PlayerTrade] = {}
        """By each of the two players."""
        self._world.events.subscribe(WindowsGone, lambda event: self.cancel(event.player))

    def start(self, player: Player, index: int) -> None:
        """Open the window with the player whose ghost has an index at the client."""
        viewer = player.viewer
        spawn = viewer.interest.spawn_at(index) if viewer is not None else None
        other = self._world.players.of_spawn(spawn)
        refused = self._refusal(player, other)
        if refused is not None or other is None:
            send_text(player.client, refused or NOBODY, YELLOW)
            return
        if player.position.distance_to(other.position) > REACH:
            send_text(player.client, TOO_FAR, ERROR_COLOR)
            return
        is_old = any(one.client.dialect.world_rules.older_windows for one in (player, other))
        trade = PlayerTrade(player.id, other.id, FEW_PLACES if is_old else PLACES)
        self._trades[player.id] = self._trades[other.id] = trade
        self._show(trade)

    def _refusal(self, player: Player, other: Player | None) -> str | None:
        if other is player:
            return SELF
        if other is None or not other.is_online or other.state not in IN_ZONE:
            return NOBODY
        if player.id in self._trades:
            return TRADING
        if other.id in self._trades:
            return OTHER_TRADES
        # Who ignores somebody is not there for trades either.
        if other.relations.knows(Relation.IGNORED, player.name):
            return NOBODY
        return DECLINES.format(name=other.name) if Option.DECLINE_TRADES in other.options else None

    def _trade(self, player: Player) -> PlayerTrade | None:
        """Return the trade of a player; say that there is none."""
        trade = self._trades.get(player.id)
        if trade is None:
            send_text(player.client, NOT_TRADING, YELLOW)
        return trade

    # -- offers -----------------------------------------------------------------------------------

    def add_item(self, player: Player, place: int, slot: int, count: int) -> None:
        """Offer the thing whose record stands at a place of the client's list."""
        trade = self._trade(player)
        if trade is None:
            return
        inventory = player.holdings.inventory
        number = player.session.items.number_at(place)
        thing = inventory.get(number) if number is not None else None
        refused = trade.offer(player.id, inventory, thing, slot, count)
        if refused is None or refused in _SHOWN_AFTER:
            self._show(trade)
        if refused is not None and refused in _TEXTS:
            send_text(player.client, _TEXTS[refused], YELLOW)

    def remove_item(self, player: Player, slot: int) -> None:
        """Take an offered thing back."""
        trade = self._trade(player)
        if trade is not None and trade.take_back(player.id, player.holdings.inventory, slot):
            self._show(trade)

    def add_coins(self, player: Player, coin: str, count: int) -> None:
        """Offer more coins of a kind."""
        trade = self._trade(player)
        if trade is not None:
            trade.add_coins(player.id, coin, count, player.character.coins)
            self._show(trade)

    def remove_coins(self, player: Player, coin: str, count: int) -> None:
        """Offer less coins of a kind."""
        trade = self._trade(player)
        if trade is not None:
            trade.remove_coins(player.id, coin, count)
            self._show(trade)

    # -- the end ----------------------------------------------------------------------------------

    def cancel(self, player: Player) -> None:
        """End the trade of a player, if it has one; the other one is sent the end."""
        trade = self._trades.get(player.id)
        # What is carried out already ends by itself.
        if trade is None or trade.is_closing:
            return
        self._end(trade)
        other = self._world.players.get(trade.other(player.id).player)
        if other is not None:
            self._send(other, trade, CANCELLED, player)

    def _end(self, trade: PlayerTrade) -> None:
        for number in trade.sides:
            self._trades.pop(number, None)
            player = self._world.players.get(number)
            if player is not None:
                trade.end(number, player.holdings.inventory)

    async def accept(self, player: Player) -> None:
        """Accept what both offer; carry it out if the other player has accepted it as well."""
        trade = self._trade(player)
        if trade is None or trade.is_closing:
            return
        other = self._world.players.get(trade.other(player.id).player)
        if other is None:
            self._end(trade)
            return
        if player.position.distance_to(other.position) > REACH:
            send_text(player.client, TOO_FAR, ERROR_COLOR)
            return
        is_agreed = trade.accept(player.id)
        self._send(other, trade, ACCEPTED, player)
        if is_agreed:
            await self._carry_out(trade, player, other)

    async def _carry_out(self, trade: PlayerTrade, one: Player, two: Player) -> None:
        deal = _Deal(self._items, trade, one, two)
        outcome, was_stored = None, True
        try:
            outcome = await self._items.exchange(Reason.TRADED, [one, two], deal.act)
        except (StoreError, CommandError):
            was_stored = False
        trade.is_closing = False
        if outcome is not Outcome.DONE:
            trade.changed()
            if not was_stored:
                for player in (one, two):
                    send_text(player.client, NOT_STORED, RED)
            self._full(deal, one, two)
            if self._is_over(one) or self._is_over(two):
                self.cancel(one)
            else:
                self._show(trade)
            return
        self._end(trade)
        for player, other in ((one, two), (two, one)):
            self._items.changed(player)
            self._send(player, trade, DONE, other)
        for player, made in deal.made:
            self._items.obtained(player, made)
        for giver, taker, kind, count in deal.moved:
            self._items.traded(giver, taker.spawn, kind, -count)
            self._items.traded(taker, giver.spawn, kind, count)

    def _full(self, deal: _Deal, one: Player, two: Player) -> None:
        for player, other in ((one, two), (two, one)):
            if player in deal.full:
                send_text(player.client, NO_SPACE, RED)
                send_text(other.client, OTHER_HAS_NO_SPACE.format(name=player.name), RED)

    def _is_over(self, player: Player) -> bool:
        """Return whether a player has left while the trade was carried out."""
        return self._world.players.get(player.id) is not player or player.state not in IN_ZONE

    # -- the window -------------------------------------------------------------------------------

    def _show(self, trade: PlayerTrade) -> None:
        """Send both players what they offer."""
        players = [self._world.players.get(number) for number in trade.sides]
        for player, other in (players, players[::-1]):
            if player is not None and other is not None:
                fields = _fields("your", trade.side(player.id), player)
                fields |= _fields("their", trade.side(other.id), other)
                self._send(player, trade, OPEN, other, fields)

    def _send(
        self,
        player: Player,
        _trade: PlayerTrade,
        kind: int,
        other: Player,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        index = player.index_of(other.spawn)
        if player.is_online and player.state in IN_ZONE:
            player.client.send(STRUCT, {"spawn_id": index or 0, "type": kind, **(fields or {})})


def _fields(whose: str, side: Side, player: Player) -> dict[str, Any]:
    inventory = player.holdings.inventory
    rows = []
    for slot, offered in sorted(side.things.items()):
        thing = inventory.get(offered.thing)
        if thing is not None:
            kind = inventory.kind(thing)
            rows.append(
                {
                    "unknown1": 1, "unknown2": 1, "item_name": kind.name, "item_id": kind.id,
                    "item_slot": slot,
                    "item_quantity": offered.amount if kind.is_stackable else 1,
                    "item_icon": kind.icon, "item_background": _background(kind.tier),
                }
            )  # fmt: skip
    found: dict[str, Any] = {f"{whose}_item_count": len(rows), f"{whose}_item_array": rows}
    return found | {f"{whose}_{coin}": count for coin, count in side.coins.items()}


def _background(tier: int) -> int:
    """Return the color behind the icon; that of common things is 0."""
    return tier if tier > 1 else 0


class _Deal:
    """What is moved when both have accepted."""

    def __init__(self, items: Items, trade: PlayerTrade, one: Player, two: Player) -> None:
        self._items = items
        self._trade = trade
        self._pairs = ((one, two), (two, one))
        self.full: list[Player] = []
        """Who has no places for what it gets."""
        self.made: list[tuple[Player, list[Thing]]] = []
        self.moved: list[tuple[Player, Player, ItemKind, int]] = []
        """Giver, taker, kind and number of everything."""

    def act(self) -> Act | None:
        """Move all things; the coins follow with the parts."""
        trade = self._trade
        for giver, _ in self._pairs:
            inventory = giver.holdings.inventory
            for offered in trade.side(giver.id).things.values():
                thing = inventory.get(offered.thing)
                if thing is None or thing.count < offered.amount:
                    return None
        for giver, taker in self._pairs:
            given, taken = trade.side(giver.id), trade.side(taker.id)
            if not fits(giver.holdings.inventory, taker.holdings.inventory, given, taken):
                self.full.append(taker)
        if self.full:
            return None
        parts: list[Part] = []
        lots = [(taker, self._take(giver, taker, parts)) for giver, taker in self._pairs]
        for taker, lot in lots:
            self.made.append((taker, [made for one in lot for made in self._give(taker, *one)]))
        return Act(parts)

    def _take(self, giver: Player, taker: Player, parts: list[Part]) -> list[tuple[Thing, Any]]:
        """Take what a player offers; return it with the kinds."""
        inventory, side = giver.holdings.inventory, self._trade.side(giver.id)
        mine, theirs = Owner.character(giver.id), Owner.character(taker.id)
        lot = []
        for offered in side.things.values():
            thing = inventory.get(offered.thing)
            if thing is None:
                continue
            kind, amount = inventory.kind(thing), offered.amount
            is_whole = amount == thing.count
            inventory.locked.discard(thing.id)
            inventory.use_up(thing, amount)
            number = thing.id if is_whole else self._items.new_number()
            lot.append((replace(thing, id=number, count=amount), kind))
            parts.append(things(mine, theirs, kind.id, amount))
            self.moved.append((giver, taker, kind, amount))
        if side.copper:
            parts.append(coins(mine, theirs, side.copper))
        return lot

    def _give(self, taker: Player, thing: Thing, kind: Any) -> list[Thing]:
        inventory = taker.holdings.inventory
        if not kind.is_stackable:
            return [inventory.accept(thing, kind)]
        return inventory.add_things(kind, thing.count, self._items.numbers_from(thing.id), thing)
