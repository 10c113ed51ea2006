"""Commands that list players (who, players), and afk."""

from __future__ import annotations

from typing import Any

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.commands.registry import GUIDE
from emu.model import Present, may_see
from emu.texts import counted
from emu.world.actors.player import Player
from emu.world.commands.context import CommandContext, WorldCommandSet, check_voice

AFK_FLAG = 32
ANSWERED = 2
"""The value of `response` for a WhoQueryReply with entries."""
NO_ZONE = 0xFFFFFFFF
MOST_SHOWN = 100
"""Players of one WhoQueryReply, whose count is one byte."""


FILTER = Argument("filter", optional=True, default="", help="all, or the beginning of a name")
MESSAGE = Argument(
    "message", ArgumentKind.TEXT, optional=True, default="", help="the answer to tells",
)  # fmt: skip

COMMANDS = WorldCommandSet()


@COMMANDS.command(
    "who", "list players: in your zone, in the world (all), or by name", FILTER,
    is_quiet=True, cost=Cost.LISTING,
)  # fmt: skip
async def _who(context: CommandContext, call: Call) -> Reply:
    found = _matching(context, call)
    caller: Player | None = call.caller.player
    if caller is None:
        return _listed(context, found)
    _send_who(context, caller, found)
    return Reply(data=[row(context, one) for one in found])


@COMMANDS.command(
    "players",
    "list all players in the world with their positions",
    rank=GUIDE,
    without_database=True,
    cost=Cost.LISTING,
)
async def _players(context: CommandContext, _call: Call) -> Reply:
    return _listed(context, list(context.world.presence))


@COMMANDS.for_players(
    "afk", "be away from the keyboard, or be back", MESSAGE, is_quiet=True, cost=Cost.SHOWN
)
async def _afk(context: CommandContext, player: Player, call: Call) -> str:
    if call["message"]:
        await check_voice(context, call)
    player.away_message = call["message"]
    away = "afk" not in player.spawn.words
    player.spawn.set_word("afk", on=away)
    context.world.presence.seen(player.id, away=away)
    return "You are away from the keyboard." if away else "You are back."


def row(context: CommandContext, present: Present) -> dict[str, Any]:
    """Return a player as a JSON object. Position and client are known only in its own process."""
    shown = {
        "name": present.name,
        "character_id": present.char_id,
        "account_id": present.account_id,
        "level": present.level,
        "class": present.class_,
        "race": present.race,
        "zone": context.world.zones.definition(present.zone_id).name,
        "state": "link-dead" if present.link_dead else f"in the process {present.process}",
    }
    player = context.world.players.get(present.char_id)
    if player is None:
        return shown
    at = player.position
    return shown | {
        "instance": player.zone.instance,
        "x": round(at.x, 2),
        "y": round(at.y, 2),
        "z": round(at.z, 2),
        "state": player.state.value + (", hidden" if present.hidden else ""),
        "client": player.client.version,
        "address": player.client.address,
    }


def _matching(context: CommandContext, call: Call) -> list[Present]:
    wanted = call["filter"].casefold()
    caller: Player | None = call.caller.player
    players = [
        present
        for present in context.world.presence
        if not present.link_dead and may_see(call.caller.rank, present)
    ]
    if wanted and wanted != "all":
        return [present for present in players if present.name.casefold().startswith(wanted)]
    if caller is not None and not wanted:
        return [present for present in players if present.zone_id == caller.zone.zone_id]
    return players


def _listed(context: CommandContext, players: list[Present]) -> Reply:
    rows = [row(context, present) for present in sorted(players, key=lambda one: one.name)]
    return Reply((counted(len(rows), "player"), *map(_line, rows)), rows)


def _line(shown: dict[str, Any]) -> str:
    place = client = ""
    if "client" in shown:
        place = f" ({shown['x']}, {shown['y']}, {shown['z']})"
        client = f" client {shown['client']},"
    who = f"{shown['name']:<16} level {shown['level']:<3}"
    return f"{who} {shown['zone']}{place}{client} {shown['state']}"


def _send_who(context: CommandContext, caller: Player, found: list[Present]) -> None:
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
                    "char_name": present.name,
                    "level": present.level,
                    "admin_level": 0,
                    "class": present.class_,
                    "unknown4": 255,
                    "race": present.race,
                    "flags": AFK_FLAG if present.away else 0,
                    "zone": context.world.zones.definition(present.zone_id).description,
                }
                for present in shown
            ],
            "display_zone": 1,
        },
    )
