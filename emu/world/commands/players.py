"""Commands that list players (who, players), afk, and the titles of players."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.commands.registry import GUIDE, MASTER
from emu.errors import CommandError
from emu.model import Present, SavedKind, Title, may_see
from emu.texts import counted
from emu.world.actors.player import Player
from emu.world.actors.spawn import StateWord
from emu.world.commands.context import (
    CommandContext,
    WorldCommandSet,
    check_rank,
    check_voice,
    confirmed,
    player_named,
)

AFK_FLAG = 32
ANSWERED = 2
"""The value of `response` for a WhoQueryReply with entries."""
NO_ZONE = 0xFFFFFFFF
MOST_GUILD = 39
"""Bytes of a guild's name in WhoQueryReply, which newer versions have."""
MOST_SHOWN = 100
"""Players of one WhoQueryReply, whose count is one byte."""
MOST_LISTED = 1000
"""Players that a command lists as text or data."""
ALL, OF_GUILD = "all", "guild"

FILTER = Argument(
    "filter", optional=True, default="", help="all, guild, or the beginning of a name"
)
MESSAGE = Argument(
    "message", ArgumentKind.TEXT, optional=True, default="", help="the answer to tells",
)  # fmt: skip

COMMANDS = WorldCommandSet()


@COMMANDS.command(
    "who", "list players: in your zone, in the world (all), of your guild, or by name", FILTER,
    is_quiet=True, cost=Cost.LISTING, example="who all",
)  # fmt: skip
async def _who(context: CommandContext, call: Call) -> Reply:
    caller: Player | None = call.caller.player
    if caller is None:
        return _listed(context, _matching(context, call), _count(context, call))
    # A game client gets the list in its own window, other callers as text. Cut before any row is
    # made: tens of thousands of players may match.
    shown = list(islice(_matching(context, call), MOST_SHOWN))
    _send_who(context, caller, shown)
    return Reply(data=[row(context, one) for one in shown])


@COMMANDS.command(
    "players",
    "list all players in the world with their positions",
    rank=GUIDE,
    without_database=True,
    cost=Cost.LISTING,
)
async def _players(context: CommandContext, _call: Call) -> Reply:
    presence = context.world.processes.presence
    return _listed(context, presence.starting_with(""), sum(presence.processes.values()))


@COMMANDS.for_players(
    "afk", "be away from the keyboard, or be back", MESSAGE, is_quiet=True, cost=Cost.SHOWN,
    example="afk back in ten minutes",
)  # fmt: skip
async def _afk(context: CommandContext, player: Player, call: Call) -> None:
    if call["message"]:
        await check_voice(context, call)
    player.away_message = call["message"]
    away = StateWord.AFK not in player.spawn.words
    player.spawn.set_word(StateWord.AFK, on=away)
    context.world.processes.presence.seen(player.id, away=away)
    # Texts and order are recorded; those near are not shown that a player is back.
    context.chat.line(player, "You are now afk." if away else "You are no longer afk.")
    if away:
        context.chat.notice(player, f"{player.name} is going afk.")
    if player.is_online:
        context.sheets.send(player)


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


def _matching(context: CommandContext, call: Call) -> Iterator[Present]:
    """Yield the players whom the command is to list."""
    wanted, rank = call["filter"].casefold(), call.caller.rank
    caller: Player | None = call.caller.player
    presence = context.world.processes.presence
    players: Iterable[Present] = presence.starting_with("" if wanted == ALL else wanted)
    if caller is not None and not wanted:
        players = presence.in_zone(caller.zone.zone_id)
    elif caller is not None and wanted == OF_GUILD:
        guild = context.memberships.of(caller.id)
        if guild is None:
            raise CommandError("you are in no guild")
        found = (presence.find(member) for member in guild.members)
        players = (one for one in found if one is not None)
    # A link-dead player cannot answer.
    return (one for one in players if not one.link_dead and may_see(rank, one))


def _count(context: CommandContext, call: Call) -> int:
    """Return how many players `_matching` yields for a caller without a character."""
    if call["filter"].casefold() in ("", ALL):
        return context.world.processes.presence.online(call.caller.rank)
    return sum(1 for _ in _matching(context, call))


def _listed(context: CommandContext, players: Iterable[Present], count: int) -> Reply:
    rows = [row(context, present) for present in islice(players, MOST_LISTED)]
    total = counted(count, "player")
    if count > len(rows):
        total += f", {len(rows)} of them listed"
    return Reply((total, *map(_line, rows)), rows)


def _line(shown: dict[str, Any]) -> str:
    place = client = ""
    if "client" in shown:
        place = f" ({shown['x']}, {shown['y']}, {shown['z']})"
        client = f" client {shown['client']},"
    who = f"{shown['name']:<16} level {shown['level']:<3}"
    return f"{who} {shown['zone']}{place}{client} {shown['state']}"


def _send_who(context: CommandContext, caller: Player, shown: list[Present]) -> None:
    def is_anonymous(present: Present) -> bool:
        # Players see themselves and game masters see everybody as they are.
        own_or_staff = present.char_id == caller.id or caller.character.admin_status >= GUIDE
        return present.anonymous and not own_or_staff

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
                    "level": 0 if is_anonymous(present) else present.level,
                    # Players are not shown the ranks of others.
                    "admin_level": 0,
                    "class": 0 if is_anonymous(present) else present.class_,
                    "unknown4": 255,
                    "race": present.race,
                    "flags": AFK_FLAG if present.away else 0,
                    "zone": ""
                    if is_anonymous(present)
                    else context.world.zones.definition(present.zone_id).description,
                    "guild": context.memberships.known_name(present.char_id)[:MOST_GUILD],
                }
                for present in shown
            ],
            "display_zone": 1,
        },
    )


LIST, BEFORE, BEHIND, FIX = "list", "setprefix", "setsuffix", "fix"
"""The actions, by the names that clients send (docs/protocol/world/data.md#knowledge)."""
NONE = ("none", "-1")


ACTION = Argument(
    "action", optional=True, default=LIST, choices=(LIST, BEFORE, BEHIND, FIX),
    help="what to do",
)  # fmt: skip
WHICH = Argument(
    "title", ArgumentKind.TEXT, "its number or text, or none", optional=True, default=""
)
WHOSE = Argument("name", help="the player")
TITLE = Argument("title", ArgumentKind.TEXT, "number or text of a title, or a new one")


@COMMANDS.for_players(
    "title", "list your titles, or choose the one that others see", ACTION, WHICH, is_quiet=True,
    cost=Cost.SHOWN, example="title setsuffix of the Meadow",
)  # fmt: skip
async def _title(context: CommandContext, player: Player, call: Call) -> Reply | None:
    if call["action"] == FIX:
        # For a client whose window shows other titles than the server has.
        player.titles.show(player.spawn)
        player.titles.send(player.client)
    elif call["action"] != LIST:
        # Taking a title off shows no text, so a muted player may do it.
        if call["title"].casefold() not in NONE:
            await check_voice(context, call)
        _bear(player, call["title"], is_prefix=call["action"] == BEFORE)
        return await _changed(context, player, *_lines(player))
    return Reply(tuple(_lines(player)))


@COMMANDS.command(
    "givetitle", "give a player a title", WHOSE, TITLE, rank=MASTER, changes="character {name}",
    example="givetitle Borvik of the Meadow",
)  # fmt: skip
async def _give(context: CommandContext, call: Call) -> Reply:
    player = player_named(context, call["name"], call)
    await check_rank(context, call, player.character.account_id, player.name, harmless=True)
    await check_voice(context, call)
    # A title of the knowledge files by number or text, or else a new one.
    found = context.world.knowledge.title(call["title"]) or Title(call["title"])
    if not player.titles.give(found):
        raise CommandError(f"{player.name} already has the title {found.text}")
    answer = await _changed(context, player, f"{player.name} has the title {found.text} now")
    if answer is None:
        raise CommandError(f"{player.name} is not in the world any more")
    if player.is_online:
        context.chat.line(player, f"You may bear the title {found.text}.")
    return answer


def _bear(player: Player, name: str, *, is_prefix: bool) -> None:
    if not name:
        raise CommandError("title: name a title, or none")
    # Clients send -1 for none, people type the word.
    if name.casefold() in NONE:
        player.titles.lay_down(is_prefix=is_prefix)
    else:
        player.titles.bear(player.titles.find(name, is_prefix=is_prefix))


async def _changed(context: CommandContext, player: Player, *lines: str) -> Reply | None:
    """Store changed titles, show them at the spawn and to the client, and return the answer."""
    answer = await confirmed(context, player, SavedKind.TITLES, *lines)
    player.titles.show(player.spawn)
    if player.is_online:
        player.titles.send(player.client)
    return answer


def _lines(player: Player) -> list[str]:
    """Return a line for each title, with the number that selects it."""
    lines = []
    for place, title in enumerate(player.titles.given):
        borne = player.titles.prefix if title.is_prefix else player.titles.suffix
        where = "before" if title.is_prefix else "behind"
        mark = ", borne" if borne == title.text else ""
        lines.append(f"{place}: {title.text} ({where} the name{mark})")
    return lines or ["you have no titles"]
