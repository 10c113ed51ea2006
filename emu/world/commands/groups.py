"""Commands of groups and raids: invite, accept, lead, leave, speak, and list the members."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from emu.commands import Call, Reply
from emu.errors import CommandError
from emu.world.actors.options import Option
from emu.world.actors.player import Player, Relation
from emu.world.commands.context import (
    NAME,
    TEXT,
    CommandContext,
    WorldCommandSet,
    check_voice,
    player_named,
)
from emu.world.commands.targets import end_following
from emu.world.social.groups import PlayerGroup, Raid

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)


# --- invitations


@quiet("invite", "invite a player to your group", NAME, example="invite Borvik")
async def _invite(context: CommandContext, player: Player, call: Call) -> str:
    guest = await _guest(context, player, call, Option.DECLINE_GROUPS)
    context.world.groups.invite(player.id, guest.id, call.now)
    context.chat.line(guest, f"{player.name} invites you to a group: accept or decline.")
    return f"{guest.name} is invited to your group"


@quiet("raidinvite", "invite a player's group to your raid", NAME, example="raidinvite Borvik")
async def _invite_to_raid(context: CommandContext, player: Player, call: Call) -> str:
    guest = await _guest(context, player, call, Option.DECLINE_RAIDS)
    asked = context.world.groups.invite_to_raid(player.id, guest.id, call.now)
    leader = context.world.players.get(asked)
    if leader is not None:
        context.chat.line(leader, f"{player.name} invites your group to a raid: accept or decline.")
    return f"the group of {guest.name} is invited to your raid"


async def _guest(context: CommandContext, player: Player, call: Call, declined: Option) -> Player:
    """Return the player that an invitation names, if this player may invite it."""
    await check_voice(context, call)
    _check_shown(player)
    guest = player_named(context, call["name"], call)
    # A player must not reach somebody who ignores it by invitations.
    if guest.relations.knows(Relation.IGNORED, player.name):
        raise CommandError(f"{guest.name} ignores you")
    if declined in guest.options:
        raise CommandError(f"{guest.name} declines such invitations")
    # Charged last: a refused invitation has shown nobody a text.
    context.chat.pace(player, call.now)
    return guest


@quiet("acceptinvite", "join the group or raid you were invited to", aliases=("accept",))
async def _accept(context: CommandContext, player: Player, call: Call) -> None:
    # The player may have hidden after it was invited.
    _check_shown(player)
    joined = context.world.groups.accept(player.id, call.now)
    kind = "group" if isinstance(joined, PlayerGroup) else "raid"
    _notify(context, joined, f"{player.name} is in the {kind} now.")
    _refresh(context, joined.members)


@quiet("declineinvite", "decline the invitation", aliases=("decline",))
async def _decline(context: CommandContext, player: Player, _call: Call) -> str:
    leader = context.world.players.get(context.world.groups.decline(player.id))
    if leader is not None:
        context.chat.line(leader, f"{player.name} declines your invitation.")
    return "you declined"


def _check_shown(player: Player) -> None:
    """Raise `CommandError` for a hidden player: a group would show it to its members."""
    if player.spawn.hidden:
        raise CommandError("you are hidden; hide shows you again")


# --- groups


@quiet("gsay", "speak to your group", TEXT, aliases=("g",), example="gsay I am ready")
async def _say_to_group(context: CommandContext, player: Player, call: Call) -> None:
    members = _players(context, context.world.groups.own(player.id))
    context.chat.group_say(player, members, call["text"], call.now)


@quiet("readycheck", "ask the members of your group whether they are ready")
async def _ask_ready(context: CommandContext, player: Player, call: Call) -> str:
    await check_voice(context, call)
    group = context.world.groups.led_by(player.id)
    context.chat.pace(player, call.now)
    _notify(context, group, f"{player.name} asks whether you are ready.")
    return "the members of your group are asked"


@quiet("whogroup", "show who is in your group", aliases=("group",))
async def _show_group(context: CommandContext, player: Player, _call: Call) -> Reply:
    group = context.world.groups.own(player.id)
    # The leader is the first member.
    names = [member.name for member in _players(context, group)]
    lines = [f"{names[0]} leads", ", ".join(names)]
    if group.raid is not None:
        raid = [member.name for member in _players(context, group.raid)]
        lines.append(f"raid of {len(group.raid.groups)} groups: {', '.join(raid)}")
    return Reply(tuple(lines), names)


@quiet("makeleader", "make another member the leader of your group", NAME, aliases=("leader",),
       example="makeleader Borvik")  # fmt: skip
async def _lead(context: CommandContext, player: Player, call: Call) -> None:
    member = player_named(context, call["name"], call)
    group = context.world.groups.lead(player.id, member.id)
    _notify(context, group, f"{member.name} leads the group now.")
    _refresh(context, group.members)


@quiet("kickfromgroup", "remove a member from your group", NAME, example="kickfromgroup Borvik")
async def _kick(context: CommandContext, player: Player, call: Call) -> str:
    member = player_named(context, call["name"], call)
    group = context.world.groups.kick(player.id, member.id)
    context.chat.line(member, f"{player.name} has removed you from the group.")
    _left(context, group, member)
    _refresh(context, [member.id])
    return f"{member.name} is no longer in your group"


@quiet("leavegroup", "leave your group")
async def _leave(context: CommandContext, player: Player, _call: Call) -> str:
    group = context.world.groups.leave(player.id)
    _left(context, group, player)
    _refresh(context, [player.id])
    return "you left the group"


@quiet("disband", "end the group that you lead, or leave another one")
async def _disband(context: CommandContext, player: Player, call: Call) -> str:
    # Only the leader may end the group for others.
    if context.world.groups.own(player.id).leader != player.id:
        return await _leave(context, player, call)
    members = context.world.groups.disband(player.id)
    for member in members:
        other = context.world.players.get(member)
        if other is not None:
            end_following(context, other)
        if other is not None and other.is_online and other is not player:
            context.chat.line(other, f"{player.name} has disbanded the group.")
    _refresh(context, members)
    return "you disbanded the group"


# --- raids


@quiet("raidsay", "speak to your raid", TEXT, aliases=("r",), example="raidsay We are ready")
async def _say_to_raid(context: CommandContext, player: Player, call: Call) -> None:
    members = _players(context, context.world.groups.raid_of(player.id))
    context.chat.group_say(player, members, call["text"], call.now, channel="raid")


@quiet("leaveraid", "leave the raid with the group that you lead")
async def _leave_raid(context: CommandContext, player: Player, _call: Call) -> str:
    raid = context.world.groups.leave_raid(player.id)
    _notify(context, raid, f"The group of {player.name} has left the raid.")
    return "your group left the raid"


@quiet("kickfromraid", "remove the group of a member from your raid", NAME,
       aliases=("kickgroupfromraid",), example="kickfromraid Borvik")  # fmt: skip
async def _kick_from_raid(context: CommandContext, player: Player, call: Call) -> str:
    member = player_named(context, call["name"], call)
    group = context.world.groups.kick_from_raid(player.id, member.id)
    _notify(context, group, f"{player.name} has removed your group from the raid.")
    return f"the group of {member.name} is no longer in your raid"


# --- changes of members


def _players(context: CommandContext, company: PlayerGroup | Raid) -> list[Player]:
    found = (context.world.players.get(member) for member in company.members)
    return [player for player in found if player is not None]


def _notify(context: CommandContext, company: PlayerGroup | Raid, text: str) -> None:
    for member in _players(context, company):
        if member.is_online:
            context.chat.line(member, text)


def _left(context: CommandContext, group: PlayerGroup, player: Player) -> None:
    end_following(context, player)
    _notify(context, group, f"{player.name} has left the group.")
    _refresh(context, group.members)


def forget_in_groups(context: CommandContext, player: Player) -> None:
    """Remove a player that has left the world from its group."""
    group = context.world.groups.forget(player.id)
    if group is not None:
        _left(context, group, player)


def hidden_changed_in_groups(context: CommandContext, player: Player) -> None:
    """Remove a player that is hidden now from its group, and cancel its invitations."""
    if player.spawn.hidden and context.world.groups.of(player.id) is not None:
        forget_in_groups(context, player)
        _refresh(context, [player.id])
    elif player.spawn.hidden:
        # Not in a group, but there may be an invitation.
        context.world.groups.forget(player.id)


def _refresh(context: CommandContext, members: Iterable[int]) -> None:
    """Send members their character sheet again, because it contains the group."""
    for number in members:
        member = context.world.players.get(number)
        if member is not None and member.is_online:
            context.sheets.send(member)
