"""All of a world's commands."""

from __future__ import annotations

from emu.commands import Command
from emu.world.commands import grouping, keeping, order, people, speaking, titles, travelling
from emu.world.commands.context import CommandContext


def world_commands(context: CommandContext) -> list[Command]:
    """Return the commands of every room."""
    rooms = (speaking, grouping, people, titles, travelling, order, keeping)
    return [command for room in rooms for command in room.commands(context)]
