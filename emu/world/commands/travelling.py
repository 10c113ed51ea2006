"""Commands that put somebody elsewhere: zone, goto, summon, move; and where one is."""

from __future__ import annotations

from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.commands.ranks import GUIDE, MASTER
from emu.errors import CommandError
from emu.world.commands.context import CommandContext, own_player, player_elsewhere, player_named
from emu.world.players import leaving, moving
from emu.world.players.player import IN_ZONE, Player
from emu.world.spawns import Destination, Position


def commands(context: CommandContext) -> list[Command]:
    """Return the commands of this room."""
    return [*_places(context), *_players(context)]


def _places(context: CommandContext) -> list[Command]:
    """Return the commands that bring one to a place, or tell it."""
    world = context.world

    async def zone(call: Call) -> Reply:
        player = own_player(call)
        definition = world.zones.table.named(call["zone"])
        if definition is None:
            raise CommandError(f"there is no zone {call['zone']}; zones lists them")
        _standing(player)
        await leaving.change_zone(world, player, Destination(definition.id), call.now)
        return Reply((f"going to {definition.description}",))

    async def move(call: Call) -> Reply:
        player = own_player(call)
        _standing(player)
        here = player.position
        place = Position(call["x"], call["y"], call["z"], here.heading, here.grid)
        if max(map(abs, place[:3])) > world.rules.movement.farthest:
            raise CommandError("that is outside the world")
        moving.teleport(player, place, call.now)
        return Reply((f"you are at {place.x:g}, {place.y:g}, {place.z:g}",))

    async def location(call: Call) -> Reply:
        player = own_player(call)
        at = player.position
        name = world.zones.definition(player.zone.zone_id).description
        return Reply(
            (f"{name}: {at.x:.2f}, {at.y:.2f}, {at.z:.2f}, heading {at.heading:.1f}",),
            {"zone": name, "x": at.x, "y": at.y, "z": at.z, "heading": at.heading},
        )

    numbers = tuple(Argument(axis, ArgumentKind.DECIMAL) for axis in "xyz")
    return [
        Command(
            "zone", "go to another zone", zone,
            (Argument("zone", help="its name, file or number", among="zone"),), MASTER,
            outside=False,
        ),
        Command("move", "go to a place in the zone", move, numbers, MASTER, outside=False),
        Command("loc", "show where you are", location, outside=False, is_quiet=True,
                aliases=("location",)),
    ]  # fmt: skip


def _players(context: CommandContext) -> list[Command]:
    """Return the commands that bring one to a player, or a player to one."""
    world = context.world

    async def goto(call: Call) -> Reply:
        there = player_elsewhere(context, call["name"])
        if there is not None:
            _standing(own_player(call))
            to = Destination(there.zone_id)
            await leaving.change_zone(world, own_player(call), to, call.now)
            return Reply((f"going to the zone that {there.name} is in",))
        player, target = own_player(call), player_named(context, call["name"])
        await bring(context, player, target, call)
        return Reply((f"you are with {target.name}",))

    async def summon(call: Call) -> Reply:
        player, target = own_player(call), player_named(context, call["name"])
        await bring(context, target, player, call)
        return Reply((f"{target.name} is with you",))

    name = Argument("name", help="the player", among="player")
    return [
        Command("goto", "go to a player", goto, (name,), GUIDE, outside=False),
        Command("summon", "bring a player to you", summon, (name,), GUIDE, outside=False),
    ]


async def bring(context: CommandContext, player: Player, to: Player, call: Call) -> None:
    """Put a player where another one is, through a zone change when that is elsewhere."""
    _standing(player)
    _standing(to)
    if player.zone is to.zone:
        moving.teleport(player, to.position, call.now)
    else:
        there = Destination(to.zone.zone_id, to.position)
        await leaving.change_zone(context.world, player, there, call.now)


def _standing(player: Player) -> None:
    if player.state not in IN_ZONE:
        raise CommandError(f"{player.name} is {player.state.value}")
