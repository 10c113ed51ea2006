"""The world's commands, by subject: those of players and those of game masters.

`world_commands` returns all of them. `RemoteCommands` calls them for game clients.
"""

from __future__ import annotations

from emu.world.commands.client_table import RemoteCommands, world_command_words, world_commands
from emu.world.commands.context import CommandContext

__all__ = ["CommandContext", "RemoteCommands", "world_command_words", "world_commands"]
