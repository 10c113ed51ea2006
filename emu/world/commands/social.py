"""Commands by which players speak to each other: near, in the zone, in channels, and tells."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.model import SavedKind
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.commands.context import (
    NAME,
    TEXT,
    CommandContext,
    WorldCommandSet,
    confirmed,
)
from emu.world.commands.targets import visible_target
from emu.world.events import Chosen
from emu.world.social.chat import Chat

CHANNEL = Argument("channel", help="its name")
PASSWORD = Argument("password", optional=True, default="", help="its password")

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)


def _speaking(
    name: str,
    help_text: str,
    speak: Callable[[Chat, Player, str, str, Monotonic], None],
    said: str = "Hello, all",
) -> None:
    """Declare a command with the name of the channel in which it speaks."""

    @quiet(name, help_text, TEXT, example=f"{name} {said}")
    async def run(context: CommandContext, player: Player, call: Call) -> None:
        speak(context.chat, player, name, call["text"], call.now)


_speaking("say", "speak to the players near you", Chat.say_near)


@quiet("yell", "call for help against what you fight; with words, to all players in the zone",
       Argument("text", ArgumentKind.TEXT, "what you call", optional=True, default=""),
       example="yell Help me, somebody")  # fmt: skip
async def _yell(context: CommandContext, player: Player, call: Call) -> None:
    if call["text"]:
        context.chat.say_in_zone(player, "yell", call["text"], call.now)
    else:
        context.combat.creatures.encounters.yell(player, context.chat)


_speaking("auction", "offer something to all players in the zone", Chat.say_in_zone)
_speaking("shout", "speak to all players in the zone", Chat.say_in_zone)
_speaking("ooc", "speak out of character to all players in the zone", Chat.say_in_zone)
_speaking("emote", "show an emote in words", Chat.say_near, "bows deeply")


@quiet(
    "tell",
    "speak to one player",
    NAME,
    TEXT,
    aliases=("msg",),
    example="tell Borvik Where are you?",
)
async def _tell(context: CommandContext, player: Player, call: Call) -> None:
    await context.chat.tell(player, call["name"], call["text"], call.now)


@quiet("hail", "greet your target")
async def _hail(context: CommandContext, player: Player, call: Call) -> None:
    # Only a visible one: the hail would reveal a hidden target by its name.
    target = visible_target(call, player)
    text = f"Hail, {target.name}" if target else "Hail"
    # The greeting stands in the chat window only: the answer gets the bubble.
    context.chat.say_near(player, "say", text, call.now, bubble=False)


@quiet(
    "select",
    "answer a window of a script",
    Argument("choice", ArgumentKind.TEXT, "a number, and the command of the row"),
    example="select 0 Leave",
)
async def _select(context: CommandContext, player: Player, call: Call) -> None:
    context.world.events.publish(Chosen(player, "select", call["choice"]))


@quiet(
    "joinchannel",
    "join a channel",
    CHANNEL,
    PASSWORD,
    aliases=("joinchannelfromload",),
    example="joinchannel trade",
)
async def _join(context: CommandContext, player: Player, call: Call) -> Reply | None:
    channel = context.chat.join(player, call["channel"], call["password"], call.now)
    answer = await confirmed(context, player, SavedKind.CHANNELS)
    context.chat.confirm_membership(player, channel)
    return answer


@quiet("chatleave", "leave a channel", CHANNEL, example="chatleave trade")
async def _leave(context: CommandContext, player: Player, call: Call) -> Reply | None:
    channel = context.chat.leave(player, call["channel"])
    answer = await confirmed(context, player, SavedKind.CHANNELS)
    context.chat.confirm_membership(player, channel)
    return answer


@quiet(
    "tellchannel",
    "speak in a channel",
    CHANNEL,
    TEXT,
    aliases=("tc",),
    example="tellchannel trade A sword to sell",
)
async def _say_in(context: CommandContext, player: Player, call: Call) -> None:
    context.chat.say_in(player, call["channel"], call["text"], call.now)


@quiet("chatwho", "show who is in a channel", CHANNEL, cost=Cost.LISTING, example="chatwho trade")
async def _who_in(context: CommandContext, player: Player, call: Call) -> None:
    context.chat.who_in(player, call["channel"])
