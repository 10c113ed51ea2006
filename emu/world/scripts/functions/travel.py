"""Functions for doors, transporters and zones: open them, show them, send players there."""

from __future__ import annotations

from typing import Any, Final

import attrs

from emu.scripts.signatures import FunctionTable, Handle, read_fraction, single
from emu.world.actors.spawn import Destination
from emu.world.scripts.bodies import Body, Home, shown
from emu.world.scripts.functions.spells import chosen
from emu.world.scripts.host import Scripts
from emu.world_stream.movement import Position

TRAVEL: Final = FunctionTable()
_USUAL_WAYPOINT: Final = 2


@TRAVEL("Zone", "Z zone, P player, f x?, f y?, f z?, f heading?")
def send_to_zone(
    scripts: Scripts, home: Home | None, player: Body | None, x: float, y: float, z: float,
    heading: float,
) -> None:  # fmt: skip
    """Send a player to a zone; without a place, or at 0, 0, 0, to its safe place."""
    if home is None or player is None or player.player is None:
        return
    place = Position(x, y, z, heading % 360.0) if (x or y or z) else None
    if place is not None and not scripts.is_place(place):
        return
    to = Destination(home.zone.zone_id, place)
    scripts.travel.journeys.send(player.player, to, scripts.now)


@TRAVEL("StartAutoMount", "P player, u path")
def start_flight(scripts: Scripts, player: Body | None, path: int) -> None:
    """Take a player to the end of a flight path of its zone, at once."""
    if player is None or player.player is None:
        return
    end = scripts.travel.flights.get(path)
    if end is not None and end.position is not None and end.zone_id == player.home.zone.zone_id:
        player.flight = path
        heading = player.spawn.position.heading
        player.player.teleport(end.position._replace(heading=heading), scripts.now)


@TRAVEL("EndAutoMount", "P player")
def end_flight(_scripts: Scripts, player: Body | None) -> None:
    """End the flight of a player."""
    if player is not None:
        player.flight = 0


@TRAVEL("IsOnAutoMount", "P player")
def is_in_flight(_scripts: Scripts, player: Body | None) -> bool:
    """Return whether a player has taken a flight that nothing has ended."""
    return player is not None and player.flight != 0


@TRAVEL("UseWidget", "S widget")
def use_widget(scripts: Scripts, widget: Body | None) -> None:
    """Use a door or a lift: it opens or closes, and so does what is linked to it."""
    if widget is not None:
        scripts.travel.use_widget(widget.spawn, None, scripts.now)


@TRAVEL("AddTransportSpawn", "S transport")
def add_transport(scripts: Scripts, body: Body | None) -> None:
    """Let a spawn carry who stands on it: a lift, a boat or a platform."""
    if body is not None and body.player is None:
        scripts.travel.rides.add_carrier(body.home.zone, body.spawn, shown=True)


@TRAVEL("AddMultiFloorLift", "S lift")
def add_lift(scripts: Scripts, body: Body | None) -> None:
    """Let a spawn carry who stands on it; scripts or its levers move it from floor to floor."""
    add_transport(scripts, body)


@TRAVEL("IsTransportSpawn", "S spawn")
def is_transport(scripts: Scripts, body: Body | None) -> bool:
    """Return whether a spawn carries who stands on it."""
    if body is None:
        return False
    return scripts.travel.rides.is_transport(body.spawn)


@TRAVEL("GetPassengerSpawnList", "S transport")
def get_passengers(scripts: Scripts, body: Body | None) -> Any:
    """Return who stands on a transport; nothing when nobody does."""
    if body is None:
        return None
    spawns = scripts.travel.rides.passengers(body.spawn)
    found = [scripts.body_of(spawn, body.home.zone) for spawn in spawns]
    return scripts.table([one.handle for one in found if one is not None] or None)


@TRAVEL("OpenDoor", "S widget, b silent?")
def open_door(scripts: Scripts, widget: Body | None, silent: bool) -> None:
    """Open a door."""
    if widget is not None:
        scripts.travel.widgets.open(widget.spawn, scripts.now, silent=silent)


@TRAVEL("CloseDoor", "S widget, b silent?")
def close_door(scripts: Scripts, widget: Body | None, silent: bool) -> None:
    """Close a door."""
    if widget is not None:
        scripts.travel.widgets.close(widget.spawn, scripts.now, silent=silent)


@TRAVEL("IsOpen", "S widget")
def is_open(scripts: Scripts, widget: Body | None) -> bool:
    """Return whether a door is open."""
    if widget is None:
        return False
    return scripts.travel.widgets.is_open(widget.spawn)


@TRAVEL("SendTransporters", "S spawn, P player, u list")
def send_transporters(
    scripts: Scripts, spawn: Body | None, player: Body | None, list_id: int
) -> None:
    """Show a player the destinations of a transporter."""
    if player is None or player.player is None:
        return
    if not scripts.may_send():
        return
    shown = scripts.travel.transporters.offer(
        player.player, spawn.spawn if spawn is not None else None, list_id, scripts.now
    )
    if not shown:
        scripts.chat.line(player.player, "There is no such transporter.", "error")


@TRAVEL("SetTemporaryTransportID", "P player, u list")
def set_transport(scripts: Scripts, player: Body | None, list_id: int) -> None:
    """Choose the list that spawns without one of their own offer a player."""
    if player is not None and player.player is not None:
        scripts.travel.transporters.set_temporary(player.player, list_id)


@TRAVEL("GetTemporaryTransportID", "P player")
def get_transport(scripts: Scripts, player: Body | None) -> int:
    """Return the list that was chosen for a player; 0 for none."""
    if player is None or player.player is None:
        return 0
    return scripts.travel.transporters.temporary(player.player)


@TRAVEL("GetCurrentZoneSafeLocation", "S spawn")
def get_safe_place(_scripts: Scripts, spawn: Body | None) -> tuple[float, float, float] | None:
    """Return the safe place of a spawn's zone: x, y and z."""
    if spawn is None:
        return None
    safe = spawn.home.zone.definition.safe
    return single(safe.x), single(safe.y), single(safe.z)


@TRAVEL("Bind", "P player, u zone?, f x?, f y?, f z?, f heading?")
def bind(
    scripts: Scripts, player: Body | None, zone_id: int, x: float, y: float, z: float,
    heading: float,
) -> None:  # fmt: skip
    """Bind a player to a place; without a zone to where it stands, if the zone allows that."""
    if player is None or player.player is None:
        return
    to = Destination(zone_id, Position(x, y, z, heading % 360.0)) if zone_id else None
    if to is None or (to.position is not None and scripts.is_place(to.position)):
        scripts.travel.returning.bind(player.player, to, scripts.now)


@TRAVEL("Gate", "P player")
def gate(scripts: Scripts, player: Body | None) -> None:
    """Send a player to its bind place."""
    if player is not None and player.player is not None:
        scripts.travel.returning.gate(player.player, scripts.now)


@TRAVEL("GetBoundZoneID", "P player")
def get_bound_zone(scripts: Scripts, player: Body | None) -> int:
    """Return the zone to which a player is bound, or else the one in which it began."""
    if player is None or player.player is None:
        return 0
    return scripts.travel.returning.bound(player.player).zone_id


@TRAVEL("Evac", "v whom?, f x?, f y?, f z?, f heading?")
def evacuate(
    scripts: Scripts, whom: object, second: float, third: float, fourth: float, fifth: float
) -> None:
    """Put a player at the safe place of its zone, if the zone allows that.

    Without a player it is for the targets of the spell. Four numbers are another place.
    """
    body = whom.subject if isinstance(whom, Handle) else None
    place: Position | None = None
    if isinstance(whom, Handle):
        named = [body] if isinstance(body, Body) else []
    else:
        named = chosen(scripts, None)
        x = read_fraction(whom)
        if x or second or third:
            place = Position(x, second, third, fourth % 360.0)
    if place is not None and (fifth or not scripts.is_place(place)):
        return
    for one in named:
        if one.player is None or not one.home.zone.definition.can_evac:
            continue
        if place is None:
            scripts.travel.returning.evacuate(one.player, scripts.now)
        else:
            to = Destination(one.home.zone.zone_id, place)
            scripts.travel.journeys.send(one.player, to, scripts.now)


@TRAVEL("IsBindAllowed", "P player")
def is_bind_allowed(_scripts: Scripts, player: Body | None) -> bool:
    """Return whether players may bind where a player is."""
    return player is not None and player.home.zone.definition.can_bind


@TRAVEL("IsGateAllowed", "P player")
def is_gate_allowed(_scripts: Scripts, player: Body | None) -> bool:
    """Return whether players may gate from where a player is."""
    return player is not None and player.home.zone.definition.can_gate


@TRAVEL("GetCanBind", "S spawn")
def get_can_bind(_scripts: Scripts, spawn: Body | None) -> int:
    """Return 1 if players may bind in the zone of a spawn, else 0."""
    return int(spawn is not None and spawn.home.zone.definition.can_bind)


@TRAVEL("GetCanGate", "S spawn")
def get_can_gate(_scripts: Scripts, spawn: Body | None) -> int:
    """Return 1 if players may gate from the zone of a spawn, else 0."""
    return int(spawn is not None and spawn.home.zone.definition.can_gate)


@TRAVEL("GetCanEvac", "S spawn")
def get_can_evac(_scripts: Scripts, spawn: Body | None) -> int:
    """Return 1 if players may be evacuated in the zone of a spawn, else 0."""
    return int(spawn is not None and spawn.home.zone.definition.can_evac)


@TRAVEL("SetCanBind", "S spawn, u allowed?")
def set_can_bind(_scripts: Scripts, spawn: Body | None, allowed: int) -> None:
    """Allow or forbid players to bind in the zone of a spawn, until it ends."""
    if spawn is not None:
        zone = spawn.home.zone
        zone.definition = attrs.evolve(zone.definition, can_bind=bool(allowed))


@TRAVEL("SetCanGate", "S spawn, u allowed?")
def set_can_gate(_scripts: Scripts, spawn: Body | None, allowed: int) -> None:
    """Allow or forbid players to gate from the zone of a spawn, until it ends."""
    if spawn is not None:
        zone = spawn.home.zone
        zone.definition = attrs.evolve(zone.definition, can_gate=bool(allowed))


@TRAVEL("SetCanEvac", "S spawn, u allowed?")
def set_can_evac(_scripts: Scripts, spawn: Body | None, allowed: int) -> None:
    """Allow or forbid evacuations in the zone of a spawn, until it ends."""
    if spawn is not None:
        zone = spawn.home.zone
        zone.definition = attrs.evolve(zone.definition, can_evac=bool(allowed))


def _levels(scripts: Scripts, home: Home | None) -> tuple[int, ...]:
    """Return the levels of those who opened a private copy of a zone."""
    if home is None:
        return ()
    return scripts.travel.instances.levels(home.zone)


@TRAVEL("GetZonePlayerMinLevel", "Z zone")
def get_min_level(scripts: Scripts, home: Home | None) -> int:
    """Return the lowest level of those who opened a copy of a zone."""
    return min(_levels(scripts, home), default=0)


@TRAVEL("GetZonePlayerMaxLevel", "Z zone")
def get_max_level(scripts: Scripts, home: Home | None) -> int:
    """Return the highest level of those who opened a copy of a zone."""
    return max(_levels(scripts, home), default=0)


@TRAVEL("GetZonePlayerAvgLevel", "Z zone")
def get_mean_level(scripts: Scripts, home: Home | None) -> int:
    """Return the mean level of those who opened a copy of a zone."""
    levels = _levels(scripts, home)
    return sum(levels) // len(levels) if levels else 0


@TRAVEL("GetZonePlayerFirstLevel", "Z zone")
def get_first_level(scripts: Scripts, home: Home | None) -> int:
    """Return the level of the one who opened a copy of a zone."""
    return next(iter(_levels(scripts, home)), 0)


@TRAVEL("SetSuccessTimer", "P player")
def set_success(scripts: Scripts, player: Body | None) -> None:
    """End a player's copy of its zone: it has won, and may come back after the lockout time."""
    if player is not None and player.player is not None:
        scripts.travel.instances.finish(player.player, success=True)


@TRAVEL("SetFailureTimer", "P player")
def set_failure(scripts: Scripts, player: Body | None) -> None:
    """End a player's copy of its zone: it has lost, and may come back after the shorter time."""
    if player is not None and player.player is not None:
        scripts.travel.instances.finish(player.player, success=False)


@TRAVEL("GetZoneLockoutTimer", "P player, u zone, u show?")
def get_lockout(scripts: Scripts, player: Body | None, zone_id: int, show: int) -> int:
    """Return the seconds until a player may enter a zone again, and show them if asked."""
    if player is None or player.player is None:
        return 0
    left = int(scripts.travel.instances.seconds_left(player.player, zone_id))
    if show and left and scripts.may_send():
        scripts.chat.line(player.player, f"You may enter again in {left // 60 + 1} minutes.")
    return left


@TRAVEL("AddWaypoint", "P player, t name, u category=2")
def add_waypoint(scripts: Scripts, player: Body | None, name: str, category: int) -> None:
    """Give a player a waypoint, whose path leads to the spawn of that name."""
    if player is not None and player.player is not None:
        # As in EQ2Emulator, category 0 is the usual one.
        scripts.travel.waypoints.add_waypoint(
            player.player, shown(name), category or _USUAL_WAYPOINT
        )


@TRAVEL("RemoveWaypoint", "P player, t name")
def remove_waypoint(scripts: Scripts, player: Body | None, name: str) -> None:
    """Take a waypoint from a player."""
    if player is not None and player.player is not None:
        scripts.travel.waypoints.remove(player.player, shown(name))


@TRAVEL("SendWaypoints", "P player")
def send_waypoints(scripts: Scripts, player: Body | None) -> None:
    """Show a player its waypoints."""
    if player is None or player.player is None:
        return
    if scripts.may_send():
        scripts.travel.waypoints.send(player.player)
