"""Commands that move players (zone, goto, summon, move), and loc."""

from __future__ import annotations

from emu.commands import Argument, ArgumentKind, Call, Reply
from emu.commands.registry import GUIDE, MASTER
from emu.errors import CommandError
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Destination
from emu.world.commands.context import (
    NAME,
    CommandContext,
    WorldCommandSet,
    check_rank,
    player_elsewhere,
    player_named,
)
from emu.world_stream.movement import Position

ZONE = Argument("zone", help="its name, file or number", among="zone")
PLACE = tuple(Argument(axis, ArgumentKind.DECIMAL) for axis in "xyz")

COMMANDS = WorldCommandSet()


@COMMANDS.for_players("zone", "go to another zone", ZONE, rank=MASTER)
async def _zone(context: CommandContext, player: Player, call: Call) -> str:
    definition = context.world.zones.table.named(call["zone"])
    if definition is None:
        raise CommandError(f"there is no zone {call['zone']}; zones lists them")
    _standing(player)
    await context.departures.change_zone(player, Destination(definition.id))
    return f"going to {definition.description}"


@COMMANDS.for_players("move", "go to a place in the zone", *PLACE, rank=MASTER)
async def _move(context: CommandContext, player: Player, call: Call) -> str:
    _standing(player)
    here = player.position
    place = Position(call["x"], call["y"], call["z"], here.heading, here.grid)
    if max(map(abs, place[:3])) > context.world.rules.movement.farthest:
        farthest = context.world.rules.movement.farthest
        raise CommandError(f"x, y and z: must be from {-farthest:g} to {farthest:g}")
    player.teleport(place, call.now)
    return f"you are at {place.x:g}, {place.y:g}, {place.z:g}"


@COMMANDS.for_players("loc", "show where you are", is_quiet=True, aliases=("location",))
async def _location(context: CommandContext, player: Player, _call: Call) -> Reply:
    at = player.position
    name = context.world.zones.definition(player.zone.zone_id).description
    return Reply(
        (f"{name}: {at.x:.2f}, {at.y:.2f}, {at.z:.2f}, heading {at.heading:.1f}",),
        {"zone": name, "x": at.x, "y": at.y, "z": at.z, "heading": at.heading},
    )


@COMMANDS.for_players("goto", "go to a player", NAME, rank=GUIDE)
async def _goto(context: CommandContext, player: Player, call: Call) -> str:
    there = player_elsewhere(context, call["name"])
    if there is not None:
        _standing(player)
        await context.departures.change_zone(player, Destination(there.zone_id))
        return f"going to the zone that {there.name} is in"
    target = player_named(context, call["name"], call)
    await _bring(context, player, target)
    return f"you are with {target.name}"


@COMMANDS.for_players("summon", "bring a player to you", NAME, rank=GUIDE)
async def _summon(context: CommandContext, player: Player, call: Call) -> str:
    target = player_named(context, call["name"], call)
    await check_rank(context, call, target.character.account_id, target.name, harmless=True)
    await _bring(context, target, player)
    return f"{target.name} is with you"


async def _bring(context: CommandContext, player: Player, to: Player) -> None:
    """Move a player to another player, with a zone change if they are in different zones."""
    _standing(player)
    _standing(to)
    if player.zone is to.zone:
        player.teleport(to.position, context.world.clock.now())
    else:
        there = Destination(to.zone.zone_id, to.position)
        await context.departures.change_zone(player, there)


def _standing(player: Player) -> None:
    if player.state not in IN_ZONE:
        raise CommandError(f"{player.name} is {player.state.value}")
