"""Commands of fights: auto attack, and the way back of dead players."""

from __future__ import annotations

from functools import partial

from emu.commands import Argument, ArgumentKind, Call
from emu.errors import CommandError
from emu.world.actors.options import Option
from emu.world.actors.player import Player
from emu.world.combat.falls import NO_POINT
from emu.world.commands.context import CommandContext, WorldCommandSet
from emu.world.social.group_texts import check_guest

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)

MODE = Argument(
    "mode",
    ArgumentKind.NUMBER,
    "0 off, 1 on, 2 with the bow; without it, on or off",
    optional=True,
    default=None,
)
OFF, RANGED = 0, 2
"""Modes of auto attack."""
POINT = Argument(
    "point", ArgumentKind.NUMBER, "its number; without it, the first", optional=True, default=None
)

WAY = Argument("point", ArgumentKind.WORD, POINT.help, optional=True, default=None)
"""A place of the window of death; the safe place of a zone has the number FFFFFFFF."""


@quiet("autoattack", "strike your target whenever you can, or stop", MODE,
       aliases=("toggleautoattack",), example="autoattack 1")  # fmt: skip
async def _auto_attack(context: CommandContext, player: Player, call: Call) -> None:
    fights, mode = context.combat.fights, call["mode"]
    is_on = not fights.is_attacking(player.spawn) if mode is None else mode != OFF
    if mode == RANGED and fights.shoots(player):
        is_on = False  # clients send it to switch the bow off as well
    if is_on:
        fights.start(player, is_ranged=mode == RANGED)
    else:
        fights.stop(player)


@quiet("attack", "strike your target whenever you can")
async def _attack(context: CommandContext, player: Player, _call: Call) -> None:
    target, fights = player.target, context.combat.fights
    if target is None:
        raise CommandError("target somebody first")
    if not fights.has_enemy(player):
        raise CommandError(f"you cannot attack {target.name or 'that'}")
    fights.start(player)


@quiet("revive", "return from death to a place of the window", WAY,
       aliases=("select_junction",), example="revive")  # fmt: skip
async def _revive(context: CommandContext, player: Player, call: Call) -> None:
    context.combat.falls.revive(player, way_number(call["point"]), call.now)


def way_number(word: str | None) -> int | None:
    """Return the number of a place of the window, of 32 bits with or without a sign.

    None is the first place. Raises `CommandError`.
    """
    if word is None:
        return None
    try:
        return int(word, 10) & NO_POINT
    except ValueError:
        raise CommandError(f"point: {word!r} is not a whole number") from None


@quiet("accept_resurrection", "live again where a spell asks you to", POINT,
       example="accept_resurrection")  # fmt: skip
async def _accept_resurrection(context: CommandContext, player: Player, call: Call) -> None:
    context.combat.resurrections.accept(player, call["point"])


@quiet("decline_resurrection", "refuse to be resurrected", POINT, example="decline_resurrection")
async def _decline_resurrection(context: CommandContext, player: Player, call: Call) -> None:
    context.combat.resurrections.decline(player, call["point"])


@quiet("duel", "challenge your target to a duel")
async def _duel(context: CommandContext, player: Player, call: Call) -> None:
    target = player.target
    other = context.combat.fights.players.get(target) if target is not None else None
    if other is None:
        raise CommandError("target a player first")
    check_guest(other, player.name, Option.DECLINE_DUELS)
    context.combat.duels.challenge(player, other, call.now)


@quiet("accept_duel", "begin the duel to which you were challenged")
async def _accept_duel(context: CommandContext, player: Player, call: Call) -> None:
    context.combat.duels.accept(player, call.now)


@quiet("decline_duel", "refuse a duel, or give up the one that you fight",
       aliases=("surrender",))  # fmt: skip
async def _decline_duel(context: CommandContext, player: Player, _call: Call) -> None:
    context.combat.duels.give_up(player)
