"""The registry with all of a world's commands."""

from __future__ import annotations

from collections.abc import Callable

from emu.commands import Registry, Use
from emu.commands.registry import help_command
from emu.world.commands import grouping, keeping, order, people, speaking, titles, travelling
from emu.world.commands.ground import House


def world_commands(house: House, told: Callable[[Use], None]) -> Registry:
    """Return the registry of a world; `told` hears of every use that is not quiet."""
    registry = Registry(told)
    for room in (speaking, grouping, people, titles, travelling, order, keeping):
        for command in room.commands(house):
            registry.add(command)
    registry.add(help_command(registry))
    return registry
