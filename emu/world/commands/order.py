"""Commands that keep order: kick, ban, mute, broadcast, motd, lock; and to watch unseen."""

from __future__ import annotations

import math

from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.commands.ranks import GUIDE, MASTER, STATUS_BANNED, STATUS_BANNED_FOR_EVER
from emu.counts import counted
from emu.errors import CommandError
from emu.model import Present, WorldCharacter
from emu.times import Moment
from emu.world.chat.far import ANNOUNCE, BROADCAST
from emu.world.commands.context import (
    CommandContext,
    outranks,
    own_player,
    player_elsewhere,
    player_named,
)
from emu.world.players import leaving

NAME = Argument("name", help="the player", among="player")
REASON = Argument("reason", ArgumentKind.TEXT, optional=True, default="")
MINUTE = 60.0


def commands(context: CommandContext) -> list[Command]:
    """Return the commands of this room."""
    return [
        *_sending_away(context),
        *_banning(context),
        *_silencing(context),
        *_announcing(context),
        *_locking(context),
        _hiding(context),
    ]


def _sending_away(context: CommandContext) -> list[Command]:
    world = context.world

    async def kick(call: Call) -> Reply:
        there = player_elsewhere(context, call["name"])
        if there is not None:
            return await kick_there(call, there)
        player = player_named(context, call["name"])
        outranks(call, player)
        leaving.leave(world, player, f"kicked by {call.caller.name}{_why(call)}", call.now)
        return Reply((f"{player.name} was sent away",))

    async def kick_there(call: Call, there: Present) -> Reply:
        row = await world.store.find_named(there.name)
        if row is not None:
            _check_rank(call, row)
        world.presence.dismiss(there.char_id)
        return Reply((f"{there.name} was sent away from the process {there.process}",))

    return [Command("kick", "send a player away", kick, (NAME, REASON), MASTER)]


def _banning(context: CommandContext) -> list[Command]:
    world = context.world

    async def ban(call: Call) -> Reply:
        status = STATUS_BANNED_FOR_EVER if call["forever"] else STATUS_BANNED
        row = await character(call)
        _check_rank(call, row)
        await world.store.set_admin_status(row.id, status)
        player = world.players.get(row.id)
        if player is not None:
            leaving.leave(world, player, f"banned by {call.caller.name}", call.now)
        else:
            world.presence.dismiss(row.id)
        what = "its whole account" if call["forever"] else "the character"
        return Reply((f"{row.name} is banned: {what}",))

    async def unban(call: Call) -> Reply:
        row = await character(call)
        if row.admin_status >= 0:
            raise CommandError(f"{row.name} is not banned")
        await world.store.set_admin_status(row.id, 0)
        return Reply((f"{row.name} is not banned any more",))

    async def character(call: Call) -> WorldCharacter:
        row = await world.store.find_named(call["name"])
        if row is None:
            raise CommandError(f"there is no character {call['name']}")
        return row

    forever = Argument(
        "forever", ArgumentKind.SWITCH, "the whole account", optional=True, default=False
    )
    return [
        Command("ban", "keep a character or its account out", ban, (NAME, forever), GUIDE),
        Command("unban", "let a banned character in again", unban, (NAME,), GUIDE),
    ]


def _check_rank(call: Call, row: WorldCharacter) -> None:
    """Raise `CommandError` where a character has the caller's rank or a higher one."""
    if row.admin_status >= call.caller.rank:
        raise CommandError(f"{row.name} has your rank or a higher one")


def _silencing(context: CommandContext) -> list[Command]:
    world = context.world

    async def mute(call: Call) -> Reply:
        player = player_named(context, call["name"])
        outranks(call, player)
        minutes = call["minutes"]
        if minutes <= 0:
            raise CommandError("minutes: must be 1 or more")
        player.muted_until = Moment(world.moment() + minutes * MINUTE)
        world.mutes_changed(player)
        lasting = counted(minutes, "minute")
        context.chat.line(player, f"You are muted for {lasting}{_why(call) or '.'}")
        return Reply((f"{player.name} is muted for {lasting}",))

    async def unmute(call: Call) -> Reply:
        player = player_named(context, call["name"])
        player.muted_until = Moment(-math.inf)
        world.mutes_changed(player)
        return Reply((f"{player.name} may speak",))

    minutes = Argument("minutes", ArgumentKind.NUMBER, "for how long", optional=True, default=10)
    return [
        Command("mute", "let a player not speak for a while", mute, (NAME, minutes, REASON), GUIDE),
        Command("unmute", "let a player speak again", unmute, (NAME,), GUIDE),
    ]


def _announcing(context: CommandContext) -> list[Command]:
    async def broadcast(call: Call) -> Reply:
        count = context.chat.far.everybody(BROADCAST, call["text"])
        return Reply((f"told {counted(count, 'player')}",), {"players": count})

    async def announce(call: Call) -> Reply:
        count = context.chat.far.everybody(ANNOUNCE, call["text"])
        return Reply((f"shown to {counted(count, 'player')}",), {"players": count})

    async def motd(call: Call) -> Reply:
        if call["text"]:
            context.world.motd = call["text"]
        return Reply((context.world.motd or "there is no message of the day",), context.world.motd)

    async def read_motd(_call: Call) -> Reply:
        return Reply((context.world.motd or "there is no message of the day",), context.world.motd)

    text = Argument("text", ArgumentKind.TEXT)
    maybe = Argument("text", ArgumentKind.TEXT, optional=True, default="")
    return [
        Command("broadcast", "show everybody a line of text", broadcast, (text,), GUIDE),
        Command("announce", "show everybody a text in the middle of the screen", announce, (text,),
                GUIDE),
        Command("motd", "show the message of the day", read_motd, is_quiet=True),
        Command("setmotd", "set the message of the day", motd, (maybe,), MASTER),
    ]  # fmt: skip


def _locking(context: CommandContext) -> list[Command]:
    def locking(name: str, help_text: str, *, locked: bool) -> Command:
        async def run(_call: Call) -> Reply:
            context.admission.locked = locked
            context.world.changed()
            return Reply(("the world is locked" if locked else "the world is open",))

        return Command(name, help_text, run, (), GUIDE)

    return [
        locking("lock", "let only those in who keep order", locked=True),
        locking("unlock", "let everybody in", locked=False),
    ]


def _why(call: Call) -> str:
    """Return what stands behind the word of what was done, when a reason was given."""
    return f": {call['reason']}" if call["reason"] else ""


def _hiding(context: CommandContext) -> Command:
    async def hide(call: Call) -> Reply:
        spawn = own_player(call).spawn
        spawn.set_visibility(hidden=not spawn.hidden)
        context.world.presence.seen(own_player(call).id, hidden=spawn.hidden)
        return Reply(("Nobody sees you." if spawn.hidden else "You are seen again.",))

    return Command("hide", "be seen by nobody, or be seen again", hide, (), GUIDE, outside=False)
