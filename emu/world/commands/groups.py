"""Commands for groups: invite, accept, decline, leave, speak, and list the members."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from emu.commands import Call, Reply
from emu.errors import CommandError
from emu.world.actors.player import Player, Relation
from emu.world.commands.context import (
    NAME,
    TEXT,
    CommandContext,
    WorldCommandSet,
    check_voice,
    player_named,
)
from emu.world.social.groups import PlayerGroup

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)


@quiet("invite", "invite a player to your group", NAME)
async def _invite(context: CommandContext, player: Player, call: Call) -> str:
    await check_voice(context, call)
    _check_shown(player)
    guest = player_named(context, call["name"], call)
    if guest.relations.knows(Relation.IGNORED, player.name):
        raise CommandError(f"{guest.name} ignores you")
    context.chat.pace(player, call.now)
    context.world.groups.invite(player.id, guest.id, call.now)
    context.chat.line(guest, f"{player.name} invites you to a group: accept or decline.")
    return f"{guest.name} is invited to your group"


@quiet("accept", "join the group you were invited to")
async def _accept(context: CommandContext, player: Player, call: Call) -> None:
    _check_shown(player)
    group = context.world.groups.accept(player.id, call.now)
    _notify(context, group, f"{player.name} is in the group now.")
    _refresh(context, group.members)


@quiet("decline", "decline the invitation")
async def _decline(context: CommandContext, player: Player, _call: Call) -> str:
    leader = context.world.players.get(context.world.groups.decline(player.id))
    if leader is not None:
        context.chat.line(leader, f"{player.name} does not want to join your group.")
    return "you declined"


@quiet("leavegroup", "leave your group", aliases=("disband",))
async def _leave(context: CommandContext, player: Player, _call: Call) -> str:
    group = context.world.groups.leave(player.id)
    _left(context, group, player)
    _refresh(context, [player.id])
    return "you left the group"


@quiet("gsay", "speak to your group", TEXT)
async def _say(context: CommandContext, player: Player, call: Call) -> None:
    members = _players(context, _own(context, player))
    context.chat.group_say(player, members, call["text"], call.now)


@quiet("group", "show who is in your group")
async def _show(context: CommandContext, player: Player, _call: Call) -> Reply:
    names = [member.name for member in _players(context, _own(context, player))]
    return Reply((f"{names[0]} leads", ", ".join(names)), names)


def _check_shown(player: Player) -> None:
    """Raise `CommandError` for a hidden player: a group would show it to its members."""
    if player.spawn.hidden:
        raise CommandError("you are hidden; hide shows you again")


def _own(context: CommandContext, player: Player) -> PlayerGroup:
    group = context.world.groups.of(player.id)
    if group is None:
        raise CommandError("you are in no group")
    return group


def _players(context: CommandContext, group: PlayerGroup) -> list[Player]:
    found = (context.world.players.get(member) for member in group.members)
    return [player for player in found if player is not None]


def _notify(context: CommandContext, group: PlayerGroup, text: str) -> None:
    for member in _players(context, group):
        if member.is_online:
            context.chat.line(member, text)


def _left(context: CommandContext, group: PlayerGroup, player: Player) -> None:
    _notify(context, group, f"{player.name} has left the group.")
    _refresh(context, group.members)


def forget(context: CommandContext, player: Player) -> None:
    """Remove a player that has left the world from its group."""
    group = context.world.groups.forget(player.id)
    if group is not None:
        _left(context, group, player)


def hidden_changed(context: CommandContext, player: Player) -> None:
    """Remove a player that is hidden now from its group, and cancel its invitations."""
    if player.spawn.hidden and context.world.groups.of(player.id) is not None:
        forget(context, player)
        _refresh(context, [player.id])
    elif player.spawn.hidden:
        context.world.groups.forget(player.id)


def _refresh(context: CommandContext, members: Iterable[int]) -> None:
    """Send members their character sheet again, because it contains the group."""
    for number in members:
        member = context.world.players.get(number)
        if member is not None and member.is_online:
            context.sheets.send(member)
