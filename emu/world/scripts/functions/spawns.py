"""Functions that make, find and show spawns, groups of spawns and private spawns.

Source: docs/guides/lua.md#making.
"""

from __future__ import annotations

from typing import Any, Final

from emu.scripts.signatures import FunctionTable, Handle
from emu.world.scripts.bodies import Body, Home
from emu.world.scripts.host import Scripts
from emu.world.scripts.waits import DESPAWN

SPAWNS: Final = FunctionTable()
BEYOND_ANY_LIST: Final = 2**31
"""A place in which no table of Lua has something; Lua refuses the largest numbers."""


def _listed(bodies: list[Body]) -> list[Handle] | None:
    """Return the handles of spawns for a table of Lua's; nothing when there are none."""
    return [body.handle for body in bodies] or None


# -- making ---------------------------------------------------------------------------------------


@SPAWNS("SpawnByLocationID", "Z zone, u location")
def spawn_at(scripts: Scripts, home: Home | None, location: int) -> Handle | None:
    """Make one more spawn of a place of the content file."""
    body = scripts.maker.at_location(home, location) if home is not None else None
    return body.handle if body is not None else None


@SPAWNS("SpawnGroupByID", "Z zone, u group, n level?")
def spawn_group(scripts: Scripts, home: Home | None, group: int, level: int) -> Any:
    """Make all spawns of a group; return them."""
    made = scripts.maker.group(home, group) if home is not None else []
    for body in made:
        if level > 0:
            body.spawn.set_info(level=min(level, 255))
    return scripts.table(_listed(made))


@SPAWNS("SpawnMob", "Z zone, u id, 1 private?, f x, f y, f z, f heading?")
def spawn_mob(
    scripts: Scripts, home: Home | None, number: int, private: bool, *place: float
) -> Handle | None:
    """Make a spawn by its number in the content file; a private one is seen by nobody yet."""
    x, y, z, heading = place
    if home is None or not (x or y or z):
        return None
    body = scripts.maker.one(home, number, (x, y, z, heading), is_private=private)
    return body.handle if body is not None else None


@SPAWNS("DespawnByLocationID", "Z zone, u location, u milliseconds?")
def despawn_at(scripts: Scripts, home: Home | None, location: int, milliseconds: int) -> bool:
    """Remove what stands at a place, with its group."""
    found = list(home.by_location.get(location, ())) if home is not None else []
    if not found or home is None:
        return False
    groups = {body.group for body in found} - {0}
    found += [body for group in groups for body in home.in_group(group) if body not in found]
    for body in found:
        scripts.waits.add_timer(body, milliseconds / 1000, DESPAWN)
    return True


@SPAWNS("AddRespawn", "Z zone, u location, u seconds")
def set_respawn(scripts: Scripts, home: Home | None, location: int, seconds: int) -> bool:
    """Set after how long what dies at a place returns, until the zone ends."""
    return home is not None and scripts.maker.set_respawn(home, location, seconds)


@SPAWNS("CreatePersistedRespawn", "u location, n kind, u seconds, u zone")
def keep_dead(scripts: Scripts, location: int, _kind: int, seconds: int, zone_id: int) -> bool:
    """Let what dies at a place stay dead for so many seconds, also over a restart."""
    return scripts.maker.keep_dead(zone_id, location, seconds)


# -- groups ---------------------------------------------------------------------------------------


@SPAWNS("IsSpawnGroupAlive", "Z zone, u group")
def is_group_alive(_scripts: Scripts, home: Home | None, group: int) -> bool:
    """Return whether something of a group lives."""
    return home is not None and group > 0 and not home.is_group_dead(group)


@SPAWNS("GetSpawnByGroupID", "Z zone, u group")
def get_of_group(_scripts: Scripts, home: Home | None, group: int) -> Handle | None:
    """Return a living spawn of a group."""
    found = home.in_group(group) if home is not None and group else []
    return next((body.handle for body in found if body.spawn.hp_percent > 0), None)


@SPAWNS("GetSpawnGroupID", "S spawn")
def get_group_number(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the number of the group that a spawn stands in; 0 without one."""
    return None if body is None else body.group


@SPAWNS("SetSpawnGroupID", "S spawn, u group")
def set_group_number(_scripts: Scripts, body: Body | None, group: int) -> bool:
    """Put a spawn into a group; 0 takes it out."""
    if body is None or body.player is not None:
        return False
    body.home.set_group(body, group)
    return True


@SPAWNS("AddSpawnToGroup", "S spawn, u group")
def add_to_group(scripts: Scripts, body: Body | None, group: int) -> bool:
    """Put a spawn into a group."""
    return set_group_number(scripts, body, group)


@SPAWNS("GetGroup", "S spawn")
def get_group(scripts: Scripts, body: Body | None) -> Any:
    """Return the players of a player's group who are in its zone, or the group of a spawn."""
    if body is None:
        return None
    if body.player is None:
        return scripts.table(_listed(body.home.in_group(body.group) if body.group else []))
    group = scripts.world.groups.table.of(body.player.id)
    if group is None:
        return None
    players = [one for one in scripts.players_in(body.home) if one.id in group.members]
    return scripts.table(_listed([scripts.player_body(one) for one in players]))


@SPAWNS("HasGroup", "S spawn")
def has_group(scripts: Scripts, body: Body | None) -> bool | None:
    """Return whether a spawn is in a group."""
    if body is None:
        return None
    if body.player is None:
        return bool(body.group)
    return scripts.world.groups.table.of(body.player.id) is not None


# -- finding --------------------------------------------------------------------------------------


@SPAWNS("GetSpawnListBySpawnID", "S near, u id")
def list_of_spawn(scripts: Scripts, body: Body | None, number: int) -> Any:
    """Return all spawns with a number of the content file in a spawn's zone."""
    return None if body is None else scripts.table(_listed(list(body.home.of_spawn(number))))


@SPAWNS("GetRandomSpawnByID", "S near, u id")
def random_of_spawn(scripts: Scripts, body: Body | None, number: int) -> Handle | None:
    """Return one of the spawns with a number of the content file in a spawn's zone."""
    found = list(body.home.of_spawn(number)) if body is not None else []
    return found[scripts.chances.randint(0, len(found) - 1)].handle if found else None


@SPAWNS("GetSpawnFromList", "v list, u position")
def from_list(_scripts: Scripts, listed: Any, position: int) -> Any:
    """Return a spawn of a list; the first one has position 0."""
    if isinstance(listed, str):
        return None
    try:
        return listed[min(position, BEYOND_ANY_LIST) + 1]
    except (TypeError, KeyError, IndexError):
        return None


@SPAWNS("GetSpawnListSize", "v list")
def list_size(_scripts: Scripts, listed: Any) -> int | None:
    """Return how many spawns a list has."""
    if isinstance(listed, str):
        return None
    try:
        return len(listed)
    except TypeError:
        return None


@SPAWNS("GetPlayersInZone", "Z zone")
def players_in_zone(scripts: Scripts, home: Home | None) -> Any:
    """Return the players who stand in a zone; nothing when there are none."""
    if home is None:
        return None
    return scripts.table(_listed([scripts.player_body(one) for one in scripts.players_in(home)]))


# -- private spawns -------------------------------------------------------------------------------

MOST_ALLOWED: Final = 255
"""Spawns that may see one private spawn, and numbers that a player may see."""


def _allow(body: Body, other: Body) -> None:
    if len(body.spawn.allowed) < MOST_ALLOWED:
        body.spawn.set_allowed(body.spawn.allowed | {other.spawn.id})


@SPAWNS("AddSpawnAccess", "S spawn, S viewer")
def add_access(_scripts: Scripts, body: Body | None, other: Body | None) -> None:
    """Let a player see a spawn; nobody sees it any more who was not let."""
    if body is not None and other is not None and body.player is None:
        _allow(body, other)


@SPAWNS("RemoveSpawnAccess", "S spawn, S viewer")
def remove_access(_scripts: Scripts, body: Body | None, other: Body | None) -> None:
    """Hide a private spawn from a player; without anybody left it is public again."""
    if body is not None and other is not None:
        body.spawn.set_allowed(body.spawn.allowed - {other.spawn.id})


@SPAWNS("AddSpawnIDAccess", "P player, u id, Z zone?")
def add_access_to_kind(
    _scripts: Scripts, player: Body | None, number: int, home: Home | None
) -> None:
    """Let a player see all spawns with a number of the content file that stand in a zone."""
    if player is not None:
        for body in list((home or player.home).of_spawn(number)):
            _allow(body, player)


@SPAWNS("RemoveSpawnIDAccess", "P player, u id, Z zone?")
def remove_access_to_kind(
    scripts: Scripts, player: Body | None, number: int, home: Home | None
) -> None:
    """Hide the private spawns with a number of the content file from a player."""
    if player is not None:
        for body in list((home or player.home).of_spawn(number)):
            remove_access(scripts, body, player)
