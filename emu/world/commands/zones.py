"""Commands that move players (zone, goto, summon, move, loc), and those about the world's state."""

from __future__ import annotations

from typing import Any

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.commands.registry import GUIDE, MASTER
from emu.errors import CommandError
from emu.model import may_see
from emu.schema import unknown_key
from emu.texts import counted
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Destination, Spawn, SpawnKind, Verb
from emu.world.commands.context import (
    NAME,
    CommandContext,
    WorldCommandSet,
    check_rank,
    check_voice,
    player_elsewhere,
    player_named,
)
from emu.world.population.files import check_appearance, check_texts
from emu.world.population.saving import row_of
from emu.world.world import World
from emu.world_stream.movement import Position

SPAWN = (
    Argument("name", help="its name"),
    Argument("model", ArgumentKind.NUMBER, "its model", optional=True, default=85),
    Argument("level", ArgumentKind.NUMBER, "its level", optional=True, default=1),
    Argument("behavior", help="the behavior that controls it", optional=True, default=""),
)
FILE = Argument("file", help="a file of the folder world.zones", optional=True, default="")
LARGEST_LEVEL = 255
HAIL = Verb("Hail", 10.0, "hail")
"""The verb of a spawn with a behavior: a click hails it."""
DISTANCE = Argument("distance", ArgumentKind.DECIMAL, "in units", optional=True, default=50.0)
MOST_AROUND = 40
"""The most spawns in one list; the nearest come first."""

COMMANDS = WorldCommandSet()


@COMMANDS.command(
    "zones",
    "list the zones with their instances and players",
    rank=GUIDE,
    is_quiet=True,
    without_database=True,
    cost=Cost.LISTING,
)
async def _zones(context: CommandContext, _call: Call) -> Reply:
    world = context.world
    servers = await world.processes.zone_servers.servers()
    rows = [
        {
            "zone": definition.name,
            "id": definition.id,
            "file": definition.file,
            "description": definition.description,
            "nodes": list(servers.get(definition.id, ())),
            "instances": [
                {
                    "instance": zone.instance,
                    "players": world.players.count_in(zone),
                    "spawns": len(zone),
                }
                for zone in world.zones
                if zone.zone_id == definition.id
            ],
        }
        for definition in world.zones.table
    ]
    lines = [
        f"{row['id']:>4}  {row['zone']:<24} {row['description']:<28} {_running_text(world, row)}"
        for row in rows
    ]
    return Reply(tuple(lines), rows)


def _running_text(world: World, row: dict[str, Any]) -> str:
    others = [node for node in row["nodes"] if node != world.processes.name]
    instances = row["instances"]
    if others and not instances:
        # Of a zone on other nodes, only the players are known.
        players = len(world.processes.presence.in_zone(row["id"]))
        return f"on {', '.join(others)}: {counted(players, 'player')}"
    if not instances:
        return "not running"
    return ", ".join(
        f"instance {one['instance']}: {counted(one['players'], 'player')},"
        f" {counted(one['spawns'], 'spawn')}"
        for one in instances
    )


@COMMANDS.command("processes", "list the reachable processes of this world", rank=GUIDE)
async def _processes(context: CommandContext, _call: Call) -> Reply:
    world = context.world
    players = world.processes.presence.processes
    (host, port), name = context.departures.address(), world.processes.name
    here = {"process": name, "host": host, "port": port, "players": players.get(name, 0)}
    rows = [here] + [
        {"process": other, "host": about.get("host"), "port": about.get("port"),
         "players": players.get(other, 0)}
        for other, about in sorted(world.processes.others.items())
    ]  # fmt: skip
    lines = [
        f"{row['process']:<16} {row['host']}:{row['port']}, {counted(row['players'], 'player')}"
        for row in rows
    ]
    return Reply(tuple(lines), rows)


@COMMANDS.command("save", "save all players now", rank=GUIDE)
async def _save(context: CommandContext, _call: Call) -> str:
    for player in context.world.players:
        context.world.saves.save(player)
    # Saving goes on in the background; the answer does not wait for it.
    return f"saving {counted(len(context.world.players), 'player')}"


@COMMANDS.for_players(
    "spawn", "add a creature at your position", *SPAWN, rank=MASTER, changes="spawn {name}",
    example="spawn 'a wolf' 85 12 wanderer",
)  # fmt: skip
async def _spawn(context: CommandContext, player: Player, call: Call) -> Reply:
    await check_voice(context, call)
    # Both models, because clients that prefer the alternate ones would show nothing.
    appearance = {"model_type": call["model"], "soga_model_type": call["model"]}
    level, behavior = call["level"], call["behavior"]
    try:
        # Checked now: a name that does not fit would raise while the zone is encoded.
        check_texts(name=call["name"])
        check_appearance(appearance)
    except ValueError as error:
        raise CommandError(str(error)) from None
    if not 1 <= level <= LARGEST_LEVEL:
        raise CommandError(f"level: must be 1 to {LARGEST_LEVEL}")
    names = context.behaviors.names()
    if behavior and behavior not in names:
        raise CommandError(unknown_key(behavior, names, f"behavior {behavior!r}"))
    made = Spawn(
        context.world.zones.next_spawn_id(), SpawnKind.NPC, call["name"], player.position,
        appearance=appearance, level=level, verbs=(HAIL,) if behavior else (),
    )  # fmt: skip
    player.zone.add_spawn(made, call.now)
    if behavior:
        context.behaviors.start_behavior(behavior, {}, player.zone, made)
    return Reply((f"{made.name} stands here",), {"id": made.id})


@COMMANDS.for_players(
    "spawn save", "save your target, which `spawn` has made, in a zone file", FILE, rank=MASTER,
    changes="world",
    example="spawn save meadow",
)  # fmt: skip
async def _spawn_save(context: CommandContext, player: Player, call: Call) -> Reply:
    await check_voice(context, call)
    target, zone = player.target, player.zone
    if target is None or target.kind is SpawnKind.PLAYER:
        raise CommandError("target the spawn to save; players cannot be saved")
    # The client may still have the ghost of a spawn that is gone.
    if zone.spawn(target.id) is not target:
        raise CommandError(f"{target.name} is not in this zone any more")
    if context.population.is_from_file(zone, target):
        raise CommandError(f"{target.name} is in a zone file already; change it there")
    row = row_of(target, *context.behaviors.of(target))
    path = context.zone_files.save(zone.definition, row, call["file"])
    # From now on it is a spawn of the file: a reload replaces it, and does not add a second one.
    context.population.adopt(zone, target)
    line = f"{target.name} is saved in {path.name}; `reload zones` adds it to other instances"
    return Reply((line,), {"file": str(path)})


@COMMANDS.for_players("despawn", "remove your target", rank=MASTER, changes="spawn")
async def _despawn(context: CommandContext, player: Player, call: Call) -> str:
    target = player.target
    if target is None or target.kind is SpawnKind.PLAYER:
        raise CommandError("target the spawn to remove; players cannot be removed")
    content = context.population.content
    if content.standing_of(player.zone, target) is not None:
        content.despawn(player.zone, target)
        player.set_target(None)
        return f"{target.name} is gone until it respawns; `edit remove` removes it for good"
    # Its behavior first, so that it cannot act for a spawn that is gone.
    context.behaviors.forget_spawn(target)
    player.zone.remove(target, call.now)
    player.set_target(None)
    return f"{target.name} is gone"


@COMMANDS.for_players(
    "around", "list the spawns near you", DISTANCE, is_quiet=True,
    cost=Cost.LISTING, example="around 100",
)  # fmt: skip
async def _around(_context: CommandContext, player: Player, call: Call) -> Reply:
    seen = player.zone.rules.create_distance
    # Farther away there is nothing that the client is shown.
    near = player.zone.near(player.position, min(call["distance"], seen))
    found = [one for one in near if one is not player.spawn and may_see(call.caller.rank, one)]
    rows = [
        {
            "name": one.name,
            "kind": one.kind.value,
            "index": player.index_of(one),
            "distance": round(player.position.distance_to(one.position), 1),
        }
        for one in found[:MOST_AROUND]
    ]
    lines = [f"{row['distance']:>6}  {row['name']} ({row['kind']})" for row in rows]
    if len(found) > len(rows):
        lines.append(f"and {len(found) - len(rows)} more")
    return Reply(tuple(lines), rows)


ZONE = Argument("zone", help="its name, file or number", among="zone")
PLACE = tuple(Argument(axis, ArgumentKind.DECIMAL, "in units; Y is up") for axis in "xyz")


@COMMANDS.for_players("zone", "go to another zone", ZONE, rank=MASTER, example="zone Antonica")
async def _zone(context: CommandContext, player: Player, call: Call) -> str:
    definition = context.world.zones.table.named(call["zone"])
    if definition is None:
        raise CommandError(f"there is no zone {call['zone']}; zones lists them")
    _standing(player)
    await context.departures.change_zone(player, Destination(definition.id))
    return f"going to {definition.description}"


@COMMANDS.for_players(
    "move", "go to a place in the zone", *PLACE, rank=MASTER, example="move -1070 -41 -548"
)
async def _move(context: CommandContext, player: Player, call: Call) -> str:
    _standing(player)
    here = player.position
    # The cell of the map (grid) is kept, because the server has no map to find the new one.
    place = Position(call["x"], call["y"], call["z"], here.heading, here.grid)
    if max(map(abs, place[:3])) > context.world.rules.movement.farthest:
        farthest = context.world.rules.movement.farthest
        raise CommandError(f"x, y and z: must be from {-farthest:g} to {farthest:g}")
    player.teleport(place, call.now)
    return f"you are at {place.x:g}, {place.y:g}, {place.z:g}"


@COMMANDS.for_players("loc", "show where you are", is_quiet=True, aliases=("location",))
async def _location(_context: CommandContext, player: Player, _call: Call) -> Reply:
    at = player.position
    name = player.zone.definition.description
    return Reply(
        (f"{name}: {at.x:.2f}, {at.y:.2f}, {at.z:.2f}, heading {at.heading:.1f}",),
        {"zone": name, "x": at.x, "y": at.y, "z": at.z, "heading": at.heading},
    )


@COMMANDS.for_players("goto", "go to a player", NAME, rank=GUIDE, example="goto Borvik")
async def _goto(context: CommandContext, player: Player, call: Call) -> str:
    # A player of another process has no position here, so only its zone is known.
    there = player_elsewhere(context, call["name"])
    if there is not None:
        _standing(player)
        await context.departures.change_zone(player, Destination(there.zone_id))
        return f"going to the zone that {there.name} is in"
    target = player_named(context, call["name"], call)
    await _bring(context, player, target)
    return f"you are with {target.name}"


@COMMANDS.for_players(
    "summon",
    "bring a player to you",
    NAME,
    rank=GUIDE,
    changes="character {name}",
    example="summon Borvik",
)
async def _summon(context: CommandContext, player: Player, call: Call) -> str:
    target = player_named(context, call["name"], call)
    # A summoned player is moved, so it is protected by its rank.
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
