"""Places to which players return: bind places, revive points, and a zone's safe place.

Source: docs/guides/travel.md#returning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from emu.model import SavedKind, WorldCharacter
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Destination
from emu.world.travel.journeys import Journeys
from emu.world.travel.records import TravelRecord, read_record
from emu.world.travel.tables import RevivePoint, TravelTables
from emu.world.world import World
from emu.world.zones.zone import Zone

FARTHEST_POINT: Final = 100_000.0


class Returning:
    """Bind places and revive points of one world's players."""

    def __init__(self, world: World, journeys: Journeys, tables: TravelTables) -> None:
        self.tables = tables
        self._world = world
        self._journeys = journeys

    # -- what a character keeps -----------------------------------------------------------------

    def record(self, player: Player) -> TravelRecord:
        """Return what a player's character keeps of its travels."""
        return read_record(player.character.travels)

    def keep(self, player: Player, record: TravelRecord, now: Monotonic) -> None:
        """Change what a player's character keeps; it is saved soon."""
        text = record.text
        if text != player.character.travels:
            player.character = replace(player.character, travels=text)
            self._world.saves.changed(player, SavedKind.TRAVELS, now)

    def discovers(self, player: Player, area: int) -> bool:
        """Record that a player has discovered an area; return whether it is the first time."""
        record = self.record(player)
        if area in record.areas:
            return False
        record.areas.append(area)
        self.keep(player, record, self._world.clock.now())
        return True

    # -- bind place -----------------------------------------------------------------------------

    def bind(self, player: Player, to: Destination | None, now: Monotonic) -> bool:
        """Bind a player to a place, or with None to where it stands; return whether it is bound.

        A zone can forbid players to bind where they stand.
        """
        if to is None:
            if not player.zone.definition.can_bind:
                return False
            to = Destination(player.zone.zone_id, player.position)
        if self._world.zones.table.get(to.zone_id) is None:
            return False
        record = self.record(player)
        record.bound = to
        self.keep(player, record, now)
        return True

    def bound(self, player: Player) -> Destination:
        """Return where a player is bound: without a bind place, where new characters begin."""
        return self.bound_of(player.character)

    def bound_of(self, character: WorldCharacter, *, besides: int = 0) -> Destination:
        """Return where a character is bound: without a bind place, where new characters begin.

        A bind place in the zone `besides` does not count.
        """
        table = self._world.zones.table
        bound = read_record(character.travels).bound
        if bound is not None and bound.zone_id != besides and table.get(bound.zone_id) is not None:
            return bound
        start = table.start_of(character)
        return Destination(start.zone_id, start.place)

    def gate(self, player: Player, now: Monotonic) -> bool:
        """Send a player to its bind place; return whether it goes."""
        return self._journeys.send(player, self.bound(player), now)

    # -- revive points --------------------------------------------------------------------------

    def points(self, player: Player) -> list[RevivePoint]:
        """Return the revive points that a player is offered: the nearest, and those always."""
        points = self._all_points(player.zone)
        at = player.position

        def distance(point: RevivePoint) -> float:
            place = point.to.position or player.zone.definition.safe
            return math.dist(place[:3], at[:3])

        nearest = min(points, key=distance, default=None)
        return [
            point for point in points
            if point.always or (point is nearest and distance(point) <= FARTHEST_POINT)
        ]  # fmt: skip

    def _all_points(self, zone: Zone) -> Sequence[RevivePoint]:
        """Return the revive points of a zone: those of the content file, then those of its file."""
        points = list(self.tables.revive_points.get(zone.zone_id, ()))
        number = max((point.id for point in points), default=0)
        for row in zone.definition.revive:
            to = self._world.zones.table.named(row.zone) if row.zone else zone.definition
            if to is not None:
                number += 1
                points.append(
                    RevivePoint(number, row.name, Destination(to.id, row.place), row.always)
                )
        return points

    def way_back(self, player: Player) -> Destination:
        """Return where a dead or lost player returns: a revive point, or else the safe place."""
        zone = player.zone
        safe = Destination(zone.zone_id, zone.definition.safe)
        table = self._world.zones.table
        known = [one for one in self.points(player) if table.get(one.to.zone_id) is not None]
        own = [one for one in known if one.to.zone_id == zone.zone_id and one.to.position]
        return (own or known)[0].to if known else safe

    def evacuate(self, player: Player, now: Monotonic) -> None:
        """Put a player at the safe place of its zone."""
        zone = player.zone
        self._journeys.send(player, Destination(zone.zone_id, zone.definition.safe), now)
