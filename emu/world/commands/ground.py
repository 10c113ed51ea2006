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
class House:
    """What commands work on."""

    world: World
    chat: Chat
    admission: Admission


def player_named(house: House, name: str) -> Player:
    """Return the player who is meant. Raises `CommandError`."""
    found = house.world.players.named(name)
    if found is None:
        there = player_elsewhere(house, name)
        if there is not None:
            raise CommandError(
                f"{there.name} is in the process {there.process}; that is done there only"
            )
        raise CommandError(f"there is no player {name} in the world")
    return found


def player_elsewhere(house: House, name: str) -> Present | None:
    """Return a player of another process."""
    found = house.world.presence.named(name)
    return found if found is not None and found.process != house.world.process else None


def own_player(call: Call) -> Player:
    """Return the player who calls; only for commands that are not for those outside."""
    player: Player = call.caller.player
    return player


def outranks(house: House, call: Call, player: Player) -> None:
    """Raise `CommandError` unless the caller stands above a player."""
    del house
    if player.character.admin_status >= call.caller.rank and call.caller.player is not player:
        raise CommandError(f"{player.name} has your rank or a higher one")
