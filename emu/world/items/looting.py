"""`Looting`: the window of a body or a chest, and what players take out of it.

Source: docs/protocol/world/trade.md#loot, recorded in ../shared/data/recordings/items-*-deal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from emu.errors import CommandError, StoreError
from emu.items.held import FULL, Place, Thing, Where
from emu.items.inventory import Inventory
from emu.items.refusals import Refusal, Why
from emu.items.remains import Choice, LootMethod, Lot, Remains, drawn_among
from emu.ledger import Outcome, Owner, OwnerKind, Part, Reason
from emu.rules.coins import coins_text, share_of
from emu.times import Monotonic
from emu.world.actors.client import ERROR_COLOR, send_text
from emu.world.actors.player import IN_ZONE, Player, refuses_dead
from emu.world.actors.reach import SLACK
from emu.world.actors.spawn import TOO_FAR, Spawn
from emu.world.item_events import Looted
from emu.world.items.exchanges import Act, things
from emu.world.items.items import Items
from emu.world.items.loot import Loots
from emu.world.items.texts import YELLOW, link, own_color
from emu.world.items.windows import ItemWindow
from emu.world.messages import WorldMessages
from emu.world.zones.zone import Zone

STRUCT: Final = "WS_UpdateLoot"
REQUEST: Final = "OP_LootItemsRequestMsg"
TIME: Final = 120.0
"""Seconds that the window counts down, and after which lots are drawn."""
SHARE_COLOR, LOOT_COLOR = 74, 75
NO_ID: Final = 0xFFFFFFFFFFFFFFFF
PACKET_TYPE: Final = 1
NOT_DEAD: Final = "Your target is not dead."
NOT_ALLOWED: Final = "You are not allowed to loot at this time."
COINS: Final = "You loot {coins} from the corpse of {name}"
THING: Final = "You loot {link} from the corpse of {name}"
SHARE: Final = "Your share is {coins}."
WON: Final = "{name} wins {link}."
ALL_DECLINED: Final = "Nobody wants {link}."
DICE: Final = 100


LOOT_WINDOW: Final = 4
"""The window of loot, which clients from 562 on are made to close (recorded in fight-*-melee-a)."""


class Looting:
    """What players do with bodies and chests."""

    def __init__(self, items: Items, loots: Loots, roll: Callable[[int], int]) -> None:
        """`roll` returns a random number from 0 to one below its argument."""
        self._items = items
        self._world = items.world
        self._loots = loots
        self._roll = roll
        self._lotteries = items.world.timetable.deadlines("lots for loot", self._draw)

    def register(self, messages: WorldMessages) -> None:
        """Add the request of clients for what they loot."""
        messages.add_handler(REQUEST, self._asked, IN_ZONE)

    # -- the window -------------------------------------------------------------------------------

    async def open(self, player: Player) -> None:
        """Open the body or chest that a player has targeted. Raises `StoreError`."""
        if player.target is not None:
            await self.open_at(player, player.target)

    async def open_at(self, player: Player, spawn: Spawn) -> None:
        """Open a body or chest, and take its coins. Raises `StoreError`."""
        if player.index_of(spawn) is None or not self._may_open(player, spawn):
            return
        now = self._world.clock.now()
        remains = self._loots.of(spawn, player.id)
        remains = remains or Remains(0, [], frozenset((player.id,)), now)
        for viewer, index in self._loots.watchers(player.zone, spawn):
            fields = {"spawn_id": index, "state": self._loots.state_of(spawn)}
            viewer.client.send("WS_StateCmd", fields)
        if remains.decides_at is None:
            remains.decides_at = now + TIME
            if remains.draws_lots:
                self._lotteries.set(player.zone, spawn, Monotonic(now + TIME))
        await self._take_coins(player, spawn, remains)
        remains.openers.add(player.id)
        self._send(player, spawn, remains)
        if remains.draws_lots and remains.lots:
            for other in self._others(player, remains):
                remains.openers.add(other.id)
                self._send(other, spawn, remains)
        elif not player.client.dialect.has(STRUCT):  # 373 has no layout of the window
            # Without a window nobody can choose: who opens it wants what is in it.
            await self._take(player, spawn, remains, remains.lots_for(player.id, now))
            return
        if remains.is_empty:
            self._emptied(player.zone, spawn, remains)

    def reach_in(self, zone: Zone) -> float:
        """Return from how far players loot in a zone."""
        return self._world.rules.in_zone(zone.zone_id).loot_reach

    def _may_open(self, player: Player, spawn: Spawn) -> bool:
        """Return whether a player may open a body or a chest now; say why not."""
        if refuses_dead(player):
            return False
        remains = self._loots.of(spawn, player.id)
        if remains is None and not self._loots.is_emptied(spawn):
            if spawn.is_living and spawn is not player.spawn:
                send_text(player.client, NOT_DEAD, YELLOW)
            return False
        if player.position.distance_to(spawn.position) > self.reach_in(player.zone):
            send_text(player.client, TOO_FAR, ERROR_COLOR)
            return False
        if remains is not None and not remains.may_loot(player.id, self._world.clock.now()):
            send_text(player.client, NOT_ALLOWED, YELLOW)
            return False
        return True

    def _others(self, player: Player, remains: Remains) -> list[Player]:
        """Return the others who may loot and are in the zone."""
        found = (self._world.players.get(one) for one in remains.entitled if one != player.id)
        return [one for one in found if one is not None and one.zone is player.zone]

    def _send(self, player: Player, spawn: Spawn, remains: Remains) -> None:
        index = player.index_of(spawn)
        if index is None or not player.is_online or not player.client.dialect.has(STRUCT):
            return
        now = self._world.clock.now()
        shown = remains.lots_for(player.id, now)
        if remains.draws_lots:
            shown += [
                one for one in remains.lots
                if not (one.is_taken or one.owner or one.is_unwanted)
                and player.id not in one.answers
            ]  # fmt: skip
        seconds = max(0, round((remains.decides_at or now + TIME) - now))
        fields = {
            "loot_count": len(shown),
            "loot_array": [self._row(player, one) for one in shown],
            "display": int(bool(shown)),
            "loot_type": int(remains.method if len(remains.entitled) > 1 else LootMethod.FREE),
            "lotto_timeout": min(seconds, int(TIME)),
            "spawn_id": index,
        }
        player.client.send(STRUCT, fields)

    def _row(self, player: Player, lot: Lot) -> dict[str, Any]:
        kind = lot.kind
        thing = Thing(0, kind.id, Place(Where.HELD, 0, 0), lot.count, FULL)
        window = ItemWindow(player.client.version, kind, thing, Inventory((), {kind.id: kind}))
        return {
            "loot_id": kind.id,
            "count": min(lot.count, 0xFF) if kind.is_stackable else 1,
            "packettype": PACKET_TYPE,
            "info": window.info() | {"broker_item_id": NO_ID},
            "item_type": 0,
            "name": kind.name,
            "description": kind.description,
            "footer": window.footer(),
        }

    def _emptied(self, zone: Zone, spawn: Spawn, remains: Remains) -> None:
        """Close the windows of what is empty, and let it go."""
        for number in remains.openers:
            player = self._world.players.get(number)
            index = player.index_of(spawn) if player is not None and player.zone is zone else None
            if player is not None and index is not None:
                if not player.client.dialect.world_rules.older_windows:
                    player.client.send("WS_CloseWindow", {"window_id": LOOT_WINDOW})
                player.client.send("WS_StoppedLooting", {"spawn_id": index})
        remains.openers.clear()
        # Without remains of its own nothing was there: a body goes when its time comes.
        if self._loots.forget(spawn, remains):
            self._loots.go(zone, spawn)

    # -- coins ------------------------------------------------------------------------------------

    async def _take_coins(self, player: Player, spawn: Spawn, remains: Remains) -> None:
        """Give the coins to whoever opens the body, or to the group in equal shares."""
        copper, remains.coins = remains.coins, 0
        if not copper:
            return
        takers = [player]
        if self._loots.splits_coins(player):
            takers += self._others(player, remains)
        share = share_of(copper, len(takers))
        giver, rest = _owner(spawn), copper % len(takers)
        parts = [
            Part(giver, Owner.character(one.id), share + (rest if one is player else 0))
            for one in takers
        ]
        ledger = self._items.ledger
        movement = ledger.movement(
            Reason.LOOTED, [part for part in parts if part.amount],
            [one.character.account_id for one in takers],
        )  # fmt: skip
        is_done, remains.is_paying = False, True
        try:
            is_done = (await ledger.move(movement)).is_done
        finally:
            remains.is_paying = False
            if not is_done:
                remains.coins += copper
        if not is_done:
            return
        text = COINS.format(coins=coins_text(copper), name=spawn.name)
        send_text(player.client, text, own_color(player.client, LOOT_COLOR))
        if share and len(takers) > 1:
            for one in takers:
                text = SHARE.format(coins=coins_text(share))
                send_text(one.client, text, own_color(one.client, SHARE_COLOR))

    # -- things -----------------------------------------------------------------------------------

    def _asked(self, player: Player, body: bytes, now: Monotonic) -> None:
        """Handle what a client wants of a window. Raises `MalformedMessage`."""
        layout = player.client.dialect.layout("WS_LootItem")
        fields, _ = layout.decode_prefix(body)
        viewer = player.viewer
        spawn = viewer.interest.spawn_at(fields["loot_id"]) if viewer is not None else None
        remains = self._loots.of(spawn, player.id) if spawn is not None else None
        if spawn is None or remains is None or player.id not in remains.openers:
            self._world.count("loot of a window that is not open")
            return
        if player.position.distance_to(spawn.position) > self.reach_in(player.zone) + SLACK:
            send_text(player.client, TOO_FAR, ERROR_COLOR)
            return
        wanted = {one["item_id"] for one in fields.get("item_list") or ()}
        everything = bool(fields["loot_all"])
        lots = remains.lots_for(player.id, now)
        if remains.draws_lots and now < remains.free_at:
            self._answer(player, remains, wanted, fields)
            self._send(player, spawn, remains)
            self._draw(player.zone, spawn, now)
        chosen = [one for one in lots if everything or one.kind.id in wanted]
        if fields.get("button_clicked") == Choice.DECLINE:
            chosen = []
        # The dead may answer who gets a thing, but take none.
        if chosen and refuses_dead(player):
            return
        if chosen or not remains.draws_lots:
            self._world.start(self._take(player, spawn, remains, chosen))

    def _answer(
        self, player: Player, remains: Remains, wanted: set[int], fields: dict[str, Any]
    ) -> None:
        button = fields.get("button_clicked") or Choice.NEED
        choice = Choice(button) if button in set(Choice) else Choice.DECLINE
        for lot in remains.lots:
            if fields["loot_all"] or lot.kind.id in wanted:
                remains.answer(player.id, lot.number, choice)

    def _draw(self, zone: Zone, spawn: Spawn, now: Monotonic) -> None:
        """Draw lots for what all have answered, or for everything when the time is over."""
        remains = self._loots.remains.get(spawn.id)
        if remains is None:
            return
        for lot in remains.decided(now):
            winner = self._winner(lot)
            players = [self._world.players.get(one) for one in sorted(remains.entitled)]
            for player in players:
                if player is not None and player.is_online:
                    name = link(lot.kind, player.client.version)
                    text = ALL_DECLINED if winner is None else WON
                    shown = text.format(link=name, name=winner.name if winner is not None else "")
                    send_text(player.client, shown, own_color(player.client, LOOT_COLOR))
            if winner is None:
                lot.is_unwanted = True
                continue
            lot.owner = winner.id
            self._world.start(self._take(winner, spawn, remains, [lot], zone))
        if all(one.owner or one.is_unwanted for one in remains.lots):
            # Nothing is drawn any more: who has won takes what is its own, and all take the rest.
            remains.method = LootMethod.FREE
        if remains.is_empty:
            self._emptied(zone, spawn, remains)

    def _winner(self, lot: Lot) -> Player | None:
        """Return who has the best roll of those in the world who want a thing most."""
        present = [one for one in lot.answers if self._world.players.get(one) is not None]
        rolls = [(self._roll(DICE), one) for one in drawn_among(lot, present)]
        return self._world.players.get(max(rolls)[1]) if rolls else None

    async def _take(
        self,
        player: Player,
        spawn: Spawn,
        remains: Remains,
        lots: list[Lot],
        zone: Zone | None = None,
    ) -> None:
        """Give things to a player; `zone` is that of the body, if the player may be elsewhere."""
        zone = zone or player.zone
        for lot in lots:
            if not lot.is_taken:
                await self._take_one(player, spawn, remains, lot)
        if player.is_online:
            self._send(player, spawn, remains)
        if remains.is_empty:
            self._emptied(zone, spawn, remains)

    async def _take_one(self, player: Player, spawn: Spawn, remains: Remains, lot: Lot) -> None:
        """Give a thing to a player; it stays where it is if that is not possible."""
        inventory, kind = player.holdings.inventory, lot.kind
        refused: list[Refusal] = []
        made: list[Thing] = []

        def act() -> Act | None:
            refusal = inventory.refuses(kind, lot.count)
            if refusal is None and not inventory.has_space([(kind, lot.count)]):
                refusal = Refusal(Why.NO_FREE_PLACE, kind)
            if refusal is not None:
                refused.append(refusal)
                return None
            made.extend(inventory.add_things(kind, lot.count, self._items.new_number))
            return Act([things(_owner(spawn), Owner.character(player.id), kind.id, lot.count)])

        # Nobody else takes it while the store answers.
        lot.is_taken = True
        outcome = None
        try:
            outcome = await self._items.exchange(Reason.LOOTED, [player], act)
        except (StoreError, CommandError):
            self._world.count("loot that could not be stored")
        finally:
            lot.is_taken = outcome is Outcome.DONE
        if outcome is not Outcome.DONE:
            for refusal in refused:
                self._items.refuse(player, refusal)
            return
        remains.lots = [one for one in remains.lots if one is not lot]
        if player.is_online:
            name = link(kind, player.client.version)
            text = THING.format(link=name, name=spawn.name)
            send_text(player.client, text, own_color(player.client, LOOT_COLOR))
        self._items.changed(player)
        self._items.obtained(player, made)
        if self._world.events.has_listener(Looted):
            self._world.events.publish(Looted(player, spawn, kind, lot.count))


def _owner(spawn: Spawn) -> Owner:
    return Owner(OwnerKind.LOOT, spawn.look.dealing.number)
