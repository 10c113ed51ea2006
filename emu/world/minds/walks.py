"""Walks of spawns: rounds that go on for ever, and single ways, at a speed for each point.

A spawn goes straight from point to point. Its place is a function of the time, so a walk costs
something at its corners only; clients draw the way between them from speed, heading and the point
ahead. In between, `beat` brings the places of the spawns up to date for whoever compares distances,
and sends nothing. In a zone without players nothing happens: a walk catches up when one comes.

Times are seconds of the caller's clock, speeds units a second.
Source: docs/guides/lua.md#movement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from emu.ground.legs import LegCorner
from emu.times import Monotonic
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.deadlines import Deadlines, Timetable
from emu.world.minds.legs import SHORTEST, Bend, bends_of, between, length_of, passed
from emu.world.visibility.fields import hovers
from emu.world.zones.ground import Grounds
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

BEAT: Final = 0.5
"""Seconds between two updates of the places of those who walk."""
GRAIN: Final = 0.25
"""Corners are handled at multiples of this many seconds; walks are not slowed by it."""
_ROUNDING: Final = 1e-6
AT_ONCE: Final = 200
"""Walks that catch up in one turn: some milliseconds."""
SHORTEST_LEG: Final = 0.1
"""Seconds: points at one place must not be passed without end in one moment."""
SLOWEST: Final = 0.01
UPRIGHT: Final = 0.01
"""Units on the ground of a way that leads straight up: scripts round places."""
LATEST: Final = 1.0
"""Seconds by which a corner may be late and the walk not be."""


Corners = Callable[["Walk", Position, Position], Sequence[LegCorner] | None]
"""Returns the ground's corners of a leg; None if they are not known yet, or there are none."""
_STRAIGHT: Final[Corners] = lambda _walk, _start, _end: None  # noqa: E731  # a default
NOTHING: Final[Callable[[str], object]] = lambda _mark: None  # noqa: E731  # a default


class Waypoint(NamedTuple):
    """One point of a walk."""

    place: Position
    speed: float
    """On the way to it."""
    stay: float = 0.0
    """Seconds that the spawn stands there."""
    mark: str = ""
    """What the walk's owner is passed at its arrival."""
    heading: float | None = None
    """Where the spawn looks while it stands there; None: to the next point."""


@dataclass(slots=True, eq=False)
class Walk:
    """The walk of one spawn: a round, and a queue of points that come before it."""

    spawn: Spawn
    zone: Zone
    arrived: Callable[[str], object] = NOTHING
    """Is called with the mark of each point that has one, when the spawn arrives there."""
    _: KW_ONLY
    ring: list[Waypoint] = field(default_factory=list)
    queue: list[Waypoint] = field(default_factory=list)
    beat: float = 0.0
    """Seconds between two updates of its place; 0 for those of all walks of a zone."""
    ends_unseen: bool = False
    """Whether the spawn is put at the end of its queue when nobody is in the zone."""
    goal: Waypoint | None = None
    """The point to which it goes; None while it stands."""
    corners: Corners = _STRAIGHT
    _bends: tuple[Bend, ...] = ()
    """Its way over the ground; empty for a straight one."""
    _passed: int = 0
    """The last of them that is behind it."""
    _from: Position = field(init=False)
    _begun: float = 0.0
    _ends: float = 0.0
    _stays: float = 0.0
    """The end of its stay at a point."""
    _paused: float = 0.0
    """The end of a pause."""
    _turned_from: float | None = None
    """The heading before a pause, to which a spawn without a way turns back."""
    _next: int = 0
    """The point of the round to which it goes, or goes next."""
    _factor: float = 1.0
    """The speed of each point is multiplied by this; 0 lets the spawn stand."""
    _speed: float = 0.0
    """That of the leg as clients are shown it; over the ground each part has its own."""

    def __post_init__(self) -> None:
        self._from = self.spawn.position

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything to do: a way, or a heading to turn back to."""
        return bool((self._factor and (self.ring or self.queue)) or self._turned_from is not None)

    @property
    def due(self) -> Monotonic:
        """When `step` must be called next."""
        # A pause ends before a stay does: the spawn then turns back.
        waits = self._paused or self._stays
        if self.goal is None:
            return Monotonic(waits)
        next_bend = self._bends[self._passed + 1].share if self._bends else 1.0
        return Monotonic(self._ends if next_bend >= 1.0 else self._time_of(next_bend))

    def place(self, now: float) -> Position:
        """Return where the spawn is at a time."""
        goal, span = self.goal, self._ends - self._begun
        if goal is None:
            return self.spawn.position
        if now >= self._ends or span <= 0.0:
            return self._end_of(goal)
        share = max(0.0, (now - self._begun) / span)
        if self._bends:
            at = between(self._bends, passed(self._bends, share), share)
            return at._replace(heading=self.spawn.position.heading)
        start, end = self._from, goal.place
        return Position(
            start.x + (end.x - start.x) * share,
            start.y + (end.y - start.y) * share,
            start.z + (end.z - start.z) * share,
            self.spawn.position.heading,
            start.grid,
        )

    def drift(self, now: float) -> None:
        """Bring the spawn's place up to date.

        Nothing is sent of a creature, which clients let walk. Things have no way that clients know
        of, so their places are sent (docs/protocol/world/spawns.md#walks).
        """
        if self.goal is not None:
            place = self.place(now)
            if self.spawn.is_living:
                self.spawn.drift(place)
            else:
                self.spawn.move(place, speed=self.spawn.speed)

    # -- changes ----------------------------------------------------------------------------------

    def begin(self, now: float) -> None:
        """Set off to the first point, unless the spawn goes already, stays or is in a pause."""
        goal = self.goal
        if goal is not None:
            # Points that came behind it change what lies ahead.
            self.spawn.ahead = self._points_ahead(goal)
        elif now >= max(self._stays, self._paused):
            self._set_off(now)

    def stop(self, now: float) -> None:
        """Stand still and forget all points."""
        self.ring.clear()
        self.queue.clear()
        self._next = 0
        self._stays = self._paused = 0.0
        self._turned_from = None
        self._stand(now)

    def clear_queue(self, now: float) -> None:
        """Forget the points of the queue; a round goes on."""
        if self.queue:
            self.queue.clear()
            self._stand(now)
            self.begin(now)

    def leave_round(self, now: float) -> None:
        """Go to the first point of the queue now, and to the round after its last one."""
        if self.queue and self.goal is not None and self.goal is not self.queue[0]:
            self._leave_goal(now)

    def redirect(self, *points: Waypoint, now: float) -> None:
        """Have other points in the queue, and be on the way to none of them yet."""
        self._leave_goal(now)
        self.queue.clear()
        self.queue.extend(points)

    def insert(self, before: Waypoint, points: Sequence[Waypoint], now: float) -> None:
        """Have more points before one that is still ahead; the spawn leaves the straight way."""
        held = next(
            (one for one in (self.queue, self.ring) if any(it is before for it in one)), None
        )
        if held is None or not points:
            return
        at = next(number for number, it in enumerate(held) if it is before)
        if held is self.ring and not at:
            # The way to the first point is walked once; behind the last one is another.
            held = self.queue
            if self.goal is not before:
                return
        held[at:at] = points
        if held is self.ring and at < self._next:
            self._next += len(points)
        if self.goal is before:
            self._leave_goal(now)
            self.begin(now)

    def close_round(self, last: Waypoint, points: Sequence[Waypoint]) -> None:
        """Have more points between the last one of the round and the first, if it still is last."""
        if self.ring and self.ring[-1] is last:
            self.ring.extend(points)

    def continue_from(self, place: Position, now: float) -> None:
        """Continue from another place."""
        self.goal = None
        self.spawn.ahead = ()
        self.spawn.move(place)
        self.begin(now)

    def set_factor(self, factor: float, now: float) -> None:
        """Multiply the speeds of all points."""
        self._factor = factor
        if factor:
            self._leave_goal(now)
            self.begin(now)
        else:
            self._stand(now)

    def _leave_goal(self, now: float) -> None:
        """Be on the way to nothing, without standing still for clients."""
        if self.goal is not None:
            self.spawn.position = self.place(now)
            self.goal = None

    def pause(self, until: float, now: float, *, turned_from: float | None = None) -> None:
        """Stand until a time, and then go on to the same point.

        `turned_from` is the heading to which a spawn without a way turns back.
        """
        self._stand(now)
        self._paused = until
        if self._turned_from is None:
            self._turned_from = turned_from

    def _stand(self, now: float) -> None:
        if self.goal is not None:
            at = self.place(now)
            self.goal = None
            self.spawn.ahead = ()
            self.spawn.move(at)

    # -- time -------------------------------------------------------------------------------------

    def step(self, now: float) -> None:
        """Arrive at the point that is reached, or set off when a stay or a pause is over."""
        # Rounding may lead to the moment just before: it must not be asked for again.
        goal, soon = self.goal, now + _ROUNDING
        if goal is not None:
            if soon >= self._ends:
                self._arrive(goal, now)
            elif soon >= self.due:
                self._show_leg(goal, now)
        elif self._paused:
            if soon >= self._paused:
                self._end_pause(now)
        elif soon >= self._stays and self._ahead() is not None:
            self._set_off(_in_time(self._stays, now), now)

    def _arrive(self, goal: Waypoint, now: float) -> None:
        # A corner that is handled a little late must not slow the walk.
        then = _in_time(self._ends, now)
        self.goal = None
        spawn = self.spawn
        spawn.position = self._end_of(goal)
        if self.queue and self.queue[0] is goal:
            self.queue.pop(0)
        elif self.ring:
            self._next = (self._next + 1) % len(self.ring)
        self._stays = then + goal.stay if goal.stay else 0.0
        turned = spawn.position.heading
        if goal.mark:
            self.arrived(goal.mark)
        # What was called may have stopped the walk, or paused it, or set off to another place.
        if self.goal is not None:
            return
        if self._stays > now or self._paused > now or not self._ahead():
            # Who was turned by what was called stays so.
            self._wait(goal, is_turned=spawn.position.heading != turned)
        else:
            self._set_off(then, now)

    def _wait(self, goal: Waypoint, *, is_turned: bool) -> None:
        """Stand at a point, and look where it says, or else to the next one."""
        spawn, heading = self.spawn, goal.heading
        ahead = self._ahead()
        if is_turned:
            heading = spawn.position.heading
        elif heading is None and ahead is not None:
            heading = self._heading_to(ahead.place)
        spawn.ahead = ()
        spawn.move(spawn.position if heading is None else spawn.position._replace(heading=heading))

    def _end_pause(self, now: float) -> None:
        heading, self._turned_from = self._turned_from, None
        ended, self._paused = max(self._stays, self._paused), 0.0
        if self._stays <= now and self._ahead() is not None:
            self._set_off(_in_time(ended, now), now)
        elif heading is not None:
            self.spawn.move(self.spawn.position._replace(heading=heading))

    def _ahead(self) -> Waypoint | None:
        """Return the point to which the spawn goes next."""
        if self.queue:
            return self.queue[0]
        return self.ring[self._next % len(self.ring)] if self.ring else None

    def _after(self, goal: Waypoint) -> Waypoint:
        """Return the point behind the one to which the spawn goes."""
        if self.queue:
            return self.queue[1] if len(self.queue) > 1 else goal
        return self.ring[(self._next + 1) % len(self.ring)]

    def _set_off(self, then: float, now: float | None = None) -> None:
        """Set off at a time, and show the spawn where it is now: it may be late."""
        goal = self._ahead()
        if goal is None or not self._factor:
            return
        spawn, here = self.spawn, self.spawn.position
        speed = max(SLOWEST, goal.speed * self._factor)
        span = math.dist(here[:3], goal.place[:3])
        heading = self._heading_to(goal.place)
        self.goal = goal
        self._from, self._begun = here, then
        self._ends = then + max(SHORTEST_LEG, span / speed)
        self._bends, self._speed = (), speed if span else 0.0
        corners = self.corners(self, here, goal.place)
        if corners is not None:
            self._bends = bends_of(here, goal.place, corners)
        spawn.position = here._replace(heading=heading)
        self._show_leg(goal, then if now is None else now)

    def take_corners(self, start: Position, corners: Sequence[LegCorner], now: float) -> None:
        """Follow the ground from now on, if the spawn still walks the leg from `start`."""
        goal = self.goal
        if goal is not None and self._from is start:
            self._bends, self._passed = bends_of(start, goal.place, corners), 0
            # Clients draw a straight leg already.
            if len(self._bends) > 2:  # start and end
                self._show_leg(goal, now)

    def _show_leg(self, goal: Waypoint, now: float) -> None:
        """Show the spawn on its way, with the points ahead and the speed to the next of them."""
        place, speed = self.place(now), self._speed
        if self._bends:
            # A little ahead: rounding may lead to the moment before a bend.
            share = (now + _ROUNDING - self._begun) / (self._ends - self._begun)
            self._passed = at = passed(self._bends, share)
            before, after = self._bends[at], self._bends[at + 1]
            way = math.dist(before.place[:3], after.place[:3])
            speed = way / (self._time_of(after.share) - self._time_of(before.share))
        self.spawn.ahead = self._points_ahead(goal)
        self.spawn.move(place, speed=speed)

    def _points_ahead(self, goal: Waypoint) -> tuple[Position, Position]:
        """Return the next two points of the way: bends, the goal, the point behind it."""
        rest = [bend.place for bend in self._bends[self._passed + 1 :]][:2] or [goal.place]
        return (rest[0], rest[1] if len(rest) > 1 else self._after(goal).place)

    def _time_of(self, share: float) -> float:
        return self._begun + (self._ends - self._begun) * share

    def _end_of(self, goal: Waypoint) -> Position:
        """Return the place at the end of the leg."""
        end = self._bends[-1].place if self._bends else goal.place
        return end._replace(heading=self.spawn.position.heading)

    def _heading_to(self, place: Position) -> float:
        """Return the heading with which the spawn goes to a place."""
        here = self.spawn.position
        # Straight up there is no direction. A widget is a part of a building: a lift does not turn.
        if self.spawn.kind is SpawnKind.WIDGET or here.distance_to(place) < UPRIGHT:
            return here.heading
        return here.heading_to(place)

    # -- the time without players -----------------------------------------------------------------

    def catch_up(self, now: float) -> None:
        """Go to where the spawn would be if somebody had watched it all the time.

        Marks on the way are left out, but a queue goes no farther than to its next mark.
        """
        while self.queue and self.goal is self.queue[0] and self._ends <= now:
            goal = self.queue[0]
            if goal.mark or (len(self.queue) == 1 and not self.ring):
                self._arrive(goal, now)
                return
            self._pass(goal, self._ends)
        if self.ring and not self.queue and self._paused <= now:
            self._skip_rounds(now)
        self.drift(now)

    def finish(self, now: float) -> None:
        """Be at the end of the queue."""
        end = self.queue[-1]
        self.stop(now)
        self.spawn.move(end.place._replace(heading=self.spawn.position.heading))
        if end.mark:
            self.arrived(end.mark)

    def _pass(self, goal: Waypoint, when: float) -> None:
        """Leave a point behind at a time in the past."""
        self.spawn.position = goal.place._replace(heading=self.spawn.position.heading)
        self.goal = None
        self.queue.pop(0)
        self._set_off(when)

    def _skip_rounds(self, now: float) -> None:
        """Leave out whole rounds, and then what has passed of the last one."""
        goal, here, leaves = self.goal, self.spawn.position, max(self._stays, self._paused)
        if not self._factor or (goal is not None and self._ends > now):
            return
        if goal is not None:
            here, leaves = goal.place, self._ends + goal.stay
            self._next += 1
            self.goal = None
        round_time = sum(self._time(before, point) + point.stay for before, point in self._legs())
        for _ in range(2 * len(self.ring) + 1):
            self._next %= len(self.ring)
            # Only on the round: the way to its first point is no part of it.
            if now - leaves > round_time and here[:3] == self.ring[self._next - 1].place[:3]:
                leaves += (now - leaves) // round_time * round_time
            point = self.ring[self._next]
            arrives = leaves + self._time(here, point)
            if arrives > now:
                break
            here, leaves = point.place, arrives + point.stay
            self._next += 1
        self.spawn.position = here._replace(heading=self.spawn.position.heading)
        self._next %= len(self.ring)
        self._stays = leaves
        if leaves > now:
            self._wait(self.ring[self._next - 1], is_turned=False)
        else:
            self._set_off(leaves, now)

    def _legs(self) -> Iterator[tuple[Position, Waypoint]]:
        """Yield the points of the round, each with the place before it."""
        for at, point in enumerate(self.ring):
            yield self.ring[at - 1].place, point

    def _time(self, here: Position, point: Waypoint) -> float:
        """Return the seconds from a place to a point."""
        speed = max(SLOWEST, point.speed * self._factor)
        return max(SHORTEST_LEG, math.dist(here[:3], point.place[:3]) / speed)


class Walks:
    """The walks of all spawns of a world."""

    def __init__(self, *, timetable: Timetable, grounds: Grounds | None = None) -> None:
        """Let creatures follow the ground of `grounds`; without it all go straight."""
        self._find = partial(self._corners, grounds) if grounds is not None else None
        self._walks: dict[Zone, dict[Spawn, Walk]] = {}
        self._late: dict[Zone, dict[Walk, None]] = {}
        """The walks that have stood while nobody watched, and are to catch up."""
        self._deadlines: Deadlines[Walk | Zone, str] = timetable.deadlines("walks", self._handle)

    def __len__(self) -> int:
        return sum(len(walks) for walks in self._walks.values())

    def get(self, spawn: Spawn, zone: Zone) -> Walk | None:
        """Return the walk of a spawn, None if it has none."""
        return self._walks.get(zone, {}).get(spawn)

    def walking(self, zone: Zone) -> Iterator[Spawn]:
        """Yield the spawns of a zone that are on their way."""
        return (spawn for spawn, walk in self._walks.get(zone, {}).items() if walk.goal is not None)

    def of(self, spawn: Spawn, zone: Zone, arrived: Callable[[str], object]) -> Walk:
        """Return the walk of a spawn; a new one has no points."""
        walks = self._walks.setdefault(zone, {})
        walk = walks.get(spawn)
        if walk is None:
            walk = walks[spawn] = Walk(spawn, zone, arrived)
            if self._find is not None and spawn.kind is SpawnKind.NPC:
                walk.corners = self._find
        return walk

    def _corners(
        self, grounds: Grounds, walk: Walk, start: Position, end: Position
    ) -> Sequence[LegCorner] | None:
        """Return the corners of a leg; the walk gets those that are not known when they are."""
        if length_of(start, end) < SHORTEST or hovers(walk.spawn):
            return None

        def traced(corners: Sequence[LegCorner], now: Monotonic) -> None:
            if self.get(walk.spawn, walk.zone) is walk:
                walk.take_corners(start, corners, now)
                self._arm(walk, now)

        return grounds.leg(walk.zone, start, end, traced)

    def changed(self, walk: Walk, now: Monotonic) -> None:
        """Take note of a walk whose points or pause have changed; it sets off if it can."""
        walk.begin(now)
        self._arm(walk, now)

    def forget(self, spawn: Spawn, zone: Zone) -> None:
        """End the walk of a spawn that leaves its zone."""
        walk = self._walks.get(zone, {}).pop(spawn, None)
        if walk is not None:
            self._deadlines.clear(walk, _STEP)

    def ended(self, zone: Zone) -> None:
        """End the walks of a zone that ends."""
        for walk in self._walks.pop(zone, {}).values():
            self._deadlines.clear(walk, _STEP)
        self._late.pop(zone, None)
        self._deadlines.forget(zone, (_BEAT, _LATE))

    def entered(self, zone: Zone, now: Monotonic) -> None:
        """Let the walks of a zone catch up and go on: a player stands there."""
        for walk in list(self._walks.get(zone, {}).values()):
            # Those whose next corner is still ahead need nothing but their place. The others are
            # too many for one turn.
            if walk.is_wanted and self._deadlines.get(walk, _STEP) is None:
                self._late.setdefault(zone, {})[walk] = None
                self._deadlines.set(zone, _LATE, now)
            else:
                walk.drift(now)

    # -- time -------------------------------------------------------------------------------------

    def _handle(self, owner: Walk | Zone, what: str, now: Monotonic) -> None:
        """Take a step, let some walks catch up, or update the places in a zone."""
        if isinstance(owner, Walk):
            # In an empty zone a walk stops here: `entered` lets it catch up.
            if owner.zone.is_watched:
                owner.step(now)
                if owner.beat:
                    owner.drift(now)
            elif owner.ends_unseen and owner.queue:
                owner.finish(now)
            else:
                return
            self._arm(owner, now)
        elif what == _LATE:
            self._catch_up_some(owner, now)
        elif owner.is_watched:
            for walk in self._walks.get(owner, {}).values():
                if not walk.beat:
                    walk.drift(now)
            self._deadlines.set(owner, _BEAT, Monotonic(now + BEAT))

    def _catch_up_some(self, zone: Zone, now: Monotonic) -> None:
        late = self._late.pop(zone, {})
        for walk in list(islice(late, AT_ONCE)):
            del late[walk]
            if self.get(walk.spawn, zone) is walk:
                walk.catch_up(now)
                self._arm(walk, now)
        if late:
            self._late[zone] = late | self._late.get(zone, {})
            self._deadlines.set(zone, _LATE, now)

    def _arm(self, walk: Walk, now: Monotonic) -> None:
        # What was called at a point may have removed the spawn.
        is_here = self.get(walk.spawn, walk.zone) is walk
        if not is_here or (not walk.is_wanted and walk.goal is None):
            self._deadlines.clear(walk, _STEP)
            return
        if walk.beat:
            due = min(now + walk.beat, walk.due)
        else:
            # Corners that are close in time share a moment, and so a message to each viewer.
            due = math.ceil((walk.due - _ROUNDING / 2) / GRAIN) * GRAIN
        # A long round is added point by point, and its first corner stays.
        if self._deadlines.get(walk, _STEP) != due:
            self._deadlines.set(walk, _STEP, Monotonic(due))
        if self._deadlines.get(walk.zone, _BEAT) is None and walk.zone.is_watched:
            self._deadlines.set(walk.zone, _BEAT, Monotonic(now + BEAT))


def _in_time(due: float, now: float) -> float:
    """Return when something happened that is handled now; much later it happens now."""
    return due if now - due < LATEST else now


_STEP: Final = "step"
_BEAT: Final = "beat"
_LATE: Final = "late"
