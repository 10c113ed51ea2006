"""Commands of guilds: found, invite, join, leave, speak, ranks and notes; operators' commands.

The names of the players' commands are the client's: its guild window and menus call them
(docs/protocol/world/guilds.md#commands).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.commands.registry import GUIDE, MASTER, Traits, one_line
from emu.errors import CommandError
from emu.guilds import LEAST_NAME, MOST_NAME, RANKS, Guild, MemberFlag, Permission
from emu.model import may_see
from emu.texts import counted, timestamp
from emu.world.actors.player import Player
from emu.world.commands.context import (
    TEXT,
    CommandContext,
    PlayersWork,
    WorldCommandSet,
    check_voice,
    player_named,
)
from emu.world.commands.targets import visible_target
from emu.world.events import Chosen
from emu.world.social import guilds
from emu.world.social.guild_messages import present_of

COMMANDS = WorldCommandSet()


def quiet(
    name: str, help_text: str, *arguments: Argument, **traits: Unpack[Traits]
) -> Callable[[PlayersWork], PlayersWork]:
    """Declare a command of players; those of one player run one after the other.

    A change awaits the store, and the next command may depend on it.
    """

    def declare(work: PlayersWork) -> PlayersWork:
        async def run(context: CommandContext, player: Player, call: Call) -> Reply | str | None:
            async with context.memberships.turns.turn(player.id):
                return await work(context, player, call)

        COMMANDS.for_players(name, help_text, *arguments, **({"is_quiet": True} | traits))(run)
        return work

    return declare


MEMBER = Argument("member", help="the member's name")
GUILD = Argument("guild", help="its number, or its name in quotation marks")
GUILD_NAME = Argument("name", ArgumentKind.TEXT, f"{LEAST_NAME} to {MOST_NAME} letters")
PLACE = Argument(
    "rank", ArgumentKind.NUMBER, f"the rank's number: 0 is the leader's, {RANKS - 1} a recruit's"
)
ON = Argument("on", ArgumentKind.SWITCH, "true or false")
NOTE = Argument(
    "note", ArgumentKind.TEXT, "its text; nothing removes it", optional=True, default=""
)


def not_on_this_server(action: str) -> str:
    """Return the answer to a part of the client's guild window that this server does not have."""
    return f"guild {action} is not on this server."


@quiet("guild", "show your guild and its members",
       Argument("action", ArgumentKind.TEXT, "a part of the guild window", optional=True,
                default=""),
       cost=Cost.LISTING, example="guild")  # fmt: skip
async def _guild(context: CommandContext, player: Player, call: Call) -> Reply:
    # The window has parts that the server lacks: recruiting, points, heraldry.
    if call["action"]:
        raise CommandError(not_on_this_server(call["action"].split()[0]))
    return _described(context, await context.memberships.own(player))


# --- founding and joining


@quiet("guild create", "found a guild that you lead", GUILD_NAME, cost=Cost.CHANGE,
       aliases=("create guild",), example="guild create The Wolves")  # fmt: skip
async def _create(context: CommandContext, player: Player, call: Call) -> str:
    # Others see the name.
    await check_voice(context, call)
    guild = await context.memberships.found(player, call["name"])
    # A script may have asked for the name.
    context.world.events.publish(Chosen(player, "create guild", guild.name))
    return f"you lead the guild {guild.name} now"


@quiet("guild invite", "invite a player to your guild",
       Argument("name", help="the player; without it, your target", optional=True, default="",
                among="player"),
       example="guild invite Borvik")  # fmt: skip
async def _invite(context: CommandContext, player: Player, call: Call) -> str:
    await check_voice(context, call)
    name, process = _invited(context, player, call)
    if name == player.name:
        raise CommandError("you cannot invite yourself")
    guild = await context.memberships.own(player)
    guilds.check(guild, player.id, Permission.INVITE)
    context.chat.pace(player, call.now)
    await context.memberships.invite(player, name, process)
    return f"{name} is invited to {guild.name}"


def _invited(context: CommandContext, player: Player, call: Call) -> tuple[str, str]:
    """Return the player that an invitation names, or the target, and the player's process."""
    world, name = context.world, call["name"]
    if not name:
        target = visible_target(call, player)
        if target is None:
            raise CommandError("name a player, or target one")
        name = target.name
    there = world.processes.presence.named(name)
    if (
        there is not None
        and there.process != world.processes.name
        and not there.link_dead
        and may_see(call.caller.rank, there)
    ):
        return there.name, there.process
    return player_named(context, name, call).name, world.processes.name


@quiet("guild accept", "join the guild you were invited to", cost=Cost.CHANGE)
async def _accept(context: CommandContext, player: Player, call: Call) -> str:
    guild = await context.memberships.join(player, call.now)
    return f"you are a member of {guild.name} now"


@quiet("guild decline", "decline the invitation to a guild")
async def _decline(context: CommandContext, player: Player, call: Call) -> str:
    return f"you declined to join {context.memberships.decline(player, call.now)}"


@quiet("guild leave", "leave your guild; the last member ends it", cost=Cost.CHANGE)
async def _leave(context: CommandContext, player: Player, _call: Call) -> None:
    await context.memberships.change(player, lambda guild: guilds.leave(guild, player.id))


@quiet("guild kick", "remove a member from your guild, or leave it by your own name", MEMBER,
       cost=Cost.CHANGE, example="guild kick Borvik")  # fmt: skip
async def _kick(context: CommandContext, player: Player, call: Call) -> None:
    await context.memberships.change(
        player, lambda guild: guilds.kick(guild, player.id, call["member"])
    )


# --- ranks


@quiet("guild promote", "give a member the next higher rank", MEMBER, cost=Cost.CHANGE,
       example="guild promote Borvik")  # fmt: skip
async def _promote(context: CommandContext, player: Player, call: Call) -> None:
    await context.memberships.change(
        player, lambda guild: guilds.promote(guild, player.id, call["member"])
    )


@quiet("guild demote", "give a member the next lower rank", MEMBER, cost=Cost.CHANGE,
       example="guild demote Borvik")  # fmt: skip
async def _demote(context: CommandContext, player: Player, call: Call) -> None:
    await context.memberships.change(
        player, lambda guild: guilds.demote(guild, player.id, call["member"])
    )


@quiet("guild rank_name", "give a rank of your guild another name", PLACE,
       Argument("name", ArgumentKind.TEXT, "the name"), cost=Cost.CHANGE,
       example="guild rank_name 7 Cub")  # fmt: skip
async def _name_rank(context: CommandContext, player: Player, call: Call) -> str:
    await check_voice(context, call)
    name = one_line(call["name"])
    guild = await context.memberships.change(
        player, lambda guild: guilds.name_rank(guild, player.id, call["rank"], name)
    )
    return f"rank {call['rank']} is called {guild.ranks[call['rank']].name} now"


@quiet("guild rank_permission", "give a rank a permission, or take it away", PLACE,
       Argument("permission", ArgumentKind.NUMBER, "the permission's number"), ON,
       cost=Cost.CHANGE, example="guild rank_permission 4 0 true")  # fmt: skip
async def _permit(context: CommandContext, player: Player, call: Call) -> str:
    await context.memberships.change(
        player,
        lambda guild: guilds.permit(
            guild, player.id, call["rank"], call["permission"], on=call["on"]
        ),
    )
    may = "may" if call["on"] else "may not"
    return f"rank {call['rank']} {may} use permission {call['permission']} now"


# --- texts


@quiet("guild motd", "set the text that members see when they log in",
       Argument("text", ArgumentKind.TEXT, "the text; nothing removes it", optional=True,
                default=""),
       cost=Cost.CHANGE, example="guild motd Meet at the inn")  # fmt: skip
async def _motd(context: CommandContext, player: Player, call: Call) -> str | None:
    text = one_line(call["text"])
    if text:
        await check_voice(context, call)
        context.chat.pace(player, call.now)
    await context.memberships.change(player, lambda guild: guilds.set_motd(guild, player.id, text))
    return None if text else "the guild has no MOTD now"


@quiet("set_guild_member_note", "set the note of a member, or your own", MEMBER, NOTE,
       cost=Cost.CHANGE, example="set_guild_member_note Borvik Bakes bread")  # fmt: skip
async def _note(context: CommandContext, player: Player, call: Call) -> str:
    await check_voice(context, call)
    note = one_line(call["note"])
    await context.memberships.change(
        player, lambda guild: guilds.set_note(guild, player.id, call["member"], note)
    )
    return "the note is set"


@quiet("set_guild_officer_note", "set the note of a member that officers see", MEMBER, NOTE,
       cost=Cost.CHANGE, example="set_guild_officer_note Borvik Promote soon")  # fmt: skip
async def _officer_note(context: CommandContext, player: Player, call: Call) -> str:
    await check_voice(context, call)
    note = one_line(call["note"])
    await context.memberships.change(
        player, lambda guild: guilds.set_officer_note(guild, player.id, call["member"], note)
    )
    return "the officers' note is set"


def _declare_flag(name: str, help_text: str, flag: MemberFlag) -> None:
    """Declare a command that sets a choice of the member who calls it."""

    @quiet(f"guild {name}", help_text, ON, cost=Cost.CHANGE, example=f"guild {name} true")
    async def run(context: CommandContext, player: Player, call: Call) -> str:
        await context.memberships.change(
            player, lambda guild: guilds.set_flag(guild, player.id, flag, on=call["on"])
        )
        return f"guild {name} is {'on' if call['on'] else 'off'}"


_declare_flag(
    "notify_online", "be shown who of your guild logs in and out", MemberFlag.NOTIFY_LOGINS
)
_declare_flag("event_privacy", "cause no events of your guild", MemberFlag.NO_EVENTS)


@quiet("guildsay", "speak to your guild", TEXT, aliases=("gu",), example="guildsay Hello, wolves")
async def _say(context: CommandContext, player: Player, call: Call) -> None:
    await context.memberships.say(player, call["text"], call.now)


@quiet("officersay", "speak to the officers of your guild", TEXT, aliases=("o",),
       example="officersay Shall we promote Borvik?")  # fmt: skip
async def _say_to_officers(context: CommandContext, player: Player, call: Call) -> None:
    await context.memberships.say(player, call["text"], call.now, to_officers=True)


# --- lists, and operators' commands


@COMMANDS.command(
    "guild list", "list the guilds of this world", aliases=("guilds",), is_quiet=True,
    cost=Cost.LISTING,
)  # fmt: skip
async def _list(context: CommandContext, _call: Call) -> Reply:
    found = await context.memberships.store.every()
    lines = [f"{one.id}: {one.name}, {counted(one.members, 'member')}" for one in found]
    rows = [
        {"id": one.id, "name": one.name, "members": one.members, "formed": timestamp(one.formed)}
        for one in found
    ]
    return Reply((counted(len(rows), "guild"), *lines), rows)


@COMMANDS.command(
    "guild show", "show a guild and its members", GUILD, rank=GUIDE, is_quiet=True,
    example="guild show 1",
)  # fmt: skip
async def _show(context: CommandContext, call: Call) -> Reply:
    return _described(context, await _chosen(context, call["guild"]))


@COMMANDS.command(
    "guild rename", "give a guild another name", GUILD, GUILD_NAME, rank=MASTER,
    changes="guild {guild}",
    example="guild rename 1 The Bears",
)  # fmt: skip
async def _rename(context: CommandContext, call: Call) -> str:
    guild = await _chosen(context, call["guild"])
    after = await context.memberships.rename(guild, call["name"])
    return f"{guild.name} is called {after.name} now"


@COMMANDS.command(
    "guild delete", "delete a guild; its members stay without one", GUILD, rank=MASTER,
    changes="guild {guild}",
    example="guild delete 1",
)  # fmt: skip
async def _delete(context: CommandContext, call: Call) -> str:
    guild = await _chosen(context, call["guild"])
    await context.memberships.delete(guild)
    return f"{guild.name} is deleted"


async def _chosen(context: CommandContext, word: str) -> Guild:
    """Return the guild of a number or a name. Raises `CommandError`."""
    store = context.memberships.store
    guild_id = int(word[:15]) if word.isascii() and word.isdecimal() else await store.named(word)
    guild = await context.memberships.find(guild_id) if guild_id else None
    if guild is None:
        raise CommandError(f"there is no guild {word}; guild list shows them")
    return guild


def _described(context: CommandContext, guild: Guild) -> Reply:
    rows = []
    for member in guild.members.values():
        present = present_of(member, context.world.processes.presence.find)
        zone = "" if present is None else context.world.zones.definition(present.zone_id).name
        level = member.level if present is None else present.level
        rows.append({
            "name": member.name, "rank": guild.ranks[member.rank].name, "level": level,
            "zone": zone, "note": member.note,
        })  # fmt: skip
    lines = [
        f"{row['name']}, {row['rank']}, level {row['level']}"
        + (f", in {row['zone']}" if row["zone"] else "")
        + (f": {row['note']}" if row["note"] else "")
        for row in rows
    ]
    here = sum(bool(row["zone"]) for row in rows)
    head = f"{guild.name}: {counted(len(rows), 'member')}, {here} in the world"
    return Reply((head, *([f"MOTD: {guild.motd}"] if guild.motd else ()), *lines), rows)
