"""Transporters: the window of destinations, and the choice of one.

A list of ways belongs to a spawn, usually a bell or a post. The client shows the ways in a window,
some lists on a map, and names the way that the player chooses.
Source: docs/guides/travel.md#transporters, docs/protocol/world/travel.md#ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from emu.errors import StoreError
from emu.ledger import Owner, OwnerKind, Part, Reason
from emu.rules.coins import TOO_DEAR, price_refusal
from emu.times import Monotonic
from emu.world.actors.client import ERROR_COLOR, send_text
from emu.world.actors.player import IN_ZONE, Player, refuses_dead
from emu.world.actors.reach import distance_of, reach_of
from emu.world.actors.spawn import TOO_FAR, Spawn
from emu.world.events import LeftZone
from emu.world.ledger.ledger import Ledger
from emu.world.messages import WorldMessages
from emu.world.travel.journeys import Journeys
from emu.world.travel.tables import FORCED, ZONE, TravelTables, Way
from emu.world.world import World
from emu.world.zones.definitions import ZoneDefinition

TOO_NEAR: Final = 100.0
"""Units; a destination in the same zone that is nearer is not offered, unless on a map."""
HERE: Final = 20.0
"""Units from a destination on a map within which a player is there."""
TRY_AGAIN: Final = "You could not pay. Try again in a moment."
NOWHERE: Final = "There is no destination for you here."
MOST_WAYS: Final = 200
"""Ways of one window."""
NO_GHOST: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Offer:
    """The window that a player has open."""

    index: int
    """The client's index of the spawn."""
    ways: tuple[Way, ...]
    spawn: Spawn | None = None
    """The spawn whose window it is; None for one of a script alone."""
    reach: float = 0.0
    """How far from the spawn the player may choose."""


class Transporters:
    """The windows of one world's players."""

    def __init__(
        self, world: World, journeys: Journeys, ledger: Ledger, tables: TravelTables,
        has_quest: Callable[[Player, int], bool],
    ) -> None:  # fmt: skip
        """`has_quest` returns whether a player has a quest, or has completed it."""
        self.tables = tables
        self._world = world
        self._ledger = ledger
        self._journeys = journeys
        self._has_quest = has_quest
        self._offers: dict[int, Offer] = {}
        """By character id."""
        self._temporary: dict[int, int] = {}
        """The list that a script has chosen for a player, by character id."""
        self._paying: set[int] = set()
        """The characters whose coins the store is taking."""
        world.events.subscribe(LeftZone, lambda event: self.forget(event.player))

    def register(self, messages: WorldMessages) -> None:
        """Add the message of a choice to the table."""
        messages.add_handler("OP_SelectZoneTeleporterDestinatio", self._chosen, IN_ZONE)

    def forget(self, player: Player) -> None:
        """Forget the window of a player who leaves the zone."""
        self._offers.pop(player.id, None)
        self._temporary.pop(player.id, None)

    def temporary(self, player: Player) -> int:
        """Return the list that a script has chosen for a player; 0 for none."""
        return self._temporary.get(player.id, 0)

    def set_temporary(self, player: Player, list_id: int) -> None:
        """Choose a list for a player: spawns without one of their own offer it. 0 ends that."""
        self._temporary[player.id] = list_id

    def offer(self, player: Player, spawn: Spawn | None, list_id: int, now: Monotonic) -> bool:
        """Show a player the ways of a list, or take the only one that needs no window.

        Return False if there is no such list.
        """
        ways = [way for way in self.tables.ways.get(list_id, ()) if _fits(way, player)]
        if not ways:
            return False
        # A list may have a map without a name: it offers near ways, too, as EQ2Emulator's does.
        chart = self.tables.maps.get(list_id)
        has_map = chart is not None
        shown = [
            way for way in ways if way.kind == ZONE and (has_map or not self._is_near(player, way))
        ]
        if not shown:
            self._take(player, ways[-1], now)
            return True
        allowed = tuple(way for way in shown if self._may_take(way, player))[:MOST_WAYS]
        if not allowed:
            send_text(player.client, NOWHERE, ERROR_COLOR)
            return True
        index = player.index_of(spawn) if spawn is not None else None
        reach = reach_of(spawn, player.position) if spawn is not None else 0.0
        offer = Offer(NO_GHOST if index is None else index, allowed, spawn, reach)
        self._offers[player.id] = offer
        self._show(player, offer, chart)
        return True

    # -- internals --------------------------------------------------------------------------------

    def _may_take(self, way: Way, player: Player) -> bool:
        """Return whether level and quests let a player take a way."""
        level = player.character.level
        fits = way.min_level <= level and (not way.max_level or level <= way.max_level)
        return fits and all(self._has_quest(player, quest) for quest in way.quests)

    def _is_near(self, player: Player, way: Way) -> bool:
        zone_id, place = way.to
        if zone_id != player.zone.zone_id:
            return False
        place = place or player.zone.definition.safe
        return math.dist(place[:3], player.position[:3]) <= TOO_NEAR

    def _show(self, player: Player, offer: Offer, chart: str | None) -> None:
        rows = [row for way in offer.ways if (row := self._row(way)) is not None]
        fields: dict[str, Any] = {
            "spawn_id": offer.index,
            "num_destinations": len(rows),
            "destination_array": rows,
        }
        if chart is not None:
            fields |= {"map_name": chart} | self._here(player, offer.ways)
        player.client.send("WS_TeleportList", fields)

    def _row(self, way: Way) -> dict[str, Any] | None:
        definition = self._definition(way)
        if definition is None:
            return None
        place = way.to.position or definition.safe
        return {
            "unique_id": way.id,
            "display_name": way.name,
            "zone_name": definition.description,
            "zone_file_name": definition.file,
            "zone_file_name2": definition.file,
            "zone_destination": definition.name,
            "zone_description": definition.description,
            "destination_x": place.x,
            "destination_y": place.y,
            "destination_z": place.z,
            "map_x": max(0, way.map_at[0]),
            "map_y": max(0, way.map_at[1]),
            "zone_level_min": definition.min_level,
            "zone_level_max": definition.max_level,
            "cost": way.cost,
        }

    def _here(self, player: Player, ways: Sequence[Way]) -> dict[str, Any]:
        """Return the fields of the destination at which the player stands, if any."""
        for way in ways:
            place = way.to.position
            if (
                way.to.zone_id == player.zone.zone_id
                and place is not None
                and math.dist(place[:3], player.position[:3]) <= HERE
            ):
                x, y = (max(0, one) for one in way.map_at)
                return {"current_zone": way.name, "current_map_x": x, "current_map_y": y}
        return {}

    def _definition(self, way: Way) -> ZoneDefinition | None:
        return self._world.zones.table.get(way.to.zone_id)

    def _chosen(self, player: Player, body: bytes, now: Monotonic) -> None:
        """Take the way that a client has chosen in its window. Raises `MalformedMessage`."""
        fields = player.client.dialect.layout("WS_TeleportDestination").decode(body)
        offer = self._offers.pop(player.id, None)
        way = None
        if offer is not None:
            way = next((one for one in offer.ways if one.id == fields["unique_id"]), None)
        # The price is the one that the player was shown.
        if way is None or way.cost != fields["cost"]:
            self._world.count("way not offered")
        elif offer is not None and _is_far(player, offer):
            send_text(player.client, TOO_FAR, ERROR_COLOR)
        else:
            self._take(player, way, now)

    def _take(self, player: Player, way: Way, now: Monotonic) -> None:
        if not self._may_take(way, player):
            send_text(player.client, NOWHERE, ERROR_COLOR)
            return
        # The window may have been open before the player died.
        if refuses_dead(player):
            return
        refusal = price_refusal(way.cost, player.character.coins)
        if refusal is not None:
            send_text(player.client, refusal, ERROR_COLOR)
        elif not way.cost:
            self._set_off(player, way, now)
        elif player.id not in self._paying:
            self._paying.add(player.id)
            self._world.start(self._pay(player, way))

    def _set_off(
        self,
        player: Player,
        way: Way,
        now: Monotonic,
        failed: Callable[[], object] = lambda: None,
    ) -> bool:
        sent = self._journeys.send(
            player, way.to, now, reloads=way.kind == FORCED, failed=failed
        )  # fmt: skip
        if sent and way.message:
            send_text(player.client, way.message)
        return sent

    async def _pay(self, player: Player, way: Way) -> None:
        """Take the price of a way, and send the player; give it back if the player cannot go."""
        world, ledger = self._world, self._ledger
        zone = player.zone
        price = Part(Owner.character(player.id), Owner(OwnerKind.TRANSPORTER, way.id), way.cost)
        payment = ledger.movement(Reason.TRAVEL, [price], [player.character.account_id])
        give_back = partial(ledger.undo, payment)
        try:
            # A price that turns out to be paid later is given back: the player did not go.
            moved = await ledger.move(payment, late=give_back)
        except StoreError as error:
            world.refused(player, f"price of a way: {error}")
            send_text(player.client, TRY_AGAIN, ERROR_COLOR)
            return
        finally:
            self._paying.discard(player.id)
        if not moved.is_done:
            send_text(player.client, TOO_DEAR, ERROR_COLOR)
            return
        # The player may have died or gone elsewhere while the store answered.
        may_go = player.zone is zone and player.spawn.hp_percent > 0
        if not may_go or not self._set_off(player, way, world.clock.now(), give_back):
            give_back()


def _is_far(player: Player, offer: Offer) -> bool:
    """Return whether a player has gone away from the spawn whose window it has open."""
    spawn = offer.spawn
    if spawn is None:
        return False
    return (
        player.zone.spawn(spawn.id) is not spawn
        or distance_of(spawn, player.position) > offer.reach
    )


def _fits(way: Way, player: Player) -> bool:
    """Return whether a way exists for a player's client."""
    first, last = way.versions
    version = player.client.version
    return first <= version and (not last or version <= last)
