"""Commands about the errors of scripts and behaviors: listed, and shown in the game."""

from __future__ import annotations

from typing import Final

from emu.commands import Call, Cost, Reply
from emu.commands.registry import MASTER
from emu.world.actors.player import Player
from emu.world.commands.context import CommandContext, WorldCommandSet
from emu.world.minds.errors import SHOWN_FOR

COMMANDS = WorldCommandSet()
ERRORS: Final = "script errors"
"""The command that lists the errors."""


@COMMANDS.command(
    ERRORS,
    "list the errors of scripts and behaviors, by file and line",
    rank=MASTER,
    is_quiet=True,
    cost=Cost.LISTING,
)
async def _errors(context: CommandContext, _call: Call) -> Reply:
    found = context.script_errors
    lines = [f"{one.count} times: {one}" for one in found.faults()]
    lines += [f"switched off: {path}" for path in found.switched_off]
    return Reply(
        tuple(lines) or ("no script has failed",),
        {"errors": [one.row() for one in found.faults()], "switched_off": found.switched_off},
    )


@COMMANDS.for_players("luadebug", "show you the errors of Lua scripts for a minute", rank=MASTER)
async def _show(context: CommandContext, player: Player, _call: Call) -> str:
    context.script_errors.ask(player.id, context.world.clock.now())
    return f"You are shown the errors of scripts for {SHOWN_FOR:.0f} seconds."
