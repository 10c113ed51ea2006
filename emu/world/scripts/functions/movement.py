"""Functions that move spawns, and return where they stand and look."""

from __future__ import annotations

import math
from typing import Any, Final

from emu.scripts.signatures import FunctionTable, Handle, read_fraction, single
from emu.world.actors.spawn import SpawnKind
from emu.world.minds.moves import push_player
from emu.world.minds.walks import Waypoint
from emu.world.scripts.bodies import Body
from emu.world.scripts.functions.spells import chosen
from emu.world.scripts.host import Scripts
from emu.world_stream.movement import FULL_TURN, HALF_TURN, Position

MOVEMENT: Final = FunctionTable()
QUARTER: Final = 45.0
"""Degrees to each side in which somebody is still ahead of, or behind, another one."""
_POINT: Final = (
    "S spawn, f x, f y, f z, f speed, u seconds, t function?, v heading?, b is_straight?, b mesh?"
)


def can_move(body: Body | None) -> bool:
    """Return whether scripts may let a spawn walk: no player, and nothing that is dead."""
    return (
        body is not None
        and body.spawn.kind is not SpawnKind.PLAYER
        and (body.spawn.hp_percent > 0 or not body.spawn.is_living)
    )


# -- rounds and ways ------------------------------------------------------------------------------


@MOVEMENT("MovementLoopAddLocation", _POINT)
def add_to_round(
    scripts: Scripts, body: Body | None, x: float, y: float, z: float, speed: float,
    seconds: int, function: str, heading: Any, is_straight: bool, mesh: bool,
) -> None:  # fmt: skip
    """Add a point to a spawn's round: speed on the way, seconds to stay, function on arrival."""
    if body is None or not can_move(body):
        return
    place = Position(x, y, z, 0.0, body.spawn.position.grid)
    looks = None if heading is None or is_straight else read_fraction(heading) % FULL_TURN
    point = Waypoint(place, speed, float(seconds), function, looks)
    if not scripts.mover(body).add_to_round(point, around=mesh):
        scripts.counters["points left out"] += 1


# One function has two names.
MOVEMENT("MovementLoopAdd", _POINT)(add_to_round)


@MOVEMENT(
    "MoveToLocation",
    "S spawn, f x, f y, f z, f speed?, t function?, b more?, b mesh?",
)
def move_to(
    scripts: Scripts, body: Body | None, x: float, y: float, z: float, speed: float,
    function: str, more: bool, mesh: bool,
) -> None:  # fmt: skip
    """Add a point to a spawn's way; the spawn sets off unless more points follow."""
    if body is not None and can_move(body):
        place = Position(x, y, z, 0.0, body.spawn.position.grid)
        point = Waypoint(place, speed, 0.0, function)
        if not scripts.mover(body).go(point, at_once=not more, around=mesh):
            scripts.counters["points left out"] += 1


@MOVEMENT("ClearRunningLocations", "S spawn")
def clear_way(scripts: Scripts, body: Body | None) -> None:
    """Forget the points of a spawn's way."""
    if body is not None and can_move(body):
        scripts.mover(body).clear_way()


@MOVEMENT("StopMovement", "S spawn")
def stop(scripts: Scripts, body: Body | None) -> None:
    """Forget the round and the way of a spawn."""
    if body is not None and can_move(body):
        scripts.mover(body).stop()


@MOVEMENT("PauseMovement", "S spawn, u milliseconds")
def pause(scripts: Scripts, body: Body | None, milliseconds: int) -> None:
    """Let a spawn stand for a while, and then go on."""
    if body is not None and can_move(body):
        scripts.mover(body).pause(milliseconds / 1000)


@MOVEMENT("IsRunning", "S spawn")
def is_running(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is on a way."""
    return body is not None and scripts.mover(body).is_running


# -- speed ----------------------------------------------------------------------------------------


@MOVEMENT("SetSpeed", "S spawn, f speed")
def set_speed(scripts: Scripts, body: Body | None, speed: float) -> None:
    """Set the speed of a spawn or a player, in units a second."""
    if body is not None and math.isfinite(speed):
        scripts.mover(body).set_speed(speed)


@MOVEMENT("GetSpeed", "S spawn")
def get_speed(scripts: Scripts, body: Body | None) -> float | None:
    """Return the speed that a script has set."""
    if body is None:
        return None
    mover = scripts.mover(body)
    return single(mover.speed * mover.factor)


@MOVEMENT("SetSpeedMultiplier", "S spawn, f value")
def set_factor(scripts: Scripts, body: Body | None, value: float) -> None:
    """Multiply the speed of a spawn; above 1 the value is a percentage by which it is slowed.

    In a spell it is the speed of all its targets.
    """
    if not math.isfinite(value):
        return
    for one in chosen(scripts, body):
        if can_move(one):
            scripts.mover(one).set_factor(value)


# -- places ---------------------------------------------------------------------------------------


@MOVEMENT("SetPosition", "S spawn, f x, f y, f z, f heading?")
def set_position(
    scripts: Scripts, body: Body | None, x: float, y: float, z: float, heading: float
) -> None:
    """Put a spawn or a player at a place, which is its home then; heading 0 keeps the heading."""
    if body is None:
        return
    at = body.spawn.position
    heading = heading % FULL_TURN if heading else at.heading
    scripts.mover(body).stay_at(Position(x, y, z, heading, at.grid))


@MOVEMENT("SetHeading", "S spawn, f degrees")
def set_heading(scripts: Scripts, body: Body | None, degrees: float) -> None:
    """Turn a spawn or a player to a heading."""
    if body is not None and math.isfinite(degrees):
        scripts.mover(body).turn(degrees)


@MOVEMENT("SetGridID", "S spawn, u grid")
def set_grid(_scripts: Scripts, body: Body | None, grid: int) -> None:
    """Set the cell of the map in which clients draw a spawn."""
    if body is not None and can_move(body):
        body.spawn.move(body.spawn.position._replace(grid=grid), speed=body.spawn.speed)


@MOVEMENT("GetOrigX", "S spawn")
def get_home_x(_scripts: Scripts, body: Body | None) -> float | None:
    """Return the x of a spawn's home."""
    return None if body is None else single(body.spawn.origin.x)


@MOVEMENT("GetOrigY", "S spawn")
def get_home_y(_scripts: Scripts, body: Body | None) -> float | None:
    """Return the y of a spawn's home."""
    return None if body is None else single(body.spawn.origin.y)


@MOVEMENT("GetOrigZ", "S spawn")
def get_home_z(_scripts: Scripts, body: Body | None) -> float | None:
    """Return the z of a spawn's home."""
    return None if body is None else single(body.spawn.origin.z)


@MOVEMENT("HasMoved", "S spawn")
def has_moved(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn has moved since a script asked last."""
    if body is None:
        return False
    mover = scripts.mover(body)
    before, mover.seen_at = mover.seen_at, body.spawn.position
    return before is not None and before[:3] != mover.seen_at[:3]


# -- turning and following ------------------------------------------------------------------------


@MOVEMENT("FaceTarget", "S spawn, S target, b reset=true")
def face_target(scripts: Scripts, body: Body | None, target: Body | None, _reset: bool) -> None:
    """Turn a spawn to another; a player it faces for 30 seconds, 5 after a hail on its way."""
    if body is not None and target is not None and can_move(body) and body is not target:
        is_player = target.player is not None
        scripts.mover(body).face(target.spawn, is_player=is_player)


@MOVEMENT("SetFollowTarget", "S spawn, S target?, u distance?")
def follow(scripts: Scripts, body: Body | None, target: Body | None, distance: int) -> None:
    """Set whom a spawn follows, once `ToggleFollow` has switched that on."""
    if body is not None and can_move(body) and body is not target:
        followed = target.spawn if target is not None else None
        scripts.mover(body).follow(followed, float(distance))


@MOVEMENT("ToggleFollow", "S spawn")
def toggle_follow(scripts: Scripts, body: Body | None) -> None:
    """Let a spawn follow, or not any more."""
    if body is not None and can_move(body):
        scripts.mover(body).toggle_follow()


@MOVEMENT("IsFollowing", "S spawn")
def is_following(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn follows."""
    return body is not None and scripts.mover(body).is_following


@MOVEMENT("GetFollowTarget", "S spawn")
def get_followed(scripts: Scripts, body: Body | None) -> Handle | None:
    """Return whom a spawn follows."""
    followed = scripts.mover(body).follows if body is not None else None
    if body is None or followed is None:
        return None
    target = scripts.body_of(followed, body.home.zone)
    return target.handle if target is not None else None


@MOVEMENT(
    "Knockback", "S from, S target, u milliseconds, f up, f away, 1 own_heading?"
)  # fmt: skip
def knock_back(
    scripts: Scripts, body: Body | None, target: Body | None, _milliseconds: int, up: float,
    away: float, own_heading: bool,
) -> None:  # fmt: skip
    """Push a creature or a player away from a spawn; a player's client does the flying."""
    if body is None or target is None or not math.isfinite(away) or not math.isfinite(up):
        return
    if target.player is not None:
        up, away = (max(-STRONGEST_PUSH, min(one, STRONGEST_PUSH)) for one in (up, away))
        push_player(target.player, body.spawn, up, away, own_heading=own_heading, now=scripts.now)
    if not can_move(target):
        return
    at = target.spawn.position
    heading = at.heading if own_heading else body.spawn.position.heading_to(at)
    far = max(-FARTHEST_PUSH, min(away, FARTHEST_PUSH))
    goal = at._replace(heading=heading).ahead(far)._replace(heading=at.heading)
    scripts.mover(target).throw(goal)


FARTHEST_PUSH: Final = 100.0
STRONGEST_PUSH: Final = 1000.0
"""Of a player, in the units of the message."""


# -- sides ----------------------------------------------------------------------------------------


def _angle(body: Body | None, other: Body | None) -> float | None:
    """Return by how many degrees a spawn stands off the direction in which another one looks."""
    if body is None or other is None or body is other:
        return None
    at = other.spawn.position
    off = abs(at.heading_to(body.spawn.position) - at.heading) % FULL_TURN
    return min(off, FULL_TURN - off)


@MOVEMENT("InFront", "S spawn, S target")
def is_in_front(_scripts: Scripts, body: Body | None, target: Body | None) -> bool:
    """Return whether a spawn stands where another one looks."""
    angle = _angle(body, target)
    return angle is not None and angle <= QUARTER


@MOVEMENT("IsBehind", "S spawn, S target")
def is_behind(_scripts: Scripts, body: Body | None, target: Body | None) -> bool:
    """Return whether a spawn stands behind another one."""
    angle = _angle(body, target)
    return angle is not None and angle >= HALF_TURN - QUARTER


@MOVEMENT("IsFlanking", "S spawn, S target")
def is_flanking(_scripts: Scripts, body: Body | None, target: Body | None) -> bool:
    """Return whether a spawn stands beside or behind another one."""
    angle = _angle(body, target)
    return angle is not None and angle > QUARTER
