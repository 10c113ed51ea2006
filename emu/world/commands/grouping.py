"""Commands for groups: invite, accept, decline, leave, speak, and who is in one."""

from __future__ import annotations

from collections.abc import Iterable

from emu.commands import Argument, ArgumentKind, Call, Command, Reply
from emu.commands.registry import Run
from emu.errors import CommandError
from emu.world.commands.context import CommandContext, own_player, player_named
from emu.world.groups import Group
from emu.world.players import entering
from emu.world.players.player import Player
from emu.world.players.relations import Relation


def commands(context: CommandContext) -> list[Command]:
    """Return the commands of this room."""
    context.world.on_left.append(lambda player: _forget(context, player))
    return [*_joining(context), *_being_in(context)]


def _joining(context: CommandContext) -> list[Command]:
    groups, chat = context.world.groups, context.chat

    async def invite(call: Call) -> Reply:
        player, guest = own_player(call), player_named(context, call["name"])
        if guest.relations.knows(Relation.IGNORED, player.name):
            raise CommandError(f"{guest.name} ignores you")
        chat.pace(player, call.now)
        groups.invite(player.id, guest.id, call.now)
        chat.line(guest, f"{player.name} invites you to a group: accept or decline.")
        return Reply((f"{guest.name} is invited to your group",))

    async def accept(call: Call) -> None:
        player = own_player(call)
        group = groups.accept(player.id, call.now)
        _tell(context, group, f"{player.name} is in the group now.")
        _refresh(context, group.members)

    async def decline(call: Call) -> Reply:
        player = own_player(call)
        leader = context.world.players.get(groups.decline(player.id))
        if leader is not None:
            chat.line(leader, f"{player.name} does not want to join your group.")
        return Reply(("you declined",))

    name = Argument("name", help="the player", among="player")
    return [
        _quiet("invite", "ask a player into your group", invite, name),
        _quiet("accept", "join the group you were invited to", accept),
        _quiet("decline", "refuse to join it", decline),
    ]


def _being_in(context: CommandContext) -> list[Command]:
    groups, chat = context.world.groups, context.chat

    async def leave(call: Call) -> Reply:
        player = own_player(call)
        group = groups.leave(player.id)
        _left(context, group, player)
        _refresh(context, [player.id])
        return Reply(("you left the group",))

    async def say(call: Call) -> None:
        player = own_player(call)
        chat.group_say(player, _players(context, _own(context, player)), call["text"], call.now)

    async def show(call: Call) -> Reply:
        group = _own(context, own_player(call))
        names = [member.name for member in _players(context, group)]
        return Reply((f"{names[0]} leads", ", ".join(names)), names)

    text = Argument("text", ArgumentKind.TEXT, "what to say")
    return [
        _quiet("leavegroup", "leave your group", leave, aliases=("disband",)),
        _quiet("gsay", "speak to your group", say, text),
        _quiet("group", "show who is in your group", show),
    ]


def _quiet(
    name: str, help_text: str, run: Run, *arguments: Argument, aliases: tuple[str, ...] = ()
) -> Command:
    return Command(name, help_text, run, arguments, outside=False, is_quiet=True, aliases=aliases)


def _own(context: CommandContext, player: Player) -> Group:
    group = context.world.groups.of(player.id)
    if group is None:
        raise CommandError("you are in no group")
    return group


def _players(context: CommandContext, group: Group) -> list[Player]:
    found = (context.world.players.get(member) for member in group.members)
    return [player for player in found if player is not None]


def _tell(context: CommandContext, group: Group, text: str) -> None:
    for member in _players(context, group):
        if member.is_online:
            context.chat.line(member, text)


def _left(context: CommandContext, group: Group, player: Player) -> None:
    _tell(context, group, f"{player.name} has left the group.")
    _refresh(context, group.members)


def _forget(context: CommandContext, player: Player) -> None:
    group = context.world.groups.forget(player.id)
    if group is not None:
        _left(context, group, player)


def _refresh(context: CommandContext, members: Iterable[int]) -> None:
    """Show members their group as it is now: it stands in the character sheet."""
    for number in members:
        member = context.world.players.get(number)
        if member is not None and member.is_online:
            entering.send_sheet(context.world, member)
