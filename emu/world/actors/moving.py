"""A player moves: what its client predicts is believed, or it is put back where it was.

Source: docs/protocol/world/movement.md#prediction; limits of ours, because EQ2Emulator passes
everything on (docs/protocol/world/movement.md#bad-predictions).
"""

from __future__ import annotations

from typing import Final

from emu.dialects.dialect import NO_TARGET
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import SITTING, STANDING
from emu.world.world import World
from emu.world_stream.movement import Position

PUT_BACK_PAUSE: Final = 2.0
"""Seconds between two corrections of one client: it needs time to obey."""
NO_LOCATION: Final = 0xFFFFFFFF


def predicted(world: World, player: Player, body: bytes, now: Monotonic) -> None:
    """Take a step that a client says it made. Raises `MalformedMessage`."""
    step = player.predictions.read(body)
    if player.state not in IN_ZONE:
        world.count("step out of order")
        return
    reason = player.pace.complaint(step, player.position, now)
    if reason is not None:
        world.count(reason)
        _put_back(world, player, reason, now)
        return
    player.spawn.move(
        step.position,
        speed=step.speed,
        side_speed=step.side_speed,
        vert_speed=step.vert_speed,
        pitch=step.pitch,
        activity=step.activity,
    )
    zone = world.zones.definition(player.zone.zone_id)
    if step.position.y < zone.underworld:
        teleport(player, zone.safe, now)


def teleport(player: Player, to: Position, now: Monotonic) -> None:
    """Put a player somewhere else in its zone."""
    player.pace.moved_by_server(now)
    player.spawn.move(to)
    _send_place(player, to)


def sat(_world: World, player: Player, _body: bytes, _now: float) -> None:
    """Show a player sitting."""
    player.spawn.set_info(visual_state=SITTING)


def stood(_world: World, player: Player, _body: bytes, _now: float) -> None:
    """Show a player standing."""
    player.spawn.set_info(visual_state=STANDING)


def targeted(world: World, player: Player, body: bytes, _now: float) -> None:
    """Remember whom a player looks at; an index it does not know is no target."""
    index = player.client.dialect.layout("WS_UpdateTarget").decode(body)["spawn_index"]
    viewer = player.viewer
    player.target = viewer.interest.spawn_at(index) if viewer is not None else None
    if player.target is None and index != NO_TARGET:
        world.count("target unknown")


def _put_back(world: World, player: Player, reason: str, now: Monotonic) -> None:
    if now - player.corrected < PUT_BACK_PAUSE:
        return
    player.corrected = now
    _send_place(player, player.position)
    if player.pace.refused == 1:
        world.refused(player, reason)


def _send_place(player: Player, place: Position) -> None:
    player.client.send(
        "WS_MoveClient",
        {
            "x": place.x,
            "y": place.y,
            "z": place.z,
            "heading": place.heading,
            "unknown": 1,
            "location": NO_LOCATION,
        },
    )
