"""Commands about titles: list them, show one at the name, give one to a player."""

from __future__ import annotations

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.commands.registry import MASTER
from emu.errors import CommandError
from emu.model import Title
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.commands.context import (
    CommandContext,
    WorldCommandSet,
    check_rank,
    check_voice,
    player_named,
)
from emu.world.entry.saver import SavedKind

LIST, BEFORE, BEHIND = "list", "setprefix", "setsuffix"
"""The actions, by the names that clients send (docs/protocol/world/data.md#knowledge)."""
NONE = ("none", "-1")


ACTION = Argument(
    "action", optional=True, default=LIST, choices=(LIST, BEFORE, BEHIND),
    help="what to do",
)  # fmt: skip
WHICH = Argument(
    "title", ArgumentKind.TEXT, "its number or text, or none", optional=True, default=""
)
WHOSE = Argument("name", help="the player")
TITLE = Argument("title", ArgumentKind.TEXT, "number or text of a title, or a new one")

COMMANDS = WorldCommandSet()


@COMMANDS.for_players(
    "title", "list your titles, or choose the one that others see", ACTION, WHICH, is_quiet=True,
    cost=Cost.SHOWN,
)  # fmt: skip
async def _title(context: CommandContext, player: Player, call: Call) -> Reply:
    if call["action"] != LIST:
        if call["title"].casefold() not in NONE:
            await check_voice(context, call)
        _bear(player, call["title"], is_prefix=call["action"] == BEFORE)
        _changed(context, player, call.now)
    return Reply(tuple(_lines(player)))


@COMMANDS.command("givetitle", "give a player a title", WHOSE, TITLE, rank=MASTER)
async def _give(context: CommandContext, call: Call) -> str:
    player = player_named(context, call["name"], call)
    await check_rank(context, call, player.character.account_id, player.name, harmless=True)
    await check_voice(context, call)
    found = context.world.knowledge.title(call["title"]) or Title(call["title"])
    if not player.titles.give(found):
        raise CommandError(f"{player.name} already has the title {found.text}")
    _changed(context, player, call.now)
    if player.is_online:
        context.chat.line(player, f"You may bear the title {found.text}.")
    return f"{player.name} has the title {found.text} now"


def _bear(player: Player, name: str, *, is_prefix: bool) -> None:
    if not name:
        raise CommandError("title: name a title, or none")
    if name.casefold() in NONE:
        player.titles.lay_down(is_prefix=is_prefix)
    else:
        player.titles.bear(player.titles.find(name, is_prefix=is_prefix))


def _changed(context: CommandContext, player: Player, now: Monotonic) -> None:
    """Show changed titles at the spawn, send them to the client, and save them."""
    player.titles.show(player.spawn)
    if player.is_online:
        player.titles.send(player.client)
    context.world.saves.changed(player, SavedKind.TITLES, now)


def _lines(player: Player) -> list[str]:
    """Return a line for each title, with the number that selects it."""
    lines = []
    for place, title in enumerate(player.titles.given):
        borne = player.titles.prefix if title.is_prefix else player.titles.suffix
        where = "before" if title.is_prefix else "behind"
        mark = ", borne" if borne == title.text else ""
        lines.append(f"{place}: {title.text} ({where} the name{mark})")
    return lines or ["you have no titles"]
