"""Commands to speak: near, far, to one, in channels; friends and ignored ones."""

from __future__ import annotations

from collections.abc import Callable

from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.commands.registry import Run
from emu.times import Monotonic
from emu.world.commands.context import CommandContext, own_player
from emu.world.players import saving
from emu.world.players.burst import send_relations
from emu.world.players.player import Player
from emu.world.players.relations import Relation
from emu.world.players.saving import Kept

TEXT = Argument("text", ArgumentKind.TEXT, "what to say")
NAME = Argument("name", help="the player", among="player")
CHANNEL = Argument("channel", help="its name")

Speak = Callable[[Player, str, Monotonic], None]


def commands(context: CommandContext) -> list[Command]:
    """Return the commands of this room."""
    chat = context.chat

    def speaking(name: str, help_text: str, speak: Speak) -> Command:
        async def run(call: Call) -> None:
            speak(own_player(call), call["text"], call.now)

        return _quiet(name, help_text, run, TEXT)

    return [
        speaking("say", "speak to those near you", chat.say),
        speaking("shout", "speak to everybody in the zone", chat.shout),
        speaking("ooc", "speak out of character to everybody in the zone", chat.ooc),
        speaking("emote", "do something in words", chat.emote),
        *_telling(context),
        *_channels(context),
        *_lists(context),
    ]


def _quiet(name: str, help_text: str, run: Run, *arguments: Argument) -> Command:
    return Command(name, help_text, run, arguments, outside=False, is_quiet=True)


def _telling(context: CommandContext) -> list[Command]:
    async def tell(call: Call) -> None:
        await context.chat.tell(own_player(call), call["name"], call["text"], call.now)

    async def hail(call: Call) -> None:
        player = own_player(call)
        target = player.target
        context.chat.say(player, f"Hail, {target.name}" if target else "Hail", call.now)

    return [
        _quiet("tell", "speak to one player", tell, NAME, TEXT),
        _quiet("hail", "greet whom you look at", hail),
    ]


def _channels(context: CommandContext) -> list[Command]:
    chat = context.chat

    async def join(call: Call) -> None:
        chat.join(own_player(call), call["channel"], call["password"], call.now)

    async def leave(call: Call) -> None:
        chat.leave(own_player(call), call["channel"], call.now)

    async def say(call: Call) -> None:
        chat.say_in(own_player(call), call["channel"], call["text"], call.now)

    async def who(call: Call) -> None:
        chat.who_in(own_player(call), call["channel"])

    password = Argument("password", optional=True, default="", help="what it is entered with")
    return [
        _quiet("joinchannel", "enter a channel", join, CHANNEL, password),
        _quiet("chatleave", "leave a channel", leave, CHANNEL),
        _quiet("tellchannel", "speak in a channel", say, CHANNEL, TEXT),
        _quiet("chatwho", "show who is in a channel", who, CHANNEL),
    ]


def _lists(context: CommandContext) -> list[Command]:
    def listing(name: str, help_text: str, kind: Relation, *, add: bool) -> Command:
        async def run(call: Call) -> Reply:
            player = own_player(call)
            if add:
                player.relations.add(kind, call["name"])
            else:
                player.relations.remove(kind, call["name"])
            saving.changed(context.world, player, Kept.RELATIONS, call.now)
            send_relations(player)
            return Reply((", ".join(player.relations.names(kind)) or "the list is empty",))

        return _quiet(name, help_text, run, NAME)

    return [
        listing("friend", "put somebody on your list of friends", Relation.FRIEND, add=True),
        listing("unfriend", "take somebody off that list", Relation.FRIEND, add=False),
        listing("ignore", "hear no more of somebody", Relation.IGNORED, add=True),
        listing("unignore", "hear somebody again", Relation.IGNORED, add=False),
    ]
