"""The ground under running zones: the maps that an import has made, opened by the first question.

A zone without a map, with a damaged one, or with one that becomes shorter while it is read answers
as a zone did before there were maps: no surface is known, and everybody sees everybody.
Source: docs/guides/content.md#maps.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from emu.ground.ground_map import ABOVE, GroundMap, Surface
from emu.ground.leg_cache import Leg, LegCache
from emu.ground.legs import LegCorner
from emu.ground.map_folder import MapFolder
from emu.ground.map_names import MapName, chosen
from emu.ground.outline_file import OutlineHeader
from emu.ground.path_mesh import PathMesh
from emu.ground.regions import WATER_REGION, Region, ZoneRegions
from emu.ground.routes import Route, RouteSearch
from emu.ground.view_cache import ViewCache
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Deadlines, Timetable
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

RegionLists = Mapping[MapName, list[Region]]
"""The regions of a zone file, by the client versions that they are for."""
NO_REGIONS: Final[RegionLists] = {}
LegTraced = Callable[[Sequence[LegCorner], Monotonic], object]
"""Is passed the corners of a leg, and the time."""
RouteFound = Callable[[Route | None], object]
"""Is passed a route; None if the zone has ended meanwhile, or too many searches wait."""
PAUSE: Final = 0.01
"""Seconds between two turns of work, in which sessions are served."""
LEG_SAMPLES: Final = 20
"""Heights under legs of one turn: about 2 ms."""
SEARCH_UNITS: Final = 30
"""Samples or polygons of one turn of a search: 1 to 3 ms."""
MOST_SEARCHES: Final = 500
"""Searches of one zone that wait: some seconds of work."""
THROW_STEP: Final = 1.0
"""Meters between two questions for the way of somebody who is thrown."""
HALF_BODY: Final = 0.5
"""Meters from a wall at which somebody who is thrown stands at least."""
WORK: Final = "work"
NO_MAPS: Final[Callable[[], MapFolder | None]] = lambda: None  # noqa: E731  # a default


class WidgetRegion(NamedTuple):
    """A region around a widget that a script adds to the map of a zone."""

    environment: str
    grid: int
    widget: int
    distance: float


@dataclass(slots=True, eq=False)
class MapChanges:
    """What scripts and doors change in the map of a running zone."""

    removed: set[int] = field(default_factory=set)
    """Widgets that are nowhere any more."""
    passable: set[int] = field(default_factory=set)
    """Widgets that block no way and no line of sight now: open doors."""
    regions: dict[tuple[int, str], WidgetRegion] = field(default_factory=dict)
    """Those that were added, by version of the map and name."""
    removed_regions: set[tuple[int, str]] = field(default_factory=set)
    """Version of the map and a part of the names of regions that are nowhere any more."""


class ZoneGround:
    """The ground of one running zone, as its spawns have it: the map of no client version."""

    def __init__(
        self,
        file: str,
        folder: MapFolder | None,
        read_regions: Mapping[str, RegionLists],
        request_turn: Callable[[], object] = lambda: None,
        *,
        changes: MapChanges | None = None,
        regions_changed: Callable[[], object] = lambda: None,
    ) -> None:
        """Open the map of a zone file; that takes half a millisecond.

        `request_turn` is called when `work` gets something to do.
        `read_regions` has the regions of zone files that were read; it may get them later.
        `changes` are those that were made before the files were exchanged. `regions_changed` is
        called when a script has added or removed a region.
        """
        self._file, self._folder, self._read_regions = file, folder, read_regions
        self._map = None if folder is None else folder.ground(file)
        self._request_turn = request_turn
        self._legs = None if self._map is None else LegCache(self._map, request_turn)
        self._mesh: PathMesh | None = None
        self._is_mesh_open = False
        self.grids: frozenset[int] = frozenset() if self._map is None else self._map.grids()
        """The numbers that clients report as their location, as far as the map has them."""
        self._searches: deque[tuple[RouteSearch, RouteFound]] = deque()
        self._source: RegionLists = NO_REGIONS
        self._revision = 0
        self.changes = changes or MapChanges()
        self._regions_changed = regions_changed
        self._added = {
            key: self._widget_region(key[1], around)
            for key, around in self.changes.regions.items()
        }  # fmt: skip
        self._regions = ZoneRegions(self._added.values())
        self._views = ViewCache(self._map)
        self._removed: frozenset[int] = frozenset()
        """The groups of the map that scripts have removed."""
        self._passable: frozenset[int] = frozenset()
        """These and the groups of open doors."""
        if self.changes.removed or self.changes.passable:
            self._note_widgets()

    # -- regions --------------------------------------------------------------------------------

    @property
    def regions(self) -> ZoneRegions:
        """Its water, its lava, and the places whose scripts run, as they are for spawns."""
        self._read_anew()
        return self._regions

    @property
    def revision(self) -> int:
        """A number that changes with the regions."""
        self._read_anew()
        return self._revision

    def regions_for(self, version: int | None) -> list[Region]:
        """Return the regions for clients of a version, or for spawns: of the map and of scripts."""
        self._read_anew()
        return self._regions_for(version)

    def _regions_for(self, version: int | None) -> list[Region]:
        own = chosen(self._source, self._file, version)
        gone = [name for one, name in self.changes.removed_regions if self._is_for(one, own)]
        kept = [one for one in own or () if not any(name in one.file for name in gone)]
        return kept + [one for (key, _), one in self._added.items() if self._is_for(key, own)]

    def _is_for(self, version: int, own: list[Region] | None) -> bool:
        """Return whether a change for a version is one of these regions of a file.

        0 is the file without a range of versions, which spawns use.
        """
        return chosen(self._source, self._file, version or None) is own

    def _read_anew(self) -> None:
        source = self._read_regions.get(self._file.lower(), NO_REGIONS)
        if source is not self._source:
            self._source = source
            self._renew_regions()

    def _renew_regions(self) -> None:
        self._revision += 1
        self._regions = ZoneRegions(self._regions_for(None))

    def add_region(self, version: int, name: str, around: WidgetRegion) -> None:
        """Add a region around a widget, for the map of a client version; 0: that of spawns."""
        self.changes.regions[version, name] = around
        self.changes.removed_regions.discard((version, name))
        self._added[version, name] = self._widget_region(name, around)
        self._renew_regions()
        self._regions_changed()

    def remove_region(self, version: int, name: str) -> bool:
        """Remove the regions with a text in their names; return whether there was one.

        `version` is that of the map, 0 that of spawns. So EQ2Emulator's server does it.
        """
        found = [one for one in self.regions_for(version or None) if name in one.file]
        if not name or not found:
            return False
        own = chosen(self._source, self._file, version or None)
        for key in [key for key in self._added if name in key[1] and self._is_for(key[0], own)]:
            del self._added[key], self.changes.regions[key]
        self.changes.removed_regions.add((version, name))
        self._renew_regions()
        self._regions_changed()
        return True

    def _widget_region(self, name: str, around: WidgetRegion) -> Region:
        place = self.map.widget_place(around.widget) if self.map is not None else None
        # Without a place only the widget itself is the region.
        radius = around.distance if place is not None else 0.0
        return Region(
            0, WATER_REGION, place or (0.0, 0.0, 0.0), radius, around.environment, name,
            around.grid, widget=around.widget,
        )  # fmt: skip

    # -- answers --------------------------------------------------------------------------------

    @property
    def map(self) -> GroundMap | None:
        """The map; None without a usable one."""
        return self._map if self._map is not None and not self._map.fault else None

    @property
    def mesh(self) -> PathMesh | None:
        """The navigation mesh, which is opened by the first question; None without a usable one."""
        if not self._is_mesh_open:
            self._is_mesh_open = True
            self._mesh = None if self._folder is None else self._folder.mesh(self._file)
        return self._mesh if self._mesh is not None and not self._mesh.fault else None

    def outline(self) -> tuple[OutlineHeader, bytes] | None:
        """Return the ground from above: what the image shows, and a PNG; None without one."""
        return None if self._folder is None else self._folder.outline(self._file)

    def surface(self, place: Position) -> Surface | None:
        """Return the surface under a place, or else the next one over it; None without one."""
        if self.map is None:
            return None
        return self.map.surface(place.x, place.y, place.z, self._removed)

    def on_ground(self, place: Position) -> Position:
        """Return a place with the best height and the grid there: for summons, chests and pets.

        Where no surface is known, the place stays as it is.
        """
        surface = self.surface(place)
        return place if surface is None else place._replace(y=surface.y, grid=surface.grid)

    def thrown(self, start: Position, goal: Position) -> Position:
        """Return where somebody lands who is thrown from a place toward another one.

        A wall ends the flight; behind an edge the ground below is the place.
        """
        if self.map is None:
            return goal
        at, length = start, math.dist(start[:3], goal[:3])
        for _ in range(math.ceil(length / THROW_STEP)):
            level = goal._replace(y=at.y)
            reach = at.toward(level, THROW_STEP + HALF_BODY)
            ends = (at.x, at.y + ABOVE, at.z), (reach.x, at.y + ABOVE, reach.z)
            if not self.map.is_clear(*ends, self._passable):
                break
            at = self.on_ground(at.toward(level, THROW_STEP))
        return at._replace(heading=goal.heading)

    def sees(self, one: Position, other: Position) -> bool:
        """Return whether two who stand at two places have a line of sight; True without a map."""
        return self.map is None or self.map.sees(_point(one), _point(other), self._passable)

    def spawn_sees(self, one: Spawn, other: Spawn, now: Monotonic) -> bool:
        """Return whether two spawns have a line of sight; the answer may be a second old."""
        ends = (one.id, _point(one.position)), (other.id, _point(other.position))
        return self._views.sees(*ends, now)

    # -- changes --------------------------------------------------------------------------------

    def remove_widget(self, widget: int) -> None:
        """Let a widget of the map be nowhere: it blocks nothing and has no surface."""
        self.changes.removed.add(widget)
        self._note_widgets()

    def set_passable(self, widget: int, *, is_passable: bool) -> None:
        """Let a widget block no way and no line of sight, or block them again."""
        passable = self.changes.passable
        if is_passable == (widget in passable):
            return
        passable ^= {widget}
        self._note_widgets()

    def _note_widgets(self) -> None:
        if self._map is None or self._legs is None:
            return
        removed = self._map.groups_of(self.changes.removed)
        if removed != self._removed:
            self._removed = removed
            self._legs.remove_widgets(removed)
        self._passable = removed | self._map.groups_of(self.changes.passable)
        self._views.remove_widgets(self._passable)

    # -- work in turns --------------------------------------------------------------------------

    def is_below(self, y: float) -> bool:
        """Return whether a height is so far under the map that who is there fell out of it."""
        return self.map is not None and self.map.is_below(y)

    def is_water(self, place: Position) -> bool:
        """Return whether a place is in water; False without regions."""
        return self.regions.is_water(_point(place))

    def is_lava(self, place: Position) -> bool:
        """Return whether a place is in lava or deadly in another way; False without regions."""
        return self.regions.is_lava(_point(place))

    def search(self, start: Position, goal: Position, found: RouteFound) -> None:
        """Search a route in later calls of `work`; too many end at once without one."""
        if len(self._searches) >= MOST_SEARCHES:
            found(None)
            return
        search = RouteSearch(self.map, self.mesh, _point(start), _point(goal), self._passable)
        self._searches.append((search, found))
        self._request_turn()

    def corners(
        self, start: Position, end: Position, traced: Callable[[Sequence[LegCorner]], object]
    ) -> Sequence[LegCorner] | None:
        """Return the ground's corners of a leg that was walked before.

        Otherwise None, and `traced` gets them from a later `work`; without a map and in water it
        never does.
        """
        if self.map is None or self._legs is None or self.is_water(start) or self.is_water(end):
            return None
        return self._legs.corners(Leg(_point(start), _point(end)), traced)

    def work(self) -> bool:
        """Do the work of one turn, 2 to 6 ms; return whether more is waiting."""
        has_legs = self._legs is not None and self._legs.work(LEG_SAMPLES)
        if self._searches:
            search, found = self._searches[0]
            if search.advance(SEARCH_UNITS):
                self._searches.popleft()
                found(search.result)
        return has_legs or bool(self._searches)

    def close(self) -> None:
        """Close the files; searches end without a route."""
        while self._searches:
            self._searches.popleft()[1](None)
        for file in (self._map, self._mesh):
            if file is not None:
                file.close()


class Grounds:
    """The grounds of the zones that run in a world."""

    def __init__(
        self,
        timetable: Timetable,
        now: Callable[[], Monotonic],
        list_maps: Callable[[], MapFolder | None] = NO_MAPS,
    ) -> None:
        """`list_maps` returns the folder of maps as it is now; None without one."""
        self.now, self._list_maps = now, list_maps
        self._deadlines: Deadlines[Grounds, str] = timetable.deadlines("ground", self._work)
        self._busy: dict[Zone, None] = {}
        """Zones with work that waits; each turn is that of one zone."""
        self._folder: MapFolder | None = None
        self._is_listed = False
        self._open: dict[Zone, ZoneGround] = {}
        self._changes: dict[Zone, MapChanges] = {}
        """What has changed in zones whose files may be exchanged."""
        self.region_watchers: list[Callable[[Zone], object]] = []
        """Called with a zone in which a script has added or removed a region."""
        self._regions: dict[str, RegionLists] = {}

    def of(self, zone: Zone) -> ZoneGround:
        """Return the ground of a running zone."""
        ground = self._open.get(zone)
        if ground is None:
            if not self._is_listed:
                self._folder, self._is_listed = self._list_maps(), True
            ground = ZoneGround(
                zone.definition.file, self._folder, self._regions,
                partial(self._request_turn, zone),
                changes=self._changes.setdefault(zone, MapChanges()),
                regions_changed=partial(self._regions_changed, zone),
            )  # fmt: skip
            self._open[zone] = ground
        return ground

    def sees(self, zone: Zone, one: Spawn, other: Spawn) -> bool:
        """Return whether two spawns of a zone have a line of sight.

        The answer may be a second old. Everybody sees everybody in a zone without a map.
        """
        return self.of(zone).spawn_sees(one, other, self.now())

    def is_below(self, zone: Zone, y: float) -> bool:
        """Return whether a height is so far under a zone's map that who is there fell out of it."""
        return self.of(zone).is_below(y)

    def find_route(self, zone: Zone, start: Position, goal: Position, found: RouteFound) -> None:
        """Search a creature's route in later turns; `found` gets it."""
        self.of(zone).search(start, goal, found)

    def leg(
        self, zone: Zone, start: Position, end: Position, traced: LegTraced
    ) -> Sequence[LegCorner] | None:
        """Return the corners of a leg as `ZoneGround.corners` does, or pass them to `traced`."""
        return self.of(zone).corners(start, end, lambda corners: traced(corners, self.now()))

    def note_regions(self, file: str, regions: RegionLists) -> None:
        """Use these regions for the zones of a zone file; a thread may call this."""
        self._regions[file.lower()] = regions

    def regions_of(self, file: str) -> RegionLists | None:
        """Return the regions of a zone file; None while they are not read."""
        return self._regions.get(file.lower())

    def reload(self) -> None:
        """Use the files that are there now: an import may have exchanged them."""
        self._close()
        self._is_listed = False

    def ended(self, zone: Zone) -> None:
        """Close the files of a zone that ends, and forget its changes."""
        self._changes.pop(zone, None)
        self._shut(zone)

    def _shut(self, zone: Zone) -> None:
        self._busy.pop(zone, None)
        ground = self._open.pop(zone, None)
        if ground is not None:
            ground.close()

    def _regions_changed(self, zone: Zone) -> None:
        for watcher in self.region_watchers:
            watcher(zone)

    def _request_turn(self, zone: Zone) -> None:
        self._busy[zone] = None
        if self._deadlines.get(self, WORK) is None:
            self._deadlines.set(self, WORK, Monotonic(self.now() + PAUSE))

    def _work(self, _owner: Grounds, _what: str, now: Monotonic) -> None:
        zone = next(iter(self._busy), None)
        if zone is None:
            return
        del self._busy[zone]
        # Set before the work: if that raises, other zones go on nevertheless.
        self._deadlines.set(self, WORK, Monotonic(now + PAUSE))
        ground = self._open.get(zone)
        if ground is not None and ground.work():
            self._busy[zone] = None

    def _close(self) -> None:
        for zone in list(self._open):
            self._shut(zone)


def _point(place: Position) -> tuple[float, float, float]:
    return place.x, place.y, place.z
