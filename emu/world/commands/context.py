"""What the world's commands share: the world, its chat, who may be meant, and what is outside.

Knows no single command.
"""

from __future__ import annotations

from dataclasses import dataclass

from emu.commands import Call
from emu.errors import CommandError
from emu.model import Present
from emu.world.chat import Chat
from emu.world.door.admission import Admission
from emu.world.players.player import Player
from emu.world.world import World


@dataclass(slots=True)
class CommandContext:
    """What commands work on."""

    world: World
    chat: Chat
    admission: Admission


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


def own_player(call: Call) -> Player:
    """Return the player who calls; only for commands that are not for those outside."""
    player: Player = call.caller.player
    return player


def outranks(call: Call, player: Player) -> None:
    """Raise `CommandError` unless the caller stands above a player."""
    if player.character.admin_status >= call.caller.rank and call.caller.player is not player:
        raise CommandError(f"{player.name} has your rank or a higher one")
