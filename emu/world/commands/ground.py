"""What the world's commands share: the world, its chat, who may be meant, and what is outside.

Knows no single command.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from emu.commands import Call
from emu.errors import CommandError
from emu.world.chat import Chat
from emu.world.door.admission import Admission
from emu.world.players.player import Player
from emu.world.world import World

GUIDE = 10
MASTER = 100
ADMINISTRATOR = 200
"""Ranks on the scale of `admin_status` (docs/protocol/world/commands.md#eq2emulator)."""

Reload = Callable[[], Awaitable[str]]


@dataclass(slots=True)
class House:
    """What commands work on.

    `reloads` are the things that can be read anew, by name; `stop` ends the server after some
    seconds, or takes that back with None; `status` tells of the whole server.
    """

    world: World
    chat: Chat
    admission: Admission
    reloads: Mapping[str, Reload] = field(default_factory=dict)
    stop: Callable[[float | None, str], None] = lambda _seconds, _reason: None
    status: Callable[[], dict[str, Any]] = dict


def player_named(house: House, name: str) -> Player:
    """Return the player who is meant. Raises `CommandError`."""
    found = house.world.players.named(name)
    if found is None:
        raise CommandError(f"there is no player {name} in the world")
    return found


def own_player(call: Call) -> Player:
    """Return the player who calls; only for commands that are not for those outside."""
    player: Player = call.caller.player
    return player


def outranks(house: House, call: Call, player: Player) -> None:
    """Raise `CommandError` unless the caller stands above a player."""
    del house
    if player.character.admin_status >= call.caller.rank and call.caller.player is not player:
        raise CommandError(f"{player.name} has your rank or a higher one")
