"""Places of a zone that notice players: triggers that move them, and named areas.

They are looked at twice a second, and only in zones that have such places and players.
Source: docs/guides/travel.md#triggers, docs/guides/travel.md#areas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from emu.times import Monotonic
from emu.world.actors.client import send_text
from emu.world.actors.player import Player
from emu.world.deadlines import Deadlines
from emu.world.events import Entered, LeftZone
from emu.world.travel.journeys import Journeys
from emu.world.travel.tables import FORCED, Area, TravelTables, Trigger
from emu.world.world import World
from emu.world.zones.zone import Zone

LOOK: Final = 0.5
"""Seconds between two looks at where the players of a zone are."""
WATCH: Final = "watch"
"""The deadline at which a zone is looked at."""
SHOWN: Final = 3.0
"""Size of the text on the screen."""
SCREEN_TEXT: Final = 10
SOUND: Final = "ui_harvested_normal"


@dataclass(slots=True)
class _Inside:
    """Where a player is."""

    triggers: set[int] = field(default_factory=set)
    areas: set[int] = field(default_factory=set)
    is_new: bool = True


class Places:
    """The triggers and areas of one world."""

    def __init__(
        self,
        world: World,
        journeys: Journeys,
        tables: TravelTables,
        discovers: Callable[[Player, int], bool],
    ) -> None:
        """`discovers` records that a player has discovered an area, and returns whether it is new.

        An area is named by its number.
        """
        self.tables = tables
        self._discovers = discovers
        self._world = world
        self._journeys = journeys
        self._deadlines: Deadlines[Zone, str] = world.timetable.deadlines("places", self._watched)
        self._inside: dict[int, _Inside] = {}
        """By character id."""
        world.events.subscribe(Entered, self._standing)
        world.events.subscribe(LeftZone, self._left)

    def reload(self, tables: TravelTables, now: Monotonic) -> None:
        """Replace the tables; watch the zones that have such places now."""
        self.tables = tables
        for player in self._world.players:
            inside = self._inside.get(player.id)
            if inside is not None:
                # Who stands in a new trigger must leave it first, as who arrives there.
                inside.is_new = True
                self._watch(player.zone, now)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self._deadlines.clear(zone, WATCH)

    def _watched(self, zone: Zone, _what: str, now: Monotonic) -> None:
        """Look where the players of a zone are."""
        players = self._world.players.standing_in(zone)
        if not players or not self._has_places(zone):
            return
        self._deadlines.set(zone, WATCH, Monotonic(now + LOOK))
        for player in players:
            self._look(player, now)

    def _standing(self, event: Entered) -> None:
        self._inside[event.player.id] = _Inside()
        self._watch(event.player.zone, event.now)

    def _has_places(self, zone: Zone) -> bool:
        return zone.zone_id in self.tables.triggers or zone.zone_id in self.tables.areas

    def _watch(self, zone: Zone, now: Monotonic) -> None:
        if self._has_places(zone) and self._deadlines.get(zone, WATCH) is None:
            self._deadlines.set(zone, WATCH, now)

    def _left(self, event: LeftZone) -> None:
        self._inside.pop(event.player.id, None)

    def _look(self, player: Player, now: Monotonic) -> None:
        inside = self._inside.get(player.id)
        if inside is None:
            return
        at, zone_id = player.position, player.zone.zone_id
        was_new, inside.is_new = inside.is_new, False
        self._look_at_areas(player, inside, self.tables.areas.get(zone_id, ()))
        triggers = self.tables.triggers.get(zone_id, ())
        near = {one.way.id: one for one in triggers if one.holds(at)}
        entered = [one for number, one in near.items() if number not in inside.triggers]
        inside.triggers = set(near)
        # Whoever arrives at a trigger must leave it first, or two of them would take turns.
        if entered and not was_new:
            self._move(player, inside, entered[0], now)

    def _move(self, player: Player, inside: _Inside, trigger: Trigger, now: Monotonic) -> None:
        way = trigger.way
        if self._journeys.send(player, way.to, now, reloads=way.kind == FORCED):
            inside.is_new = True
            if way.message:
                send_text(player.client, way.message)

    def _look_at_areas(self, player: Player, inside: _Inside, areas: Any) -> None:
        here = {one.id: one for one in areas if one.holds(player.position)}
        entered = [one for number, one in here.items() if number not in inside.areas]
        inside.areas = set(here)
        for area in entered:
            self._enter(player, area)

    def _enter(self, player: Player, area: Area) -> None:
        if area.is_discovery and self._discovers(player, area.id):
            text = f"You have discovered {area.name}"
        else:
            text = area.name
        player.client.send(
            "WS_OnScreenMsg",
            {"unknown": SCREEN_TEXT, "text": text, "message_type": SOUND, "size": SHOWN,
             "red": 255, "green": 255, "blue": 0},
        )  # fmt: skip
