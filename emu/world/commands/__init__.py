"""The world's commands, by subject: what players type and what those who run the world may do.

`world_commands` returns the registry with all of them. `remote` is how clients use it.
"""

from __future__ import annotations

from emu.world.commands.client_table import RemoteCommands, world_commands
from emu.world.commands.context import CommandContext

__all__ = ["CommandContext", "RemoteCommands", "world_commands"]
