"""Commands about titles: what one has, which to bear, and giving them."""

from __future__ import annotations

from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.commands.ranks import MASTER
from emu.errors import CommandError
from emu.model import Title
from emu.times import Monotonic
from emu.world.commands.context import CommandContext, own_player, player_named
from emu.world.players import saving
from emu.world.players.player import Player

LIST, BEFORE, BEHIND = "list", "setprefix", "setsuffix"
"""Actions by the names that clients use for them (docs/protocol/world/data.md#knowledge)."""
NONE = ("none", "-1")


def commands(context: CommandContext) -> list[Command]:
    """Return the commands of this room."""

    async def title(call: Call) -> Reply:
        player = own_player(call)
        if call["action"] != LIST:
            _bear(player, call["title"], is_prefix=call["action"] == BEFORE)
            _changed(context, player, call.now)
        return Reply(tuple(_lines(player)))

    async def give(call: Call) -> Reply:
        player = player_named(context, call["name"])
        found = context.world.knowledge.title(call["title"]) or Title(call["title"])
        if not player.titles.give(found):
            raise CommandError(f"{player.name} has the title {found.text}")
        _changed(context, player, call.now)
        if player.is_online:
            context.chat.line(player, f"You may bear the title {found.text}.")
        return Reply((f"{player.name} has the title {found.text} now",))

    action = Argument(
        "action", optional=True, default=LIST, choices=(LIST, BEFORE, BEHIND),
        help="what to do",
    )  # fmt: skip
    which = Argument(
        "title", ArgumentKind.TEXT, "its number or text, or none", optional=True, default=""
    )
    name = Argument("name", help="the player")
    text = Argument("title", ArgumentKind.TEXT, "number or text of a title, or a new one")
    return [
        Command("title", "show your titles, or choose one to bear", title, (action, which),
                outside=False, is_quiet=True),
        Command("givetitle", "give a player a title", give, (name, text), MASTER),
    ]  # fmt: skip


def _bear(player: Player, name: str, *, is_prefix: bool) -> None:
    if not name:
        raise CommandError("say which title, or none")
    if name.casefold() in NONE:
        player.titles.lay_down(is_prefix=is_prefix)
    else:
        player.titles.bear(player.titles.find(name, is_prefix=is_prefix))


def _changed(context: CommandContext, player: Player, now: Monotonic) -> None:
    """Have everybody see it, the client know it, and the store keep it."""
    player.titles.show(player.spawn)
    if player.is_online:
        player.titles.send(player.client)
    saving.changed(context.world, player, saving.Kept.TITLES, now)


def _lines(player: Player) -> list[str]:
    """Return a line a title, with the number by which it is chosen."""
    lines = []
    for place, title in enumerate(player.titles.given):
        borne = player.titles.prefix if title.is_prefix else player.titles.suffix
        where = "before" if title.is_prefix else "behind"
        mark = ", borne" if borne == title.text else ""
        lines.append(f"{place}: {title.text} ({where} the name{mark})")
    return lines or ["you have no titles"]
