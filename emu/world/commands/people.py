"""Commands about who is there: who, players, away, groups of them by zone."""

from __future__ import annotations

from typing import Any

from emu.commands import Argument, Call, Command, Kind, Reply
from emu.commands.ranks import GUIDE
from emu.counts import counted
from emu.world.commands.ground import House, own_player
from emu.world.players.player import Player

AFK_FLAG = 32
ANSWERED = 2
"""WhoQueryReply carries entries with this answer."""
NO_ZONE = 0xFFFFFFFF
MOST_SHOWN = 100
"""Players of one answer; its count is one byte."""


def commands(house: House) -> list[Command]:
    """Return the commands of this room."""

    async def who(call: Call) -> Reply:
        found = _matching(house, call)
        caller: Player | None = call.caller.player
        if caller is not None:
            _send_who(house, caller, found)
            return Reply(data=[row(house, player) for player in found])
        return _listed(house, found)

    async def players(call: Call) -> Reply:
        del call
        return _listed(house, list(house.world.players))

    async def afk(call: Call) -> Reply:
        player = own_player(call)
        player.away_message = call["message"]
        away = "afk" not in player.spawn.words
        player.spawn.set_word("afk", on=away)
        return Reply(("You are away from the keyboard." if away else "You are back.",))

    return [
        Command(
            "who", "show who is in your zone, in the whole world (all), or is called so", who,
            (Argument("filter", optional=True, default="", help="all, or how a name begins"),),
            is_quiet=True,
        ),
        Command("players", "list everybody in the world with their places", players, rank=GUIDE),
        Command(
            "afk", "go away from the keyboard, or come back", afk,
            (Argument("message", Kind.TEXT, optional=True, default="",
                      help="what those are told who tell you something"),),
            outside=False, is_quiet=True,
        ),
    ]  # fmt: skip


def row(house: House, player: Player) -> dict[str, Any]:
    """Return what is told of a player to programs."""
    at = player.position
    return {
        "name": player.name,
        "character_id": player.id,
        "account_id": player.character.account_id,
        "level": player.character.level,
        "class": player.character.class_,
        "race": player.character.race,
        "zone": house.world.zones.definition(player.zone.zone_id).name,
        "instance": player.zone.instance,
        "x": round(at.x, 2),
        "y": round(at.y, 2),
        "z": round(at.z, 2),
        "state": player.state.value + (", hidden" if player.spawn.hidden else ""),
        "client": player.client.version,
        "address": player.client.address,
    }


def _matching(house: House, call: Call) -> list[Player]:
    wanted = call["filter"].casefold()
    caller: Player | None = call.caller.player
    players = [
        player
        for player in house.world.players
        if player.is_online and (not player.spawn.hidden or call.caller.rank >= GUIDE)
    ]
    if wanted and wanted != "all":
        return [player for player in players if player.name.casefold().startswith(wanted)]
    if caller is not None and not wanted:
        return [player for player in players if player.zone.zone_id == caller.zone.zone_id]
    return players


def _listed(house: House, players: list[Player]) -> Reply:
    rows = [row(house, player) for player in sorted(players, key=lambda one: one.name)]
    lines = [
        f"{one['name']:<16} level {one['level']:<3} {one['zone']} ({one['x']}, {one['y']},"
        f" {one['z']}) client {one['client']}, {one['state']}"
        for one in rows
    ]
    return Reply((counted(len(rows), "player"), *lines), rows)


def _send_who(house: House, caller: Player, found: list[Player]) -> None:
    shown = found[:MOST_SHOWN]
    caller.client.send(
        "WS_WhoQueryReply",
        {
            "account_id": caller.character.account_id,
            "unknown": NO_ZONE,
            "response": ANSWERED,
            "num_characters": len(shown),
            "characters_array": [
                {
                    "char_name": player.name,
                    "level": player.character.level,
                    "admin_level": 0,
                    "class": player.character.class_,
                    "unknown4": 255,
                    "race": player.character.race,
                    "flags": AFK_FLAG if "afk" in player.spawn.words else 0,
                    "zone": house.world.zones.definition(player.zone.zone_id).description,
                }
                for player in shown
            ],
            "display_zone": 1,
        },
    )
