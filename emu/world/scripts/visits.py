"""Players in the regions of their zone's map: what they enter and leave runs the regions' scripts.

Only zones that have a region with a script are checked, eight times a second for a player.
Source: docs/guides/lua.md#zones; docs/protocol/maps.md#region-scripts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from emu.ground.region_visits import INTERVAL, RegionVisit, RegionVisits, Visit
from emu.ground.regions import ZoneRegions
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.deadlines import Deadlines, Timetable
from emu.world.events import Entered, Events, LeftZone, Order
from emu.world.scripts.bodies import Home, Homes
from emu.world.scripts.regions import RegionEvents
from emu.world.zones.ground import Grounds, ZoneGround
from emu.world.zones.zone import Zone

PAUSE: Final = 1.0
"""Seconds between two questions whether the regions of a zone were read."""
MOST_QUESTIONS: Final = 60
_CHECK: Final = "check"


@dataclass(slots=True, eq=False)
class _Visitor:
    """One player in one zone."""

    zone: Zone
    questions: int = 0
    revision: int = -1
    """That of the regions that `visits` has."""
    visits: RegionVisits | None = None
    """None while the zone has no region with a script."""
    has_widgets: bool = False
    """Whether a region belongs to a widget, so that the surface under the player counts."""
    inside: Counter[str] = field(default_factory=Counter)
    """The number of regions with a script that the player is in; those of one script are one."""


class PlayerRegions:
    """Notes which regions players are in."""

    def __init__(
        self, regions: RegionEvents, homes: Homes, *, grounds: Grounds, events: Events,
        timetable: Timetable, now: Callable[[], Monotonic],
    ) -> None:  # fmt: skip
        """Subscribe to the players that enter and leave zones."""
        self._now = now
        self._regions, self._homes, self._grounds = regions, homes, grounds
        self._visitors: dict[Player, _Visitor] = {}
        self._deadlines: Deadlines[Player, str] = timetable.deadlines(
            "players in regions", self._check
        )
        events.subscribe(Entered, self._entered, Order.MINDS)
        events.subscribe(LeftZone, self._left)
        grounds.region_watchers.append(self._changed)

    def _changed(self, zone: Zone) -> None:
        """Look at the players of a zone whose regions a script has changed."""
        for player, visitor in self._visitors.items():
            if visitor.zone is zone:
                self._deadlines.set(player, _CHECK, self._now())

    def _entered(self, event: Entered) -> None:
        self._visitors[event.player] = _Visitor(event.player.zone)
        self._deadlines.set(event.player, _CHECK, event.now)

    def _left(self, event: LeftZone) -> None:
        self._visitors.pop(event.player, None)
        self._deadlines.clear(event.player, _CHECK)

    def _check(self, player: Player, _what: str, now: Monotonic) -> None:
        visitor = self._visitors.get(player)
        if visitor is None or player.zone is not visitor.zone:
            return
        home = self._homes.get(visitor.zone)
        if home is None:
            return  # no script knows this zone
        ground = self._grounds.of(visitor.zone)
        if ground.revision != visitor.revision:
            visitor.revision = ground.revision
            self._take_regions(player, visitor, home, ground)
        if visitor.visits is None:
            self._wait(player, visitor, now)
            return
        self._deadlines.set(player, _CHECK, Monotonic(now + INTERVAL))
        at = player.position
        surface = ground.surface(at) if visitor.has_widgets else None
        grid, widget = (surface.grid, surface.widget) if surface is not None else (0, 0)
        visitor.visits.moved((at.x, at.y, at.z), grid, widget)
        for visit in visitor.visits.handle_timer(now):
            self._run(player, visitor, visit)

    def _take_regions(
        self, player: Player, visitor: _Visitor, home: Home, ground: ZoneGround
    ) -> None:
        """Check a player from now on in the regions that have a script, if any has one."""
        found = ground.regions_for(player.client.dialect.version)
        script = self._regions.chooser(home)
        scripted = [one for one in found if script(one.file, one.environment)]
        visitor.has_widgets = any(one.widget for one in scripted)
        if visitor.visits is not None:
            visitor.visits.regions = ZoneRegions(scripted)
        elif scripted:
            visitor.visits = RegionVisits(ZoneRegions(scripted))

    def _wait(self, player: Player, visitor: _Visitor, now: Monotonic) -> None:
        """Ask again for a while: the regions of the zone may not be read yet."""
        if self._grounds.regions_of(visitor.zone.definition.file) is not None:
            return
        visitor.questions += 1
        if visitor.questions < MOST_QUESTIONS:
            self._deadlines.set(player, _CHECK, Monotonic(now + PAUSE))

    def _run(self, player: Player, visitor: _Visitor, event: RegionVisit) -> None:
        zone, spawn, region = visitor.zone, player.spawn, event.region
        home = self._homes.get(zone)
        if home is None:
            return
        script = self._regions.script(home, region.file, region.environment)
        if event.visit is Visit.ENTERED:
            visitor.inside[script] += 1
            if visitor.inside[script] == 1:
                kind = max(0, event.substance)
                self._regions.entered(zone, spawn, region.file, region.environment, kind)
            return
        visitor.inside[script] -= 1
        if visitor.inside[script]:
            return
        if event.visit is Visit.LEFT:
            self._regions.left(zone, spawn, region.file, region.environment)
        else:
            self._regions.lost(zone, spawn, region.file, region.environment)
