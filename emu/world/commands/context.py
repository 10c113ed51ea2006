"""What the world's commands share: the world, its chat, who may be meant, and what is outside.

Knows no single command.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.errors import CommandError
from emu.model import Present
from emu.world.chat import Chat
from emu.world.door.admission import Admission
from emu.world.players.player import Player
from emu.world.world import World

NAME: Final = Argument("name", help="the player", among="player")
TEXT: Final = Argument("text", ArgumentKind.TEXT, "what to say")


@dataclass(slots=True)
class CommandContext:
    """What commands work on."""

    world: World
    chat: Chat
    admission: Admission


Answer = Awaitable[Reply | str | None]
Work = Callable[[CommandContext, Call], Answer]
"""What a command does."""
PlayersWork = Callable[[CommandContext, Player, Call], Answer]
"""The same for a player who calls it."""
W = TypeVar("W", bound=Work)
PlayersW = TypeVar("PlayersW", bound=PlayersWork)


class CommandSet:
    """Commands of one subject. Its methods make a function one: as decorators, or called.

    They take the command's name, what it is for and its arguments; `traits` are further attributes
    of `emu.commands.Command`.
    """

    def __init__(self) -> None:
        self._made: list[Callable[[CommandContext], Command]] = []

    def commands(self, context: CommandContext) -> list[Command]:
        """Return the commands, to work on a context."""
        return [make(context) for make in self._made]

    def command(
        self, name: str, help_text: str, *arguments: Argument, **traits: Any
    ) -> Callable[[W], W]:
        """Make a command that those outside of the world have, too."""

        def make(work: W) -> W:
            self._made.append(
                lambda context: Command(
                    name, help_text, partial(work, context), arguments, **traits
                )
            )
            return work

        return make

    def for_players(
        self, name: str, help_text: str, *arguments: Argument, **traits: Any
    ) -> Callable[[PlayersW], PlayersW]:
        """Make a command that only those in the world have."""

        def make(work: PlayersW) -> PlayersW:
            async def run(context: CommandContext, call: Call) -> Reply | str | None:
                return await work(context, call.caller.player, call)

            self.command(name, help_text, *arguments, outside=False, **traits)(run)
            return work

        return make


def player_named(context: CommandContext, name: str) -> Player:
    """Return the player who is meant. Raises `CommandError`."""
    found = context.world.players.named(name)
    if found is None:
        there = player_elsewhere(context, name)
        if there is not None:
            raise CommandError(
                f"{there.name} is in the process {there.process}; that is done there only"
            )
        raise CommandError(f"there is no player {name} in the world")
    return found


def player_elsewhere(context: CommandContext, name: str) -> Present | None:
    """Return a player of another process."""
    found = context.world.presence.named(name)
    return found if found is not None and found.process != context.world.process else None


def outranks(call: Call, player: Player) -> None:
    """Raise `CommandError` unless the caller stands above a player."""
    if player.character.admin_status >= call.caller.rank and call.caller.player is not player:
        raise CommandError(f"{player.name} has your rank or a higher one")
