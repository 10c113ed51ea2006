"""Commands of fights: auto attack, and the way back of dead players."""

from __future__ import annotations

from functools import partial

from emu.commands import Argument, ArgumentKind, Call
from emu.errors import CommandError
from emu.world.actors.player import Player
from emu.world.commands.context import CommandContext, WorldCommandSet

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)

MODE = Argument(
    "mode", ArgumentKind.NUMBER, "0 off, 1 on; without it, the other", optional=True, default=None
)
POINT = Argument(
    "point", ArgumentKind.NUMBER, "its number; without it, the first", optional=True, default=None
)


@quiet("autoattack", "strike your target whenever you can, or stop", MODE,
       aliases=("toggleautoattack",), example="autoattack 1")  # fmt: skip
async def _auto_attack(context: CommandContext, player: Player, call: Call) -> None:
    fights = context.combat.fights
    is_on = not fights.is_attacking(player.spawn) if call["mode"] is None else call["mode"] != 0
    if is_on:
        fights.start(player)
    else:
        fights.stop(player)


@quiet("attack", "strike your target whenever you can")
async def _attack(context: CommandContext, player: Player, _call: Call) -> None:
    target, fights = player.target, context.combat.fights
    if target is None:
        raise CommandError("target somebody first")
    if not fights.may_fight(player, target):
        raise CommandError(f"you cannot attack {target.name}")
    fights.start(player)


@quiet("revive", "return from death to a place of the window", POINT,
       aliases=("select_junction",), example="revive")  # fmt: skip
async def _revive(context: CommandContext, player: Player, call: Call) -> None:
    context.combat.falls.revive(player, call["point"], call.now)
