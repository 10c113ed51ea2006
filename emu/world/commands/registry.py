"""All of a world's commands."""

from __future__ import annotations

from emu.commands import Command
from emu.world.commands import grouping, keeping, order, people, speaking, titles, travelling
from emu.world.commands.context import CommandContext


def world_commands(context: CommandContext) -> list[Command]:
    """Return all commands; from now on, groups lose who is out of the world."""
    subjects = (speaking, grouping, people, titles, travelling, order, keeping)
    context.world.on_left.append(lambda player: grouping.forget(context, player))
    return [command for subject in subjects for command in subject.COMMANDS.commands(context)]
