"""Functions that describe spawns and zones, and hold variables for them."""

from __future__ import annotations

import math
from typing import Any, Final

from emu.scripts.signatures import (
    SPAWNS,
    FunctionTable,
    Handle,
    HandleKind,
    read_text,
    read_unsigned,
    single,
)
from emu.world.actors.spawn import Spawn
from emu.world.minds.nearness import distance_between
from emu.world.scripts.bodies import MOST_VARIABLES, Body, Home, given
from emu.world.scripts.host import Scripts

WHO: Final = FunctionTable()
LONGEST_VARIABLE: Final = 1000
_KEPT: Final = SPAWNS | {HandleKind.ZONE, HandleKind.ITEM, HandleKind.QUEST}
"""The kinds of handles that a temporary variable holds."""


def _look(body: Body | None, name: str) -> int | None:
    return None if body is None else int(body.spawn.appearance.get(name, 0))


@WHO("GetName", "S spawn")
def get_name(_scripts: Scripts, body: Body | None) -> str | None:
    """Return a spawn's name."""
    return None if body is None else given(body.spawn.name)


@WHO("GetLevel", "S spawn")
def get_level(_scripts: Scripts, body: Body | None) -> int | None:
    """Return a spawn's level."""
    return None if body is None else body.spawn.level


@WHO("GetRace", "S spawn")
def get_race(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the number of a spawn's race."""
    return _look(body, "race")


@WHO("GetClass", "S spawn")
def get_class(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the number of a spawn's class."""
    return _look(body, "class")


@WHO("GetGender", "S spawn")
def get_gender(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the number of a spawn's gender."""
    return _look(body, "gender")


@WHO("GetDifficulty", "S spawn")
def get_difficulty(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the difficulty of a spawn: what its placement says, or else its own."""
    if body is None:
        return None
    return body.spawn.difficulty if body.player is None else 0


@WHO("IsHeroic", "S spawn")
def is_heroic(_scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is heroic."""
    return body is not None and body.spawn.heroic == 1


@WHO("IsEpic", "S spawn")
def is_epic(_scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is epic."""
    return body is not None and body.spawn.heroic > 1


@WHO("IsPlayer", "S spawn")
def is_player(_scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn is a player."""
    return body is not None and body.player is not None


@WHO("IsAlive", "S spawn")
def is_alive(_scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn lives."""
    return body is not None and body.spawn.hp_percent > 0


@WHO("GetX", "S spawn")
def get_x(_scripts: Scripts, body: Body | None) -> float | None:
    """Return a spawn's x."""
    return None if body is None else single(body.spawn.position.x)


@WHO("GetY", "S spawn")
def get_y(_scripts: Scripts, body: Body | None) -> float | None:
    """Return a spawn's y, which points up."""
    return None if body is None else single(body.spawn.position.y)


@WHO("GetZ", "S spawn")
def get_z(_scripts: Scripts, body: Body | None) -> float | None:
    """Return a spawn's z."""
    return None if body is None else single(body.spawn.position.z)


@WHO("GetHeading", "S spawn")
def get_heading(_scripts: Scripts, body: Body | None) -> float | None:
    """Return a spawn's heading in degrees."""
    return None if body is None else single(body.spawn.position.heading)


@WHO("GetDistance", "S spawn, S other, 1 radii?")
def get_distance(
    _scripts: Scripts, body: Body | None, other: Body | None, radii: bool
) -> float | None:
    """Return the distance of two spawns; `radii` are subtracted."""
    if body is None or other is None:
        return None
    distance = distance_between(body.spawn, other.spawn)
    if radii:
        distance -= (body.spawn.collision_radius + other.spawn.collision_radius) / 10
    return single(max(0.0, distance))


@WHO("SetTarget", "S spawn, S target?")
def set_target(_scripts: Scripts, body: Body | None, target: Body | None) -> None:
    """Set the target of a spawn; nil clears it. The client of a player keeps its own."""
    spawn = target.spawn if target is not None else None
    if body is not None and body.player is not None:
        body.player.set_target(spawn)
    elif body is not None:
        body.spawn.set_target(spawn)


@WHO("GetTarget", "S spawn")
def get_target(scripts: Scripts, body: Body | None) -> Handle | None:
    """Return the target of a spawn."""
    if body is None:
        return None
    target: Spawn | None = None
    if body.player is not None:
        target = body.player.target
    elif body.spawn.target_id:
        target = body.home.zone.spawn(body.spawn.target_id)
    found = scripts.body_of(target, body.home.zone) if target is not None else None
    return found.handle if found is not None else None


@WHO("SetTempVariable", "S spawn, t name, v value?")
def set_variable(_scripts: Scripts, body: Body | None, name: str, value: Any) -> None:
    """Keep a text or a handle under a name while the spawn lives; numbers become texts.

    nil removes what is kept. EQ2Emulator has a branch for it that is never reached, and keeps an
    empty text; but scripts of content ask `GetTempVariable(NPC, name) == nil` afterwards.
    """
    if body is None:
        return
    key = name[:LONGEST_VARIABLE]
    if value is None:
        body.variables = {one: kept for one, kept in body.variables.items() if one != key}
        return
    if key not in body.variables and len(body.variables) >= MOST_VARIABLES:
        return
    is_handle = isinstance(value, Handle) and value.kind in _KEPT
    kept = value if is_handle else read_text(value)[:LONGEST_VARIABLE]
    body.variables = {**body.variables, key: kept}


@WHO("GetTempVariable", "S spawn, t name")
def get_variable(_scripts: Scripts, body: Body | None, name: str) -> Any:
    """Return what is kept under a name."""
    value = body.variables.get(name[:LONGEST_VARIABLE]) if body is not None else None
    # The spawn that a handle stands for may be gone.
    return None if isinstance(value, Handle) and value.subject is None else value


@WHO("GetSpawnLocationID", "S spawn")
def get_location(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the number of the place of a spawn in the content file."""
    if body is None:
        return None
    return body.standing.placement.location_id if body.standing is not None else 0


@WHO("GetSpawnID", "S spawn")
def get_spawn_id(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the number of a spawn in the content file."""
    if body is None:
        return None
    return body.standing.template.id if body.standing is not None else 0


@WHO("GetZone", "v wanted")
def get_zone(scripts: Scripts, wanted: Any) -> Handle | None:
    """Return the zone of a spawn, or a zone by its number or its name; it need not run."""
    home: Home | None = None
    if isinstance(wanted, Handle):
        home = wanted.subject.home if isinstance(wanted.subject, Body) else None
    elif number := read_unsigned(wanted):
        home = scripts.named_home(number)
    elif isinstance(wanted, str):
        home = scripts.named_home(wanted[:128])
    return home.handle if home is not None else None


@WHO("GetZoneID", "Z zone")
def get_zone_id(_scripts: Scripts, home: Home | None) -> int | None:
    """Return the number of a zone."""
    return None if home is None else home.zone.zone_id


@WHO("GetSpawn", "S near, u id")
def get_spawn(_scripts: Scripts, near: Body | None, number: int) -> Handle | None:
    """Return the nearest spawn with a number of the content file."""
    if near is None:
        return None
    nearest = min(
        near.home.of_spawn(number),
        key=lambda body: distance_between(body.spawn, near.spawn), default=None,
    )  # fmt: skip
    return nearest.handle if nearest is not None else None


@WHO("GetSpawnByLocationID", "Z zone, u location")
def get_spawn_by_location(_scripts: Scripts, home: Home | None, location: int) -> Handle | None:
    """Return the spawn that stands at a place of the content file."""
    found = home.by_location.get(location) if home is not None else None
    return found[0].handle if found else None


@WHO("MakeRandomInt", "n low, n high")
def random_int(scripts: Scripts, low: int, high: int) -> int:
    """Return a random whole number; from low to high, both included."""
    return scripts.chances.randint(low, high) if low < high else low


@WHO("MakeRandomFloat", "f low, f high")
def random_float(scripts: Scripts, low: float, high: float) -> float:
    """Return a random number between two others."""
    value = scripts.chances.uniform(low, high)
    return single(value) if math.isfinite(value) else low
