"""What scripts do with doors, transporters and zones: open them, show them, send players there."""

from __future__ import annotations

from typing import Final

from emu.scripts.signatures import FunctionTable, single
from emu.world.actors.spawn import Destination
from emu.world.scripts.bodies import Body, Home
from emu.world.scripts.host import Scripts
from emu.world_stream.movement import Position

TRAVEL: Final = FunctionTable()


@TRAVEL("Zone", "Z zone, P player, f x?, f y?, f z?, f heading?")
def zone(
    scripts: Scripts, home: Home | None, player: Body | None, x: float, y: float, z: float,
    heading: float,
) -> None:  # fmt: skip
    """Send a player to a zone; without a place, or at 0, 0, 0, to its safe place."""
    if home is None or player is None or player.player is None or scripts.travel is None:
        return
    place = Position(x, y, z, heading % 360.0) if (x or y or z) else None
    if place is not None and not scripts.is_place(place):
        return
    to = Destination(home.zone.zone_id, place)
    scripts.travel.journeys.send(player.player, to, scripts.now)


@TRAVEL("UseWidget", "S widget")
def use_widget(scripts: Scripts, widget: Body | None) -> None:
    """Use a door or a lift: it opens or closes, and so does what is linked to it."""
    if widget is not None and scripts.travel is not None:
        scripts.travel.use_widget(widget.spawn, None, scripts.now)


@TRAVEL("OpenDoor", "S widget, b silent?")
def open_door(scripts: Scripts, widget: Body | None, silent: bool) -> None:
    """Open a door."""
    if widget is not None and scripts.travel is not None:
        scripts.travel.widgets.open(widget.spawn, scripts.now, silent=silent)


@TRAVEL("CloseDoor", "S widget, b silent?")
def close_door(scripts: Scripts, widget: Body | None, silent: bool) -> None:
    """Close a door."""
    if widget is not None and scripts.travel is not None:
        scripts.travel.widgets.close(widget.spawn, scripts.now, silent=silent)


@TRAVEL("IsOpen", "S widget")
def is_open(scripts: Scripts, widget: Body | None) -> bool:
    """Return whether a door is open."""
    if widget is None or scripts.travel is None:
        return False
    return scripts.travel.widgets.is_open(widget.spawn)


@TRAVEL("SendTransporters", "S spawn, P player, u list")
def send_transporters(
    scripts: Scripts, spawn: Body | None, player: Body | None, list_id: int
) -> None:
    """Show a player the destinations of a transporter."""
    if player is None or player.player is None or scripts.travel is None:
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
    if player is not None and player.player is not None and scripts.travel is not None:
        scripts.travel.transporters.set_temporary(player.player, list_id)


@TRAVEL("GetTemporaryTransportID", "P player")
def get_transport(scripts: Scripts, player: Body | None) -> int:
    """Return the list that was chosen for a player; 0 for none."""
    if player is None or player.player is None or scripts.travel is None:
        return 0
    return scripts.travel.transporters.temporary(player.player)


@TRAVEL("GetCurrentZoneSafeLocation", "S spawn")
def get_safe_place(_scripts: Scripts, spawn: Body | None) -> tuple[float, float, float] | None:
    """Return the safe place of a spawn's zone: x, y and z."""
    if spawn is None:
        return None
    safe = spawn.home.zone.definition.safe
    return single(safe.x), single(safe.y), single(safe.z)
