"""Commands about the world's state: zones, save, spawn and despawn."""

from __future__ import annotations

from collections import Counter
from typing import Any

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.commands.registry import GUIDE, MASTER
from emu.errors import CommandError
from emu.model import may_see
from emu.texts import counted
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.commands.context import CommandContext, WorldCommandSet, check_voice
from emu.world.content.files import check_appearance, check_texts
from emu.world.world import World

SPAWN = (
    Argument("name", help="its name"),
    Argument("model", ArgumentKind.NUMBER, "its model", optional=True, default=85),
)
DISTANCE = Argument("distance", ArgumentKind.DECIMAL, "in units", optional=True, default=50.0)
MOST_AROUND = 40
"""The most spawns in one list; the nearest come first."""

COMMANDS = WorldCommandSet()


@COMMANDS.command(
    "zones",
    "list the zones with their instances and players",
    rank=GUIDE,
    without_database=True,
    cost=Cost.LISTING,
)
async def _zones(context: CommandContext, _call: Call) -> Reply:
    world = context.world
    rows = [
        {
            "zone": definition.name,
            "id": definition.id,
            "file": definition.file,
            "description": definition.description,
            "process": world.zone_servers.server_of(definition.id),
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
    server = row["process"]
    if server not in ("", world.process):
        if server not in world.other_processes:
            return f"in the process {server}, which cannot be reached"
        players = sum(present.zone_id == row["id"] for present in world.presence)
        return f"in the process {server}: {counted(players, 'player')}"
    instances = row["instances"]
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
    players = Counter(present.process for present in world.presence)
    (host, port), name = world.address(), world.process
    here = {"process": name, "host": host, "port": port, "players": players[name]}
    rows = [here] + [
        {"process": other, "host": about.get("host"), "port": about.get("port"),
         "players": players[other]}
        for other, about in sorted(world.other_processes.items())
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
    return f"saving {counted(len(context.world.players), 'player')}"


@COMMANDS.for_players("spawn", "add a creature at your position", *SPAWN, rank=MASTER)
async def _spawn(context: CommandContext, player: Player, call: Call) -> Reply:
    await check_voice(context, call)
    appearance = {"model_type": call["model"], "soga_model_type": call["model"]}
    try:
        check_texts(name=call["name"])
        check_appearance(appearance)
    except ValueError as error:
        raise CommandError(str(error)) from None
    number = context.world.next_spawn_id()
    made = Spawn(number, SpawnKind.NPC, call["name"], player.position, appearance=appearance)
    player.zone.add(made, call.now)
    return Reply((f"{made.name} stands here",), {"id": made.id})


@COMMANDS.for_players("despawn", "remove your target", rank=MASTER)
async def _despawn(_context: CommandContext, player: Player, call: Call) -> str:
    target = player.target
    if target is None or target.kind is SpawnKind.PLAYER:
        raise CommandError("target the spawn to remove; players cannot be removed")
    player.zone.remove(target, call.now)
    player.target = None
    return f"{target.name} is gone"


@COMMANDS.for_players(
    "around", "list the spawns near you", DISTANCE, is_quiet=True,
    cost=Cost.LISTING,
)  # fmt: skip
async def _around(_context: CommandContext, player: Player, call: Call) -> Reply:
    seen = player.zone.rules.create_distance
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
