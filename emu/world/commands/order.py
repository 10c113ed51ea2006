"""Commands that keep order: kick, ban, mute, broadcast, motd, lock; and to watch unseen."""

from __future__ import annotations

import math

from emu.commands import Argument, ArgumentKind, Call, Reply
from emu.commands.ranks import GUIDE, MASTER, STATUS_BANNED, STATUS_BANNED_FOR_EVER
from emu.counts import counted
from emu.errors import CommandError
from emu.model import Present, WorldCharacter
from emu.times import Moment
from emu.world.chat.far import ANNOUNCE, BROADCAST
from emu.world.commands.context import (
    NAME,
    CommandContext,
    CommandSet,
    outranks,
    player_elsewhere,
    player_named,
)
from emu.world.players import leaving
from emu.world.players.player import Player

REASON = Argument("reason", ArgumentKind.TEXT, optional=True, default="")
FOREVER = Argument(
    "forever", ArgumentKind.SWITCH, "the whole account", optional=True, default=False
)
MINUTES = Argument("minutes", ArgumentKind.NUMBER, "for how long", optional=True, default=10)
SHOWN = Argument("text", ArgumentKind.TEXT)
MOTD = Argument("text", ArgumentKind.TEXT, optional=True, default="")
MINUTE = 60.0

COMMANDS = CommandSet()


@COMMANDS.command("kick", "send a player away", NAME, REASON, rank=MASTER)
async def _kick(context: CommandContext, call: Call) -> str:
    there = player_elsewhere(context, call["name"])
    if there is not None:
        return await _kick_there(context, call, there)
    player = player_named(context, call["name"])
    outranks(call, player)
    leaving.leave(context.world, player, f"kicked by {call.caller.name}{_why(call)}", call.now)
    return f"{player.name} was sent away"


async def _kick_there(context: CommandContext, call: Call, there: Present) -> str:
    row = await context.world.store.find_named(there.name)
    if row is not None:
        _check_rank(call, row)
    context.world.presence.dismiss(there.char_id)
    return f"{there.name} was sent away from the process {there.process}"


@COMMANDS.command("ban", "keep a character or its account out", NAME, FOREVER, rank=GUIDE)
async def _ban(context: CommandContext, call: Call) -> str:
    world = context.world
    row = await _character(context, call)
    _check_rank(call, row)
    status = STATUS_BANNED_FOR_EVER if call["forever"] else STATUS_BANNED
    await world.store.set_admin_status(row.id, status)
    player = world.players.get(row.id)
    if player is not None:
        leaving.leave(world, player, f"banned by {call.caller.name}", call.now)
    else:
        world.presence.dismiss(row.id)
    what = "its whole account" if call["forever"] else "the character"
    return f"{row.name} is banned: {what}"


@COMMANDS.command("unban", "let a banned character in again", NAME, rank=GUIDE)
async def _unban(context: CommandContext, call: Call) -> str:
    row = await _character(context, call)
    if row.admin_status >= 0:
        raise CommandError(f"{row.name} is not banned")
    await context.world.store.set_admin_status(row.id, 0)
    return f"{row.name} is not banned any more"


async def _character(context: CommandContext, call: Call) -> WorldCharacter:
    row = await context.world.store.find_named(call["name"])
    if row is None:
        raise CommandError(f"there is no character {call['name']}")
    return row


def _check_rank(call: Call, row: WorldCharacter) -> None:
    """Raise `CommandError` where a character has the caller's rank or a higher one."""
    if row.admin_status >= call.caller.rank:
        raise CommandError(f"{row.name} has your rank or a higher one")


@COMMANDS.command("mute", "let a player not speak for a while", NAME, MINUTES, REASON, rank=GUIDE)
async def _mute(context: CommandContext, call: Call) -> str:
    player = player_named(context, call["name"])
    outranks(call, player)
    minutes = call["minutes"]
    if minutes <= 0:
        raise CommandError("minutes: must be 1 or more")
    player.muted_until = Moment(context.world.moment() + minutes * MINUTE)
    context.world.mutes_changed(player)
    lasting = counted(minutes, "minute")
    context.chat.line(player, f"You are muted for {lasting}{_why(call) or '.'}")
    return f"{player.name} is muted for {lasting}"


@COMMANDS.command("unmute", "let a player speak again", NAME, rank=GUIDE)
async def _unmute(context: CommandContext, call: Call) -> str:
    player = player_named(context, call["name"])
    player.muted_until = Moment(-math.inf)
    context.world.mutes_changed(player)
    return f"{player.name} may speak"


@COMMANDS.command("broadcast", "show everybody a line of text", SHOWN, rank=GUIDE)
async def _broadcast(context: CommandContext, call: Call) -> Reply:
    count = context.chat.far.everybody(BROADCAST, call["text"])
    return Reply((f"told {counted(count, 'player')}",), {"players": count})


@COMMANDS.command(
    "announce", "show everybody a text in the middle of the screen", SHOWN, rank=GUIDE
)
async def _announce(context: CommandContext, call: Call) -> Reply:
    count = context.chat.far.everybody(ANNOUNCE, call["text"])
    return Reply((f"shown to {counted(count, 'player')}",), {"players": count})


@COMMANDS.command("motd", "show the message of the day", is_quiet=True)
async def _motd(context: CommandContext, _call: Call) -> Reply:
    return Reply((context.world.motd or "there is no message of the day",), context.world.motd)


@COMMANDS.command("setmotd", "set the message of the day", MOTD, rank=MASTER)
async def _set_motd(context: CommandContext, call: Call) -> Reply:
    if call["text"]:
        context.world.motd = call["text"]
    return await _motd(context, call)


@COMMANDS.command("lock", "let only those in who keep order", rank=GUIDE)
async def _lock(context: CommandContext, _call: Call) -> str:
    context.admission.locked = True
    context.world.changed()
    return "the world is locked"


@COMMANDS.command("unlock", "let everybody in", rank=GUIDE)
async def _unlock(context: CommandContext, _call: Call) -> str:
    context.admission.locked = False
    context.world.changed()
    return "the world is open"


@COMMANDS.for_players("hide", "be seen by nobody, or be seen again", rank=GUIDE)
async def _hide(context: CommandContext, player: Player, _call: Call) -> str:
    spawn = player.spawn
    spawn.set_visibility(hidden=not spawn.hidden)
    context.world.presence.seen(player.id, hidden=spawn.hidden)
    return "Nobody sees you." if spawn.hidden else "You are seen again."


def _why(call: Call) -> str:
    """Return what stands behind the word of what was done, when a reason was given."""
    return f": {call['reason']}" if call["reason"] else ""
