"""`Gifts`: what scripts and behaviors give to players and take from them.

Things and coins move by the ledger. What is given while a player buys, sells or trades comes
afterwards; what would be taken then stays. Coins of one player have one movement at a time: what
scripts give and take meanwhile is added up for the next one, and counts at once.
Source: docs/guides/lua.md#items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from emu.errors import StoreError
from emu.items.held import Where
from emu.items.inventory import BANKED
from emu.items.refusals import Refusal
from emu.ledger import MOST_COINS, Owner, OwnerKind, Part, Reason
from emu.world.actors.player import Player
from emu.world.items.items import Items

GIVER: Final = Owner(OwnerKind.SCRIPT)
MOST_MADE: Final = 10_000
WORN: Final = (Where.WORN, Where.APPEARANCE)


class Gifts:
    """Gives things and coins to players, takes them, and looks what they have."""

    def __init__(self, items: Items, counters: Counter[str]) -> None:
        """`counters` counts what could not be given."""
        self._items = items
        self._counters = counters

    def in_turn(self, player: Player, act: Callable[[], object]) -> None:
        """Carry out an act now, or after the exchange that a player is in."""
        self._items.in_turn(player, act, self._left_out)

    def _left_out(self) -> None:
        self._counters["things not given: too many acts wait"] += 1

    # -- things ---------------------------------------------------------------------------------

    def has(self, player: Player, item: int, number: int = 1, *, banked: bool = False) -> bool:
        """Return whether a player carries or wears so many things of a kind."""
        where = (Where.BAGS, *WORN, *(BANKED if banked else ()))
        return player.holdings.inventory.count_of(item, where) >= max(1, number)

    def give(self, player: Player, item: int, number: int = 1, *, in_bank: bool = False) -> bool:
        """Give a player new things; return False if it may not have them, and say why."""
        items, inventory = self._items, player.holdings.inventory
        kind = items.kinds.get(item)
        if kind is None or not 0 <= number <= MOST_MADE:
            return False
        count = kind.given_count(number)
        refused = inventory.refuses(kind, count)
        if refused is not None:
            items.refuse(player, refused)
            return False
        if in_bank and not inventory.has_bank_space(kind, count):
            return False
        make = items.make_in_bank if in_bank else items.make

        def act() -> None:
            try:
                made = make(player, kind, count, GIVER)
                if isinstance(made, Refusal):
                    self._counters["things not given: no place, or lore"] += 1
                else:
                    items.changed(player, [one.id for one in made] if in_bank else ())
            except StoreError:
                self._counters["things not given: the database does not answer"] += 1

        self.in_turn(player, act)
        return True

    def take_things(self, player: Player, item: int, number: int = 1) -> bool:
        """Take things out of a player's bags; return False, and take none, if there are too few."""
        # While an exchange is under way nobody can promise that the things stay.
        if player.holdings.gate.is_closed:
            return False
        if not self._items.take_things(player, item, max(1, number), GIVER):
            return False
        self._items.changed(player)
        return True

    # -- coins ----------------------------------------------------------------------------------

    def coins(self, player: Player) -> int:
        """Return what a player has with all that was given and taken, stored or not.

        What an own act is moving away, such as into the bank, is not there for a script.
        """
        holdings = player.holdings
        own = player.character.coins - holdings.coins_leaving
        return own + holdings.coins_moving + holdings.coins_due

    def give_coins(self, player: Player, copper: int) -> None:
        """Give a player coins."""
        player.holdings.coins_due += copper
        self._move_due(player)

    def take_coins(self, player: Player, copper: int) -> bool:
        """Take coins from a player; return False, and take none, if there are too few."""
        # As with things: what an exchange costs is not known before its end.
        if player.holdings.gate.is_closed or self.coins(player) < copper:
            return False
        player.holdings.coins_due -= copper
        self._move_due(player)
        return True

    def _move_due(self, player: Player) -> None:
        """Begin to move what is due, unless a movement is under way: its end does so."""
        if player.holdings.coins_due and not player.holdings.coins_moving:
            self._items.world.start(self._move(player))

    async def _move(self, player: Player) -> None:
        """Move what is due, and what becomes due meanwhile: each time in one transaction."""
        holdings, ledger = player.holdings, self._items.ledger
        # More than an owner can have is lost.
        while due := min(holdings.coins_due, MOST_COINS - player.character.coins):
            holdings.coins_due, holdings.coins_moving = 0, due
            owner = Owner.character(player.id)
            sides = (GIVER, owner) if due > 0 else (owner, GIVER)
            movement = ledger.movement(
                Reason.SCRIPT, [Part(*sides, abs(due))], [player.character.account_id]
            )
            try:
                moved = await ledger.settle(movement)
                if not moved.is_done:
                    self._counters["coins not moved: too few or too many"] += 1
            except StoreError:
                self._counters["coins not moved: the database does not answer"] += 1
            finally:
                holdings.coins_moving = 0
        holdings.coins_due = 0
