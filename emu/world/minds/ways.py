"""Ways of creatures over the ground: straight where that can be walked, else over the mesh.

A way is searched in later turns. Meanwhile a creature goes on as before. Creatures that fly or swim
go straight, and so do all in a zone without a map.
Source: docs/protocol/maps.md#paths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from emu.ground.routes import Route
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.minds.walks import Walk, Walks, Waypoint
from emu.world.visibility.fields import hovers
from emu.world.zones.ground import Grounds, ZoneGround
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

FLIGHT: Final = 100.0
"""Meters within which a scared creature runs."""
_NEAREST: Final = 0.01
"""Meters between two points of a way at least."""


class Ways:
    """Leads walks of one world around obstacles."""

    def __init__(self, walks: Walks, grounds: Grounds, chance: Callable[[], float]) -> None:
        """`chance` returns random numbers from 0 up to 1."""
        self._walks, self._grounds, self._chance = walks, grounds, chance
        self._led: dict[Walk, object] = {}
        """The walks with a search, each with the last one that was begun."""

    def is_leading(self, walk: Walk) -> bool:
        """Return whether the way of a walk is being searched."""
        return walk in self._led

    def complete(self, walk: Walk, start: Position, point: Waypoint) -> None:
        """Lead the way from a place to a point of a walk around obstacles, once that is found.

        Without a way to the point the creature goes as near as it can, and then straight.
        """
        if self._ground_for(walk, point.place) is None:
            return

        def found(route: Route | None) -> None:
            corners = self._corners(walk, route, point.speed)
            now = self._grounds.now()
            walk.insert(point, corners, now)
            if corners:
                self._walks.changed(walk, now)

        self._grounds.find_route(walk.zone, start, point.place, found)

    def close(self, walk: Walk, last: Waypoint, first: Waypoint) -> None:
        """Lead the way from the last point of a round to the first one around obstacles."""
        if self._ground_for(walk, first.place) is None:
            return

        def found(route: Route | None) -> None:
            walk.close_round(last, self._corners(walk, route, first.speed))

        self._grounds.find_route(walk.zone, last.place, first.place, found)

    def _corners(self, walk: Walk, route: Route | None, speed: float) -> list[Waypoint]:
        """Return the points of a route between its ends; none for a straight one."""
        if route is None or route.is_straight or not self._is_here(walk):
            return []
        places = _places(route)[1:]
        return [Waypoint(one, speed) for one in (places[:-1] if route.reaches else places)]

    def lead(self, walk: Walk, goal: Waypoint, short: float = 0.0) -> None:
        """Lead a walk to a goal instead of the points of its queue; stop `short` meters before it.

        While a search is running, another goal is not taken.
        """
        here = walk.spawn.position
        if self._ground_for(walk, goal.place) is None:
            self._lead_straight(walk, goal, short)
            return
        if walk in self._led:
            return
        search = self._led[walk] = object()

        def found(route: Route | None) -> None:
            if self._led.get(walk) is not search:
                return
            del self._led[walk]
            if route is None and self._is_here(walk):
                self._lead_straight(walk, goal, short)
            elif route is not None and self._is_here(walk):
                self._take(walk, _shortened(_places(route), short), goal)

        self._grounds.find_route(walk.zone, here, goal.place, found)

    def flee(self, walk: Walk, speed: float) -> bool:
        """Lead a scared creature to any place that it can reach; return False without a mesh.

        Source: EQ2Emulator's server lets nobody flee without a mesh.
        """
        ground, here = self._ground_for(walk), walk.spawn.position
        mesh = ground.mesh if ground is not None else None
        spot = mesh.some_place(here[:3], FLIGHT, self._chance) if mesh is not None else None
        if spot is None:
            return False
        self.cancel(walk)
        self.lead(walk, Waypoint(Position(*spot.place, 0.0, here.grid), speed))
        return True

    def may_go(self, spawn: Spawn, zone: Zone, place: Position) -> bool:
        """Return whether a creature would go to a place: one of water stays in the water.

        One that is on land itself, or in a zone whose water is not known, goes on.
        """
        if not spawn.swims:
            return True
        ground = self._grounds.of(zone)
        return ground.is_water(place) or not ground.is_water(spawn.position)

    def thrown(self, spawn: Spawn, zone: Zone, goal: Position) -> Position:
        """Return where a spawn lands that is thrown toward a place."""
        return goal if hovers(spawn) else self._grounds.of(zone).thrown(spawn.position, goal)

    def cancel(self, walk: Walk) -> None:
        """Forget the search for a walk, because the creature is to go elsewhere or to stand."""
        self._led.pop(walk, None)

    def _ground_for(self, walk: Walk, goal: Position | None = None) -> ZoneGround | None:
        """Return the ground on which a creature walks; None if it goes straight.

        Who is in water, or goes there, swims straight.
        """
        if walk.spawn.kind is not SpawnKind.NPC or hovers(walk.spawn):
            return None
        ground = self._grounds.of(walk.zone)
        if ground.map is None and ground.mesh is None:
            return None
        swims = ground.is_water(walk.spawn.position) or (goal is not None and ground.is_water(goal))
        return None if swims else ground

    def _lead_straight(self, walk: Walk, goal: Waypoint, short: float) -> None:
        here = walk.spawn.position
        far = math.dist(here[:3], goal.place[:3])
        self._take(walk, [here, here.toward(goal.place, far - short)], goal)

    def _is_here(self, walk: Walk) -> bool:
        return self._walks.get(walk.spawn, walk.zone) is walk

    def _take(self, walk: Walk, places: Sequence[Position], goal: Waypoint) -> None:
        """Have a walk go to some places, of which it is at the first; the last one is the goal."""
        now = self._grounds.now()
        points = [Waypoint(place, goal.speed) for place in places[1:]]
        if not points:
            walk.clear_queue(now)
        else:
            points[-1] = goal._replace(place=points[-1].place)
            walk.redirect(*points, now=now)
            walk.begin(now)
        self._walks.changed(walk, now)


def _places(route: Route) -> list[Position]:
    """Return the corners of a route with their grids."""
    found: list[Position] = []
    for corner in route.corners:
        grid = corner.surface.grid if corner.surface is not None else 0
        place = Position(*corner.place, 0.0, grid or (found[-1].grid if found else 0))
        if not found or math.dist(found[-1][:3], place[:3]) > _NEAREST:
            found.append(place)
    return found


def _shortened(places: Sequence[Position], short: float) -> list[Position]:
    """Return a way without its last meters."""
    left = sum(math.dist(one[:3], other[:3]) for one, other in pairwise(places)) - short
    kept = list(places[:1])
    for start, end in pairwise(places):
        length = math.dist(start[:3], end[:3])
        if left <= 0.0:
            break
        kept.append(end if length <= left else start.toward(end, left)._replace(grid=end.grid))
        left -= length
    return kept
