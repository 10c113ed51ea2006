"""Commands of chat: speech, tells, channels, and the lists of friends and ignored players."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from emu.commands import Argument, Call, Cost
from emu.model import may_see
from emu.times import Monotonic
from emu.world.actors.player import Player, Relation, Relations
from emu.world.commands.context import NAME, TEXT, CommandContext, WorldCommandSet
from emu.world.entry.initial_messages import send_relations
from emu.world.entry.saver import SavedKind
from emu.world.social.chat import Chat

CHANNEL = Argument("channel", help="its name")
PASSWORD = Argument("password", optional=True, default="", help="its password")

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)


def _speaking(
    name: str, help_text: str, speak: Callable[[Chat, Player, str, str, Monotonic], None]
) -> None:
    """Declare a command with the name of the channel in which it speaks."""

    @quiet(name, help_text, TEXT)
    async def run(context: CommandContext, player: Player, call: Call) -> None:
        speak(context.chat, player, name, call["text"], call.now)


_speaking("say", "speak to the players near you", Chat.say_near)
_speaking("shout", "speak to all players in the zone", Chat.say_in_zone)
_speaking("ooc", "speak out of character to all players in the zone", Chat.say_in_zone)
_speaking("emote", "show an emote in words", Chat.say_near)


@quiet("tell", "speak to one player", NAME, TEXT)
async def _tell(context: CommandContext, player: Player, call: Call) -> None:
    await context.chat.tell(player, call["name"], call["text"], call.now)


@quiet("hail", "greet your target")
async def _hail(context: CommandContext, player: Player, call: Call) -> None:
    target = player.target
    if target is not None and not may_see(call.caller.rank, target):
        target = None
    text = f"Hail, {target.name}" if target else "Hail"
    context.chat.say_near(player, "say", text, call.now)


@quiet("joinchannel", "join a channel", CHANNEL, PASSWORD)
async def _join(context: CommandContext, player: Player, call: Call) -> None:
    context.chat.join(player, call["channel"], call["password"], call.now)


@quiet("chatleave", "leave a channel", CHANNEL)
async def _leave(context: CommandContext, player: Player, call: Call) -> None:
    context.chat.leave(player, call["channel"], call.now)


@quiet("tellchannel", "speak in a channel", CHANNEL, TEXT)
async def _say_in(context: CommandContext, player: Player, call: Call) -> None:
    context.chat.say_in(player, call["channel"], call["text"], call.now)


@quiet("chatwho", "show who is in a channel", CHANNEL, cost=Cost.LISTING)
async def _who_in(context: CommandContext, player: Player, call: Call) -> None:
    context.chat.who_in(player, call["channel"])


def _listing(
    name: str, help_text: str, kind: Relation, change: Callable[[Relations, Relation, str], object]
) -> None:
    """Declare a command that changes one of the player's lists of names."""

    @quiet(name, help_text, NAME, cost=Cost.CHANGE)
    async def run(context: CommandContext, player: Player, call: Call) -> str:
        change(player.relations, kind, call["name"])
        context.world.saves.changed(player, SavedKind.RELATIONS, call.now)
        send_relations(player, (kind,))
        return ", ".join(player.relations.names(kind)) or "the list is empty"


_listing("friend", "add a player to your friends", Relation.FRIEND, Relations.add)
_listing("unfriend", "remove a player from your friends", Relation.FRIEND, Relations.remove)
_listing("ignore", "ignore what a player says", Relation.IGNORED, Relations.add)
_listing("unignore", "stop ignoring a player", Relation.IGNORED, Relations.remove)
