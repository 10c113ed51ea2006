"""The ground under running zones: the maps that an import has made, opened by the first question.

A zone without a map, with a damaged one, or with one that becomes shorter while it is read answers
as a zone did before there were maps: no surface is known, and everybody sees everybody.
Source: docs/guides/content.md#maps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from emu.ground.ground_map import GroundMap, Surface
from emu.ground.leg_cache import Leg, LegCache
from emu.ground.legs import LegCorner
from emu.ground.map_folder import MapFolder
from emu.ground.map_names import MapName, chosen
from emu.ground.path_mesh import PathMesh
from emu.ground.regions import Region, ZoneRegions
from emu.ground.routes import Route, RouteSearch
from emu.times import Monotonic
from emu.world.deadlines import Deadlines, Timetable
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

RegionLists = Mapping[MapName, list[Region]]
"""The regions of a zone file, by the client versions that they are for."""
NO_REGIONS: Final[RegionLists] = {}
LegTraced = Callable[[Sequence[LegCorner], Monotonic], object]
"""Is passed the corners of a leg, and the time."""
RouteFound = Callable[[Route | None], object]
"""Is passed a route; None if its zone has ended meanwhile."""
PAUSE: Final = 0.01
"""Seconds between two turns of work, in which sessions are served."""
LEG_SAMPLES: Final = 20
"""Heights under legs of one turn: about 2 ms."""
SEARCH_UNITS: Final = 30
"""Samples or polygons of one turn of a search: 1 to 3 ms."""
WORK: Final = "work"
NO_MAPS: Final[Callable[[], MapFolder | None]] = lambda: None  # noqa: E731  # a default


class ZoneGround:
    """The ground of one running zone, as its spawns have it: the map of no client version."""

    def __init__(
        self,
        file: str,
        folder: MapFolder | None,
        read_regions: Mapping[str, RegionLists],
        request_turn: Callable[[], object] = lambda: None,
    ) -> None:
        """Open the map of a zone file; that takes half a millisecond.

        `request_turn` is called when `work` gets something to do.
        `read_regions` has the regions of zone files that were read; it may get them later.
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
        self._regions = ZoneRegions()

    @property
    def regions(self) -> ZoneRegions:
        """Its water, its lava, and the places whose scripts run, as they were read last."""
        source = self._read_regions.get(self._file.lower(), NO_REGIONS)
        if source is not self._source:
            self._source = source
            self._regions = ZoneRegions(chosen(source, self._file, None) or ())
        return self._regions

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

    def surface(self, place: Position) -> Surface | None:
        """Return the surface under a place, or else the next one over it; None without one."""
        return None if self.map is None else self.map.surface(place.x, place.y, place.z)

    def sees(self, one: Position, other: Position) -> bool:
        """Return whether two who stand at two places have a line of sight; True without a map."""
        return self.map is None or self.map.sees(_point(one), _point(other))

    def is_water(self, place: Position) -> bool:
        """Return whether a place is in water; False without regions."""
        return self.regions.is_water(_point(place))

    def search(self, start: Position, goal: Position, found: RouteFound) -> None:
        """Search a route in later calls of `work`."""
        search = RouteSearch(self.map, self.mesh, _point(start), _point(goal))
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
        self._now, self._list_maps = now, list_maps
        self._deadlines: Deadlines[Grounds, str] = timetable.deadlines("ground", self._work)
        self._busy: dict[Zone, None] = {}
        """Zones with work that waits; each turn is that of one zone."""
        self._folder: MapFolder | None = None
        self._is_listed = False
        self._open: dict[Zone, ZoneGround] = {}
        self._regions: dict[str, RegionLists] = {}

    def of(self, zone: Zone) -> ZoneGround:
        """Return the ground of a running zone."""
        ground = self._open.get(zone)
        if ground is None:
            if not self._is_listed:
                self._folder, self._is_listed = self._list_maps(), True
            ground = ZoneGround(
                zone.definition.file, self._folder, self._regions, partial(self._request_turn, zone)
            )
            self._open[zone] = ground
        return ground

    def find_route(self, zone: Zone, start: Position, goal: Position, found: RouteFound) -> None:
        """Search a creature's route in later turns; `found` gets it."""
        self.of(zone).search(start, goal, found)

    def leg(
        self, zone: Zone, start: Position, end: Position, traced: LegTraced
    ) -> Sequence[LegCorner] | None:
        """Return the corners of a leg as `ZoneGround.corners` does, or pass them to `traced`."""
        return self.of(zone).corners(start, end, lambda corners: traced(corners, self._now()))

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
        """Close the files of a zone that ends."""
        self._busy.pop(zone, None)
        ground = self._open.pop(zone, None)
        if ground is not None:
            ground.close()

    def _request_turn(self, zone: Zone) -> None:
        self._busy[zone] = None
        if self._deadlines.get(self, WORK) is None:
            self._deadlines.set(self, WORK, Monotonic(self._now() + PAUSE))

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
            self.ended(zone)


def _point(place: Position) -> tuple[float, float, float]:
    return place.x, place.y, place.z
