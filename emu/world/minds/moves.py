"""The driver of walks: rounds, ways, pauses, turning to somebody, following and hunting.

A mover is a spawn that a behavior or a script moves, with what is set for it.
Source: docs/guides/lua.md#movement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.deadlines import Deadlines, Timetable
from emu.world.events import Entered, Events, Order
from emu.world.minds.nearness import distance_between
from emu.world.minds.walks import Walk, Walks, Waypoint
from emu.world.minds.ways import Ways
from emu.world.sheets import GHOST_SIZE, NOBODY
from emu.world.zones.ground import Grounds
from emu.world.zones.zone import Zone
from emu.world_stream.movement import FULL_TURN, Position

TURNED: Final = 30.0
"""Seconds that a spawn faces a player to whom it has been turned."""
HAIL_PAUSE: Final = 5.0
"""Seconds that a spawn on its way stands after a hail."""
MOST_POINTS: Final = 4096
"""Points of one round, and of one way; the community's longest round has 1,579."""
FASTEST: Final = 100.0
FARTHEST: Final = 100_000.0
WAY_BEAT: Final = 0.25
"""Seconds between two updates of the place of a spawn whose way a behavior has set."""
FOLLOW_PAUSE: Final = 0.5
"""Seconds between two searches for the way to whom a spawn follows."""
FOLLOW_SPEED: Final = 5.0
"""Of a follower that has no speed of its own."""
NEAREST_FOLLOWED: Final = 2.0
"""A follower stops so far from whom it follows, or at the distance that is set."""
SLACK: Final = 1.0
"""How much farther away that one must be before the follower goes on."""
FARTHEST_WAY: Final = 0.5
"""Meters that a follower's target may move before its way is searched again."""
_FOLLOW: Final = "follow"


class Chase(NamedTuple):
    """Somebody whom a spawn follows or hunts."""

    target: Spawn
    distance: float
    """The spawn stops so far from the target."""
    speed: float
    given_up: Callable[[], object] | None = None
    """Called when the spawn hunts the target no longer; None for a follower, who waits."""


@dataclass(slots=True, eq=False, kw_only=True)
class Mover:
    """A spawn that is moved, or a player."""

    spawn: Spawn
    zone: Zone
    player: Player | None
    arrived: Callable[[str], object]
    """Is called with the mark of each point that has one, when the spawn arrives there."""
    speed: float = 0.0
    """Its own, in units a second; 0 until one is set."""
    factor: float = 1.0
    """Its speeds are multiplied by this."""
    seen_at: Position | None = None
    """Where it was when `has_moved` was asked last."""
    follows: Spawn | None = None
    follow_distance: float = 0.0
    is_following: bool = False
    chase: Chase | None = None
    """Whom it hunts."""
    led_to: Position | None = None
    """Where the target was when the way to it was searched last."""
    home: Position | None = None
    """Where it was when its chase began."""
    _walks: Walks = field(repr=False)
    _ways: Ways = field(repr=False)
    _followers: Deadlines[Mover, str] = field(repr=False)
    _now: Callable[[], Monotonic] = field(repr=False)

    # -- rounds and ways --------------------------------------------------------------------------

    def add_to_round(self, point: Waypoint, *, around: bool = False) -> bool:
        """Add a point to the round, and set off at once; return False if it has too many.

        `around` leads the ways from the point before it, and on to the first one, around obstacles.
        """
        walk = self._walk()
        if len(walk.ring) >= MOST_POINTS:
            return False
        if _is_place(point):
            before = walk.ring[-1].place if walk.ring else self.spawn.position
            goal = point._replace(speed=self._speed(point))
            walk.ring.append(goal)
            self._walks.changed(walk, self._now())
            if around:
                self._ways.complete(walk, before, goal)
                self._ways.close(walk, goal, walk.ring[0])
        return True

    def go(self, point: Waypoint, *, at_once: bool, around: bool = False) -> bool:
        """Add a point to the way; the spawn sets off when that is complete.

        `around` leads the way around obstacles. Returns False if the way has too many points.
        """
        walk = self._walk()
        if len(walk.queue) >= MOST_POINTS:
            return False
        speed = self._speed(point)
        if not _is_place(point) or not speed:
            return True
        if not walk.queue:
            self.spawn.origin = self.spawn.position
        before = walk.queue[-1].place if walk.queue else self.spawn.position
        goal = point._replace(speed=speed)
        walk.queue.append(goal)
        if at_once:
            walk.leave_round(self._now())
            self._walks.changed(walk, self._now())
        if around:
            self._ways.complete(walk, before, goal)
        return True

    def set_way(self, points: Sequence[Waypoint]) -> None:
        """Replace the way; the spawn waits for `set_off`, and is at its end if nobody watches."""
        walk = self._walk()
        self.chase = None
        self._ways.cancel(walk)
        walk.beat, walk.ends_unseen = WAY_BEAT, True
        walk.redirect(*points, now=self._now())

    def set_off(self) -> None:
        """Go the way that was set."""
        walk = self._found()
        if walk is not None:
            self._walks.changed(walk, self._now())

    def clear_way(self) -> None:
        """Forget the points of the way; the round goes on."""
        walk = self._found()
        if walk is not None:
            self._ways.cancel(walk)
            walk.clear_queue(self._now())
            self._walks.changed(walk, self._now())

    def stop(self) -> None:
        """Forget the round and the way, hunt nobody, and stand still."""
        self.chase = None
        walk = self._found()
        if walk is not None:
            self._ways.cancel(walk)
            walk.stop(self._now())
            self._walks.changed(walk, self._now())

    def pause(self, seconds: float) -> None:
        """Stand for a while."""
        walk = self._found()
        if walk is not None:
            now = self._now()
            walk.pause(now + seconds, now)
            self._walks.changed(walk, now)

    @property
    def is_running(self) -> bool:
        """Whether the spawn is on its way."""
        walk = self._found()
        return walk is not None and (bool(walk.queue) or self._ways.is_leading(walk))

    @property
    def is_going(self) -> bool:
        """Whether the spawn goes to a point now."""
        walk = self._found()
        return walk is not None and walk.goal is not None

    def set_factor(self, value: float) -> None:
        """Multiply the speed; a value above 1 is a percentage of slowing."""
        self.factor = max(0.0, 1.0 - value / 100.0 if value > 1.0 else value)
        walk = self._found()
        if walk is not None:
            walk.set_factor(self.factor, self._now())
            self._walks.changed(walk, self._now())

    def set_speed(self, speed: float) -> None:
        """Set the own speed, which ways and followers have; a player's client's."""
        self.speed = max(0.0, min(speed, FASTEST))
        if self.player is not None:
            fields = {"spawn_id": NOBODY, "speed": self.speed, "size": GHOST_SIZE}
            self.player.client.send("WS_SetControlGhost", fields)

    # -- places and headings ----------------------------------------------------------------------

    def stay_at(self, place: Position) -> None:
        """Be at a place, which is the home from now on."""
        if max(abs(axis) for axis in place[:3]) > FARTHEST:
            return
        if self.player is not None:
            self.player.teleport(place, self._now())
            return
        self.spawn.origin = place
        self.stop_where(place)

    def stop_where(self, place: Position) -> None:
        """Move to a place, from which the round goes on."""
        walk = self._found()
        if walk is None:
            self.spawn.move(place)
        else:
            self._ways.cancel(walk)
            walk.continue_from(place, self._now())
            self._walks.changed(walk, self._now())

    def throw(self, goal: Position) -> None:
        """Be thrown toward a place, up to the first wall, and stand on the ground there."""
        self.refresh()
        self.stop_where(self._ways.thrown(self.spawn, self.zone, goal))

    def turn(self, heading: float) -> None:
        """Turn to a heading in degrees; one that walks looks where it goes."""
        turned = self.spawn.position._replace(heading=heading % FULL_TURN)
        if self.player is not None:
            self.player.teleport(turned, self._now())
        elif not self.is_going:
            self.spawn.move(turned)

    def face(self, other: Spawn, *, is_player: bool) -> None:
        """Turn to another spawn; face a player for a while, and go on then."""
        at, now = self.spawn.position, self._now()
        if is_player:
            walk = self._walk()
            walk.pause(now + TURNED, now, turned_from=at.heading)
            self._walks.changed(walk, now)
        self.look_at(other.position)

    def look_at(self, place: Position) -> None:
        """Turn to a place; one that walks looks where it goes."""
        if not self.is_going:
            at = self.spawn.position
            self.spawn.move(at._replace(heading=at.heading_to(place)))

    def hailed(self) -> None:
        """Stand after a hail on the way; a spawn that turned to the player does so no longer."""
        walk = self._found()
        if walk is not None and (walk.ring or walk.queue):
            self.pause(HAIL_PAUSE)

    def refresh(self) -> None:
        """Bring the place up to date before a distance is measured."""
        walk = self._found()
        if walk is not None:
            walk.drift(self._now())

    # -- following --------------------------------------------------------------------------------

    def follow(self, target: Spawn | None, distance: float) -> None:
        """Set whom the spawn follows while `toggle_follow` has switched that on."""
        self.follows = target
        self.follow_distance = max(NEAREST_FOLLOWED, min(distance, FARTHEST))
        self.look_after()

    def toggle_follow(self) -> None:
        """Follow, or not any more."""
        self.is_following = not self.is_following
        if not self.is_following:
            self.clear_way()
        self.look_after()

    def hunt(
        self, target: Spawn, given_up: Callable[[], object], *,
        speed: float = 0.0, distance: float = NEAREST_FOLLOWED,
    ) -> None:  # fmt: skip
        """Run after a spawn, around what is in the way, until `stop_hunt`.

        `given_up` is called when the target has left the zone, or is where the spawn cannot go: a
        creature of water does not leave it. The place where the first hunt began stays the `home`.
        """
        self.refresh()
        if self.home is None:
            self.home = self.spawn.position
        self.chase = Chase(target, max(0.0, distance), self._pace(speed), given_up)
        self.led_to = None
        self.look_after()

    def stop_hunt(self) -> None:
        """Run after nobody, and stand."""
        self.chase = None
        self.clear_way()

    def run_back(self, speed: float = 0.0) -> bool:
        """Go back to where the first hunt began, and go on there; return False without a hunt."""
        home, self.home, self.chase = self.home, None, None
        if home is None:
            return False
        self.return_to(home, speed)
        return True

    def return_to(self, place: Position, speed: float = 0.0) -> None:
        """Leave the way, and go to a place around what is in the way; look there as it says."""
        walk = self._walk()
        self._ways.cancel(walk)
        self.refresh()
        self._ways.lead(walk, Waypoint(place, self._pace(speed), heading=place.heading))

    def flee(self, speed: float = 0.0) -> bool:
        """Run to any place that can be reached; return False where no mesh says which can."""
        self.refresh()
        return self._ways.flee(self._walk(), self._pace(speed))

    def look_after(self) -> None:
        """Look at once where the one is whom the spawn follows, if somebody watches."""
        if self._chased is not None and self.zone.is_watched:
            self._followers.set(self, _FOLLOW, self._now())

    @property
    def _chased(self) -> Chase | None:
        """Whom the spawn hunts, or else follows."""
        if self.chase is not None:
            return self.chase
        if not self.is_following or self.follows is None:
            return None
        return Chase(self.follows, self.follow_distance, self._pace(0.0))

    def _pace(self, speed: float) -> float:
        return min(speed, FASTEST) if speed > 0.0 else self.speed * self.factor or FOLLOW_SPEED

    def step_after(self, now: Monotonic) -> None:
        """Go on after whom the spawn hunts or follows."""
        chase = self._chased
        if chase is None or not self.zone.is_watched:
            return
        if not self.zone.holds(chase.target):
            self._lose(chase)
            return
        self._followers.set(self, _FOLLOW, Monotonic(now + FOLLOW_PAUSE))
        self.refresh()
        walk, place = self._walk(), chase.target.position
        if not self._ways.may_go(self.spawn, self.zone, place):
            if chase.given_up is not None:
                self._lose(chase)
            elif walk.queue:
                self.clear_way()
            return
        if distance_between(self.spawn, chase.target) <= chase.distance + SLACK:
            self.led_to = None
            if walk.queue:
                self.clear_way()
            return
        led_to = self.led_to
        if led_to is None or not walk.queue or math.dist(led_to[:3], place[:3]) > FARTHEST_WAY:
            self.led_to = place
            self._ways.lead(walk, Waypoint(place, chase.speed), chase.distance)

    def _lose(self, chase: Chase) -> None:
        """Run after somebody no longer who is gone or out of reach."""
        if self.chase is None:
            self.follows = None
        self.chase = self.led_to = None
        self.clear_way()
        if chase.given_up is not None:
            chase.given_up()

    # -- ends -------------------------------------------------------------------------------------

    def died(self) -> None:
        """Lie where it died."""
        self.is_following = False
        self.chase = self.home = None
        self.stop()
        self.forget()

    def forget(self) -> None:
        """Forget the walk."""
        self._followers.clear(self, _FOLLOW)
        walk = self._found()
        if walk is not None:
            self._ways.cancel(walk)
        self._walks.forget(self.spawn, self.zone)

    # -- internals --------------------------------------------------------------------------------

    def _walk(self) -> Walk:
        return self._walks.of(self.spawn, self.zone, self.arrived)

    def _found(self) -> Walk | None:
        return self._walks.get(self.spawn, self.zone)

    def _speed(self, point: Waypoint) -> float:
        return max(0.0, min(point.speed or self.speed, FASTEST))


class Moves:
    """The movers of a world."""

    def __init__(
        self,
        *,
        events: Events,
        timetable: Timetable,
        now: Callable[[], Monotonic],
        grounds: Grounds,
        chance: Callable[[], float],
    ) -> None:
        """Walks follow the ground of `grounds`; `chance` returns numbers from 0 up to 1."""
        self._now = now
        self.walks = Walks(timetable=timetable, grounds=grounds)
        self._ways = Ways(self.walks, grounds, chance)
        self._movers: dict[Zone, dict[Spawn, Mover]] = {}
        self._followers: Deadlines[Mover, str] = timetable.deadlines(
            "spawns that follow", self._follow
        )
        events.subscribe(Entered, self._entered, Order.MINDS)

    def get(self, spawn: Spawn, zone: Zone) -> Mover | None:
        """Return the mover of a spawn, None if nobody has moved it."""
        return self._movers.get(zone, {}).get(spawn)

    def of(
        self, spawn: Spawn, zone: Zone, arrived: Callable[[str], object],
        *, player: Player | None = None,
    ) -> Mover:  # fmt: skip
        """Return the mover of a spawn or a player; the first caller gets the marks of its walk."""
        movers = self._movers.setdefault(zone, {})
        mover = movers.get(spawn)
        if mover is None:
            mover = movers[spawn] = Mover(
                spawn=spawn, zone=zone, player=player, arrived=arrived, _walks=self.walks,
                _ways=self._ways, _followers=self._followers, _now=self._now,
            )  # fmt: skip
        return mover

    def forget(self, spawn: Spawn, zone: Zone) -> None:
        """Forget a spawn that leaves its zone."""
        movers = self._movers.get(zone, {})
        mover = movers.pop(spawn, None)
        if mover is not None:
            mover.forget()
        if not movers:
            self.ended(zone)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        for mover in self._movers.pop(zone, {}).values():
            mover.forget()
        self.walks.ended(zone)

    def _entered(self, event: Entered) -> None:
        """Go on in a zone in which a player stands now."""
        zone = event.player.zone
        self.walks.entered(zone, event.now)
        for mover in list(self._movers.get(zone, {}).values()):
            mover.look_after()

    def _follow(self, mover: Mover, _name: str, now: Monotonic) -> None:
        mover.step_after(now)


def push_player(
    player: Player, source: Spawn, up: float, away: float, *, own_heading: bool, now: Monotonic
) -> None:
    """Let a player's client push it away from a spawn, or along its own heading."""
    at = source.position
    # Its next steps are longer than it can walk.
    player.pace.moved_by_server(now)
    player.client.send(
        "WS_PlayerKnockback",
        {
            "target_x": at.x, "target_y": at.y, "target_z": at.z, "vertical_movement": up,
            "horizontal_movement": away, "use_player_heading": int(own_heading),
        },
    )  # fmt: skip


def _is_place(point: Waypoint) -> bool:
    return max(abs(axis) for axis in point.place[:3]) <= FARTHEST
