"""`Menders`: what players have made whole again.

Source: docs/protocol/world/trade.md, recorded in ../shared/data/recordings/items-546-deal.
"""

from __future__ import annotations

from typing import Final

from emu.errors import CommandError
from emu.items.held import FULL, Thing, Where
from emu.items.kinds import ItemKind, MoreFlag
from emu.ledger import Outcome, Owner, Reason
from emu.rules.coins import coins_text
from emu.rules.prices import repair_price
from emu.world.actors.client import send_text
from emu.world.actors.player import IN_ZONE, Player
from emu.world.events import Died
from emu.world.items.exchanges import Act, coins
from emu.world.items.items import Items
from emu.world.items.shop_rows import owner_of, row, send_rows
from emu.world.items.texts import RED, YELLOW, link, own_color
from emu.world.items.visits import Visit, Visits, Window
from emu.world.speech.spoken import play_sound

WINDOW: Final = 96
OLD_WINDOW: Final = 112
"""The type of the window up to 561."""
REPAIR_COLOR: Final = 80
THING_REPAIRED: Final = "You give {merchant} {price} to repair your {link}."
ALL_REPAIRED: Final = "You give {price} to repair all of your items."
REPAIRED: Final = "Repaired: {link}."
POOR: Final = "You do not have enough coin to repair {link}."
COMMAND: Final = "repair"
DEATH: Final = 10
"""Percent of condition that a death takes from each worn thing."""


class Menders:
    """The menders of one world, and what they repair: worn things suffer when their player dies."""

    def __init__(self, items: Items, visits: Visits) -> None:
        self._items = items
        self._visits = visits
        items.world.events.subscribe(Died, self._died)

    def _died(self, event: Died) -> None:
        player = self._items.world.players.of_spawn(event.victim)
        if player is not None:
            self._items.world.start(self._wear_down(player))

    async def _wear_down(self, player: Player) -> None:
        try:
            await player.holdings.gate.carry_out(lambda: self.wear_down(player, DEATH))
        except CommandError:
            self._items.world.count("things of the dead that stayed whole: too many acts wait")

    def wear_down(self, player: Player, percent: int) -> bool:
        """Take condition from all that a player wears; return whether something was damaged."""
        inventory = player.holdings.inventory
        worn = []
        for where in (Where.WORN, Where.APPEARANCE):
            for thing in inventory.in_list(where):
                is_kept = MoreFlag.NO_REPAIR in inventory.kind(thing).more_flags
                if thing.condition and not is_kept:
                    left = max(0, thing.condition - percent)
                    worn.append(inventory.set(thing, condition=left))
        if worn:
            self._items.changed(player)
            if player.is_online and player.state in IN_ZONE:
                for thing in worn:
                    self._items.send_window(player, thing)
        return bool(worn)

    def open(self, player: Player) -> None:
        """Open the window of the mender that a player has targeted."""
        visit = self._visits.begin(player, Window.MENDER, (COMMAND,))
        if visit is not None:
            self._send_damaged(player, visit)

    def _damaged(self, player: Player) -> list[tuple[Thing, ItemKind, int]]:
        """Return what is worn or carried and not whole, with the prices."""
        inventory = player.holdings.inventory
        found = []
        for where in (Where.WORN, Where.APPEARANCE, Where.BAGS):
            for thing in inventory.in_list(where):
                kind = inventory.kind(thing)
                if thing.condition < FULL and MoreFlag.NO_REPAIR not in kind.more_flags:
                    price = repair_price(kind.level, kind.tier, thing.condition)
                    found.append((thing, kind, price))
        return found

    def _send_damaged(self, player: Player, visit: Visit) -> None:
        rows = [
            row(player, kind, price, stack=1, description=kind.description)
            for _, kind, price in self._damaged(player)
        ]
        is_older = player.client.dialect.world_rules.older_windows
        send_rows(player, visit.spawn, rows, OLD_WINDOW if is_older else WINDOW)

    async def repair(self, player: Player, item_id: int | None = None) -> None:
        """Have a thing of a kind repaired, or all of them. Raises `StoreError`, `CommandError`."""
        visit = self._visits.of(player, Window.MENDER)
        if visit is None:
            return
        damaged = self._damaged(player)
        chosen = [one for one in damaged if item_id is None or one[1].id == item_id]
        if item_id is not None:
            chosen = chosen[:1]
        if not chosen:
            return
        price = sum(price for _, _, price in chosen)
        inventory = player.holdings.inventory

        def act() -> Act | None:
            present = [(inventory.get(thing.id), thing) for thing, _, _ in chosen]
            if any(now is None or now.condition != then.condition for now, then in present):
                return None
            for now, _ in present:
                if now is not None:
                    inventory.set(now, condition=FULL)
            return Act([coins(Owner.character(player.id), owner_of(visit.spawn), price)])

        outcome = await self._items.exchange(Reason.THING_REPAIRED, [player], act)
        if outcome is Outcome.TOO_FEW:
            name = link(chosen[0][1], player.client.version)
            send_text(player.client, POOR.format(link=name), RED)
            play_sound([player], "buy_failed")
        if outcome is Outcome.DONE:
            self._repaired(player, visit, chosen, is_one=item_id is not None)

    def _repaired(
        self,
        player: Player,
        visit: Visit,
        chosen: list[tuple[Thing, ItemKind, int]],
        *,
        is_one: bool,
    ) -> None:
        """Show a player what is whole again, and what it has paid."""
        text = (THING_REPAIRED if is_one else ALL_REPAIRED).format(
            merchant=visit.spawn.name, link=link(chosen[0][1], player.client.version),
            price=coins_text(sum(price for _, _, price in chosen)),
        )  # fmt: skip
        color = own_color(player.client, REPAIR_COLOR)
        # In the recorded order.
        if is_one:
            self._items.changed(player)
            self._show_whole(player, chosen)
            send_text(player.client, text, color)
        else:
            send_text(player.client, text, color)
            self._show_whole(player, chosen, is_said=True)
            self._items.changed(player)
        play_sound([player], "coin_cha_ching")
        self._send_damaged(player, visit)

    def _show_whole(
        self,
        player: Player,
        chosen: list[tuple[Thing, ItemKind, int]],
        *,
        is_said: bool = False,
    ) -> None:
        for thing, kind, _ in chosen:
            whole = player.holdings.inventory.get(thing.id)
            if whole is not None:
                self._items.send_window(player, whole)
            if is_said:
                name = link(kind, player.client.version)
                send_text(player.client, REPAIRED.format(link=name), YELLOW)
