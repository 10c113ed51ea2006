"""Commands about the ground as the server's maps have it: grid, los and path."""

from __future__ import annotations

from itertools import pairwise
from math import dist
from typing import Any

from emu.commands import Call, Cost, Reply
from emu.commands.registry import MASTER
from emu.errors import CommandError
from emu.ground.routes import Route
from emu.texts import counted
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.commands.context import CommandContext, WorldCommandSet
from emu.world.zones.ground import ZoneGround

COMMANDS = WorldCommandSet()
MOST_SHOWN = 40
"""The most points of a way in one list."""


@COMMANDS.for_players(
    "grid", "show the ground under you and the regions you are in", rank=MASTER, is_quiet=True
)
async def _grid(context: CommandContext, player: Player, _call: Call) -> Reply:
    ground, at = context.grounds.of(player.zone), player.position
    surface = ground.surface(at)
    regions = [
        f"{one.region.file or one.region.number} ({one.substance.name.lower()})"
        for one in ground.regions.at((at.x, at.y, at.z))
    ]
    row: dict[str, Any] = {"client_grid": at.grid, "y": None, "grid": None, "widget": None}
    lines = [f"your client says grid {at.grid}"]
    if surface is not None:
        row |= {"y": surface.y, "grid": surface.grid, "widget": surface.widget}
        lines.append(
            f"ground: y {surface.y:.2f}, which is {_above(at.y - surface.y)},"
            f" grid {surface.grid}, widget {surface.widget or 'none'}"
        )
    else:
        lines.append("ground: none" if ground.map is not None else "this zone has no map")
    lines.append(f"regions: {', '.join(regions) or 'none'}")
    return Reply(tuple(lines), row | {"regions": regions})


def _above(height: float) -> str:
    return f"{height:.2f} under you" if height >= 0.0 else f"{-height:.2f} over you"


@COMMANDS.for_players(
    "los", "show whether you have a line of sight to your target", rank=MASTER, is_quiet=True
)
async def _los(context: CommandContext, player: Player, _call: Call) -> Reply:
    target = _target(player)
    sees = _with_map(context, player).sees(player.position, target.position)
    far = round(dist(player.position[:3], target.position[:3]), 1)
    line = f"you see {target.name}" if sees else f"something is between you and {target.name}"
    return Reply((f"{line}, {far} away",), {"sees": sees, "distance": far})


@COMMANDS.for_players(
    "path", "list the points of a creature's way from you to your target", rank=MASTER,
    is_quiet=True, cost=Cost.LISTING,
)  # fmt: skip
async def _path(context: CommandContext, player: Player, _call: Call) -> Reply:
    target = _target(player)
    ground = context.grounds.of(player.zone)
    if ground.map is None and ground.mesh is None:
        raise CommandError("this zone has no map")
    answer = context.answer()
    context.grounds.find_route(player.zone, player.position, target.position, answer.callback)
    route: Route | None = await answer
    if route is None:
        raise CommandError("the zone has ended")
    places = [corner.place for corner in route.corners]
    length = round(sum(dist(*leg) for leg in pairwise(places)), 1)
    kind = "straight" if route.is_straight else "over the mesh"
    end = "" if route.reaches else "; it does not reach the target"
    lines = [f"{counted(len(places), 'point')}, {length} long, {kind}{end}"]
    lines += [f"{x:.1f}, {y:.1f}, {z:.1f}" for x, y, z in places[:MOST_SHOWN]]
    if len(places) > MOST_SHOWN:
        lines.append(f"and {len(places) - MOST_SHOWN} more")
    data = {
        "reaches": route.reaches, "straight": route.is_straight, "length": length,
        "points": [list(place) for place in places],
    }  # fmt: skip
    return Reply(tuple(lines), data)


def _target(player: Player) -> Spawn:
    target = player.target
    # The client may still have the ghost of a spawn that is gone.
    if target is None or player.zone.spawn(target.id) is not target:
        raise CommandError("target somebody in this zone")
    return target


def _with_map(context: CommandContext, player: Player) -> ZoneGround:
    ground = context.grounds.of(player.zone)
    if ground.map is None:
        raise CommandError("this zone has no map")
    return ground
