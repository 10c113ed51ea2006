"""Walks of scripted spawns: rounds, ways, pauses, turning to somebody, and following.

Source: docs/guides/lua.md#movement.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import SpawnKind
from emu.world.deadlines import Deadlines
from emu.world.minds.walks import Walk, Walks, Waypoint
from emu.world.scripts.bodies import Body, Home, distance_between
from emu.world.scripts.calls import Calls
from emu.world.scripts.shares import Shares
from emu.world.sheets import GHOST_SIZE, NOBODY
from emu.world_stream.movement import FULL_TURN, Position

TURNED: Final = 30.0
"""Seconds that a spawn faces a player whom `FaceTarget` has turned it to."""
HAIL_PAUSE: Final = 5.0
"""Seconds that a spawn on its way stands after a hail."""
MOST_POINTS: Final = 4096
"""Points of one round, and of one way; the community's longest round has 1,579."""
FASTEST: Final = 100.0
FARTHEST: Final = 100_000.0
FOLLOW_PAUSE: Final = 0.5
"""Seconds between two looks at whom a spawn follows."""
FOLLOW_SPEED: Final = 5.0
"""Of a follower that has no speed of its own."""
NEAREST_FOLLOWED: Final = 2.0
"""A follower stops so far from whom it follows, or at the distance that a script says."""
SLACK: Final = 1.0
"""How much farther away that one must be before the follower goes on."""
_FOLLOW: Final = "follow"


class Moves:
    """Moves the spawns of scripts."""

    def __init__(
        self, calls: Calls, walks: Walks, shares: Shares, wake: Callable[[Monotonic], None],
        now: Callable[[], Monotonic],
    ) -> None:  # fmt: skip
        self._calls = calls
        self._shares = shares
        self._walks = walks
        self._now = now
        self._followers: Deadlines[Body, str] = Deadlines(wake)

    # -- rounds and ways --------------------------------------------------------------------------

    def add_to_round(self, body: Body, point: Waypoint) -> None:
        """Add a point to the round of a spawn, which sets off at once."""
        walk = self._walk(body)
        if self._is_short(len(walk.ring)) and _is_place(point):
            walk.ring.append(point._replace(speed=self._speed(body, point)))
            self._walks.changed(walk, self._now())

    def go(self, body: Body, point: Waypoint, *, at_once: bool) -> None:
        """Add a point to the way of a spawn; it sets off when that is complete."""
        walk = self._walk(body)
        speed = self._speed(body, point)
        if not self._is_short(len(walk.queue)) or not _is_place(point) or not speed:
            return
        if not walk.queue:
            body.spawn.origin = body.spawn.position
        walk.queue.append(point._replace(speed=speed))
        if at_once:
            walk.leave_round(self._now())
            self._walks.changed(walk, self._now())

    def _is_short(self, count: int) -> bool:
        if count >= MOST_POINTS:
            self._calls.counters["points left out"] += 1
        return count < MOST_POINTS

    def clear_way(self, body: Body) -> None:
        """Forget the points of a spawn's way; its round goes on."""
        walk = self._found(body)
        if walk is not None:
            walk.clear_queue(self._now())
            self._walks.changed(walk, self._now())

    def stop(self, body: Body) -> None:
        """Forget the round and the way of a spawn, which stands still."""
        walk = self._found(body)
        if walk is not None:
            walk.stop(self._now())
            self._walks.changed(walk, self._now())

    def pause(self, body: Body, seconds: float) -> None:
        """Let a spawn stand for a while."""
        walk = self._found(body)
        if walk is not None:
            now = self._now()
            walk.pause(now + seconds, now)
            self._walks.changed(walk, now)

    def is_running(self, body: Body) -> bool:
        """Return whether a spawn is on its way."""
        walk = self._found(body)
        return walk is not None and bool(walk.queue)

    def set_factor(self, body: Body, value: float) -> None:
        """Multiply the speed of a spawn; a value above 1 is a percentage of slowing."""
        body.factor = max(0.0, 1.0 - value / 100.0 if value > 1.0 else value)
        walk = self._found(body)
        if walk is not None:
            walk.set_factor(body.factor, self._now())
            self._walks.changed(walk, self._now())

    def set_speed(self, body: Body, speed: float) -> None:
        """Set the speed of a spawn's own, which ways and followers have; a player's client's."""
        body.speed = max(0.0, min(speed, FASTEST))
        if body.player is not None:
            fields = {"spawn_id": NOBODY, "speed": body.speed, "size": GHOST_SIZE}
            body.player.client.send("WS_SetControlGhost", fields)

    # -- places and headings ----------------------------------------------------------------------

    def put(self, body: Body, place: Position) -> None:
        """Put a spawn, or a player, at a place, which is its home from now on."""
        if max(abs(axis) for axis in place[:3]) > FARTHEST:
            return
        player = body.player
        if player is not None:
            player.teleport(place, self._now())
            return
        body.spawn.origin = place
        self.stop_where(body, place)

    def stop_where(self, body: Body, place: Position) -> None:
        """Move a spawn to a place, from which its round goes on."""
        walk = self._found(body)
        if walk is None:
            body.spawn.move(place)
        else:
            walk.put(place, self._now())
            self._walks.changed(walk, self._now())

    def push_player(
        self, player: Player, source: Body, up: float, away: float, *, own_heading: bool
    ) -> None:
        """Let a player's client push it away from a spawn, or along its own heading."""
        at = source.spawn.position
        # Its next steps are longer than it can walk.
        player.pace.moved_by_server(self._now())
        player.client.send(
            "WS_PlayerKnockback",
            {
                "target_x": at.x, "target_y": at.y, "target_z": at.z, "vertical_movement": up,
                "horizontal_movement": away, "use_player_heading": int(own_heading),
            },
        )  # fmt: skip

    def turn(self, body: Body, heading: float) -> None:
        """Turn a spawn, or a player, to a heading in degrees."""
        at = body.spawn.position
        if body.player is not None:
            body.player.teleport(at._replace(heading=heading % FULL_TURN), self._now())
        elif not self._is_going(body):
            body.spawn.move(at._replace(heading=heading % FULL_TURN))

    def face(self, body: Body, other: Body) -> None:
        """Turn a spawn to another; it faces a player for a while, and goes on then."""
        now = self._now()
        if other.player is not None:
            walk = self._walk(body)
            walk.pause(now + TURNED, now, turned_from=body.spawn.position.heading)
            self._walks.changed(walk, now)
        # One that walks looks where it goes.
        if not self._is_going(body):
            at = body.spawn.position
            body.spawn.move(at._replace(heading=at.heading_to(other.spawn.position)))

    def hailed(self, body: Body) -> None:
        """Let a spawn that has a way stand after a hail; it turned to the player for no longer."""
        walk = self._found(body)
        if walk is not None and (walk.ring or walk.queue):
            self.pause(body, HAIL_PAUSE)

    def refresh(self, body: Body) -> None:
        """Bring the place of a spawn up to date before a distance is measured."""
        walk = self._found(body)
        if walk is not None:
            walk.drift(self._now())

    # -- following --------------------------------------------------------------------------------

    def follow(self, body: Body, target: Body | None, distance: float) -> None:
        """Set whom a spawn follows while `toggle_follow` has switched that on."""
        body.follows = target
        body.follow_distance = max(NEAREST_FOLLOWED, min(distance, FARTHEST))
        self._look_after(body)

    def toggle_follow(self, body: Body) -> None:
        """Let a spawn follow, or not any more."""
        body.is_following = not body.is_following
        if not body.is_following:
            self.clear_way(body)
        self._look_after(body)

    def _look_after(self, body: Body) -> None:
        if body.is_following and body.follows is not None and body.home.zone.is_watched:
            self._followers.set(body, _FOLLOW, self._now())

    def _follow(self, body: Body, now: Monotonic) -> None:
        target = body.follows
        if body.is_gone or not body.is_following or target is None or not body.home.zone.is_watched:
            return
        if target.is_gone:
            body.follows = None
            self.clear_way(body)
            return
        self._followers.set(body, _FOLLOW, Monotonic(now + FOLLOW_PAUSE))
        self.refresh(body)
        walk, wanted = self._walk(body), body.follow_distance
        distance = distance_between(body.spawn, target.spawn)
        if distance > wanted + SLACK:
            speed = body.speed * body.factor or FOLLOW_SPEED
            goal = body.spawn.position.toward(target.spawn.position, distance - wanted)
            walk.redirect(Waypoint(goal, speed), now)
        elif walk.queue:
            walk.clear_queue(now)
        self._walks.changed(walk, now)

    # -- spawns and zones -------------------------------------------------------------------------

    def entered(self, home: Home, now: Monotonic) -> None:
        """Go on in a zone in which a player stands now."""
        self._walks.entered(home.zone, now)
        for body in list(home.bodies.values()):
            if body.is_following:
                self._look_after(body)

    def died(self, body: Body) -> None:
        """Let a spawn lie where it died."""
        body.is_following = False
        self.stop(body)
        self.forget(body)

    def forget(self, body: Body) -> None:
        """Forget a spawn that leaves its zone."""
        self._followers.clear(body, _FOLLOW)
        self._walks.forget(body.spawn, body.home.zone)

    def ended(self, home: Home) -> None:
        """Forget a zone that ends."""
        self._walks.ended(home.zone)

    def get_timer(self) -> Monotonic | None:
        """Return when to call `handle_timer`, None if nobody follows anybody."""
        return self._followers.next()

    def handle_timer(self, now: Monotonic) -> None:
        """Let those go on who follow somebody."""
        while (due := self._followers.pop_due(now)) is not None:
            self._follow(due[0], now)

    # -- internals --------------------------------------------------------------------------------

    def _walk(self, body: Body) -> Walk:
        return self._walks.of(
            body.spawn, body.home.zone,
            lambda mark: self._shares.do(body.script, partial(self._calls.call, body, mark)),
        )  # fmt: skip

    def _found(self, body: Body) -> Walk | None:
        return self._walks.get(body.spawn, body.home.zone)

    def _is_going(self, body: Body) -> bool:
        walk = self._found(body)
        return walk is not None and walk.goal is not None

    @staticmethod
    def _speed(body: Body, point: Waypoint) -> float:
        return max(0.0, min(point.speed or body.speed, FASTEST))


def _is_place(point: Waypoint) -> bool:
    return max(abs(axis) for axis in point.place[:3]) <= FARTHEST


def can_move(body: Body | None) -> bool:
    """Return whether scripts may let a spawn walk: no player, and nothing that is dead."""
    return (
        body is not None
        and body.spawn.kind is not SpawnKind.PLAYER
        and (body.spawn.hp_percent > 0 or not body.spawn.is_living)
    )
