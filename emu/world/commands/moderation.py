"""Commands of moderation: kick, ban, mute, broadcast, announce, motd, lock, hide."""

from __future__ import annotations

import math
from dataclasses import replace

from emu.audit import Change
from emu.commands import Argument, ArgumentKind, Call, Reply
from emu.commands.registry import GUIDE, MASTER, STATUS_BANNED, STATUS_BANNED_FOR_EVER, rank_text
from emu.errors import CommandError
from emu.model import Present, WorldCharacter
from emu.processes import settings
from emu.texts import counted, timestamp
from emu.times import Moment
from emu.world.actors.player import Player
from emu.world.commands.context import (
    NAME,
    CommandContext,
    WorldCommandSet,
    check_rank,
    check_voice,
    player_elsewhere,
    player_named,
)
from emu.world.hiding import set_hidden
from emu.world.social.chat import ANNOUNCE, BROADCAST

REASON = Argument(
    "reason",
    ArgumentKind.TEXT,
    "why: for the log, and for a player that is muted",
    optional=True,
    default="",
)
FOREVER = Argument(
    "forever", ArgumentKind.SWITCH, "the whole account", optional=True, default=False
)
MINUTES = Argument(
    "minutes", ArgumentKind.NUMBER, "for how many minutes", optional=True, default=10
)
SHOWN = Argument("text", ArgumentKind.TEXT, "what to show")
MOTD = Argument(
    "text", ArgumentKind.TEXT, "the message; none without a text", optional=True, default=""
)
MINUTE = 60.0

COMMANDS = WorldCommandSet()


@COMMANDS.command(
    "kick",
    "disconnect a player",
    NAME,
    REASON,
    rank=MASTER,
    changes="character {name}",
    example="kick Borvik spam",
)
async def _kick(context: CommandContext, call: Call) -> str:
    there = player_elsewhere(context, call["name"])
    if there is not None:
        return await _kick_there(context, call, there)
    player = player_named(context, call["name"], call)
    account_id = player.character.account_id
    await check_rank(context, call, account_id, player.name, harmless=True)
    reason, now = f"kicked by {call.caller.name}{_why(call)}", context.world.clock.now()
    # The keys as well: one that was issued before the kick would let the client in at once.
    context.departures.leave(player, reason, now)
    await context.admission.handoffs.withdraw_account(account_id)
    return f"{player.name} was disconnected"


async def _kick_there(context: CommandContext, call: Call, there: Present) -> str:
    await check_rank(context, call, there.account_id, there.name, harmless=True)
    context.world.processes.presence.dismiss(there.char_id)
    await context.admission.handoffs.withdraw_account(there.account_id)
    return f"{there.name} was disconnected from the process {there.process}"


@COMMANDS.command(
    "ban",
    "keep a character or its account out",
    NAME,
    FOREVER,
    REASON,
    rank=GUIDE,
    changes="character {name}",
    example="ban Borvik",
)
async def _ban(context: CommandContext, call: Call) -> Reply:
    world = context.world
    row = await _character(context, call)
    await check_rank(context, call, row.account_id, row.name)
    status = STATUS_BANNED_FOR_EVER if call["forever"] else STATUS_BANNED
    # Stored first: if that fails, the player must not be sent away and come back at once.
    await world.saves.characters.set_admin_status(row.id, status)
    reason = f"banned by {call.caller.name}"
    player = world.players.get(row.id)
    if call["forever"]:
        notice = "Your account is banned for ever."
        context.account_changes.send_away(row.account_id, reason, notice, world.clock.now())
        await context.admission.handoffs.withdraw_account(row.account_id)
    elif player is not None:
        context.chat.line(player, "Your character is banned.")
        context.departures.leave(player, reason, world.clock.now())
    else:
        # It may be played in another process, which removes it there; if it is played nowhere,
        # nothing happens.
        world.processes.presence.dismiss(row.id)
    await context.admission.handoffs.withdraw(row.id)
    what = "its whole account" if call["forever"] else "the character"
    change = Change(rank_text(row.admin_status), f"banned for ever: {what}")
    return Reply((f"{row.name} is banned: {what}",), change=change)


@COMMANDS.command(
    "unban",
    "lift the ban of a character",
    NAME,
    rank=GUIDE,
    changes="character {name}",
    example="unban Borvik",
)
async def _unban(context: CommandContext, call: Call) -> Reply:
    row = await _character(context, call)
    if row.admin_status >= 0:
        raise CommandError(f"{row.name} is not banned")
    await check_rank(context, call, row.account_id, row.name)
    await context.world.saves.characters.set_admin_status(row.id, 0)
    change = Change(rank_text(row.admin_status), "not banned")
    return Reply((f"{row.name} is not banned any more",), change=change)


async def _character(context: CommandContext, call: Call) -> WorldCharacter:
    row = await context.world.saves.characters.find_named(call["name"])
    if row is None:
        raise CommandError(f"there is no character {call['name']}")
    return row


@COMMANDS.command(
    "mute", "stop a player from speaking", NAME, MINUTES, REASON, rank=GUIDE,
    changes="character {name}",
    example="mute Borvik 30 spam",
)  # fmt: skip
async def _mute(context: CommandContext, call: Call) -> Reply:
    minutes = call["minutes"]
    if minutes <= 0:
        raise CommandError("minutes: must be 1 or more")
    name, account_id = _speaker(context, call)
    await check_rank(context, call, account_id, name)
    # A reason is a text that the muted player is shown, so a muted caller may give none.
    if call["reason"]:
        await check_voice(context, call)
    # In UTC and not monotonic: a mute outlasts the restart of the server.
    until = Moment(context.world.clock.moment() + minutes * MINUTE)
    lasting = counted(minutes, "minute")
    for player in context.account_changes.of_account(account_id):
        if player.is_online:
            context.chat.line(player, f"You are muted for {lasting}{_why(call) or '.'}")
    await context.account_changes.mute(account_id, until)
    change = Change(after=f"muted until {timestamp(until)}")
    return Reply((f"{name} is muted for {lasting}",), change=change)


@COMMANDS.command(
    "unmute",
    "let a player speak again",
    NAME,
    rank=GUIDE,
    changes="character {name}",
    example="unmute Borvik",
)
async def _unmute(context: CommandContext, call: Call) -> str:
    name, account_id = _speaker(context, call)
    await check_rank(context, call, account_id, name)
    # A moment in the past ends a mute in every process in the same way as its expiry.
    await context.account_changes.mute(account_id, Moment(-math.inf))
    return f"{name} may speak"


def _speaker(context: CommandContext, call: Call) -> tuple[str, int]:
    """Return name and account id of a player in the world. Raises `CommandError`.

    A mute belongs to the account: it counts for all its characters, in every process.
    """
    there = player_elsewhere(context, call["name"])
    if there is not None:
        return there.name, there.account_id
    player = player_named(context, call["name"], call)
    return player.name, player.character.account_id


@COMMANDS.command(
    "broadcast", "show all players a line of text", SHOWN, rank=GUIDE,
    changes="world", without_database=True,
    example="broadcast The server restarts at noon",
)  # fmt: skip
async def _broadcast(context: CommandContext, call: Call) -> Reply:
    await check_voice(context, call)
    count = context.chat.remote.publish(BROADCAST, call["text"])
    return Reply((f"sent to {counted(count, 'player')}",), {"players": count})


@COMMANDS.command(
    "announce", "show all players a text in the middle of the screen", SHOWN, rank=GUIDE,
    changes="world",
    example="announce Five minutes left",
)  # fmt: skip
async def _announce(context: CommandContext, call: Call) -> Reply:
    await check_voice(context, call)
    count = context.chat.remote.publish(ANNOUNCE, call["text"])
    return Reply((f"shown to {counted(count, 'player')}",), {"players": count})


@COMMANDS.command("motd", "show the message of the day", aliases=("welcome_info",), is_quiet=True)
async def _motd(context: CommandContext, _call: Call) -> Reply:
    return Reply(
        (context.world.rules.motd or "there is no message of the day",), context.world.rules.motd
    )


@COMMANDS.command(
    "setmotd",
    "set the message of the day",
    MOTD,
    rank=MASTER,
    changes="world",
    example="setmotd Welcome back!",
)
async def _set_motd(context: CommandContext, call: Call) -> Reply:
    before = context.world.rules.motd
    if call["text"]:
        await check_voice(context, call)
        await context.world.settings.change(settings.MOTD, call["text"])
    reply = await _motd(context, call)
    return replace(reply, change=Change(before, context.world.rules.motd))


@COMMANDS.command("lock", "let only game masters enter", rank=GUIDE, changes="world")
async def _lock(context: CommandContext, _call: Call) -> Reply:
    # Before the keys are withdrawn, so that no new one is issued meanwhile.
    await context.world.settings.change(settings.LOCKED, settings.YES)
    await context.admission.withdraw_refused()
    return Reply(("the world is locked",), change=Change(after="locked"))


@COMMANDS.command("unlock", "let all players enter", rank=GUIDE, changes="world")
async def _unlock(context: CommandContext, _call: Call) -> Reply:
    await context.world.settings.change(settings.LOCKED, settings.NO)
    return Reply(("the world is open",), change=Change(after="open"))


@COMMANDS.for_players("hide", "hide from players, or be seen again", rank=GUIDE)
async def _hide(context: CommandContext, player: Player, _call: Call) -> str:
    set_hidden(context.world, player, hidden=not player.spawn.hidden)
    return "Nobody sees you." if player.spawn.hidden else "You are seen again."


def _why(call: Call) -> str:
    """Return the given reason behind a colon, "" without a reason."""
    return f": {call['reason']}" if call["reason"] else ""
