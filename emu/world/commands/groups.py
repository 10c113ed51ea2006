"""Commands of groups and raids: invite, accept, lead, leave, speak, and list the members.

The members may be in several processes: `World.group_changes` makes the changes, and
`Chat.group_texts` reaches the members.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from emu.commands import Call, Cost, Reply
from emu.errors import CommandError, StoreError
from emu.ledger import Outcome, Owner, Part, Reason
from emu.model import Present, may_see
from emu.rules.coins import coins_text, share_of
from emu.texts import counted
from emu.world.actors.options import Option
from emu.world.actors.player import Player
from emu.world.commands.coins import AMOUNT, read_copper
from emu.world.commands.context import (
    NAME,
    TEXT,
    CommandContext,
    WorldCommandSet,
    check_voice,
    player_elsewhere,
    player_named,
)
from emu.world.commands.targets import end_following
from emu.world.events import HidingChanged, LeftWorld
from emu.world.groups.changes import GroupAction, GroupOutcome
from emu.world.social.group_texts import check_guest

CHANGE_COLOR, INVITE_COLOR = "group_change", "group_invite"
"""Colors of lines about groups (docs/protocol/world/chat.md#groups)."""

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)


# --- invitations


@quiet("invite", "invite a player to your group", NAME, example="invite Borvik")
async def _invite(context: CommandContext, player: Player, call: Call) -> None:
    guest = await _guest(context, player, call, Option.DECLINE_GROUPS)
    await _make(context, GroupAction.INVITE, player, guest)
    text = f"{player.name} invites you to a group: accept or decline."
    context.chat.group_texts.offer(guest.char_id, player.name, text)
    context.chat.line(player, f"You invite {guest.name} to group with you.", INVITE_COLOR)


@quiet("raidinvite", "invite a player's group to your raid", NAME, example="raidinvite Borvik")
async def _invite_to_raid(context: CommandContext, player: Player, call: Call) -> str:
    guest = await _guest(context, player, call, Option.DECLINE_RAIDS)
    asked = (await _make(context, GroupAction.INVITE_TO_RAID, player, guest)).who
    text = f"{player.name} invites your group to a raid: accept or decline."
    context.chat.group_texts.line([asked], text)
    return f"the group of {guest.name} is invited to your raid"


async def _guest(context: CommandContext, player: Player, call: Call, declined: Option) -> Present:
    """Return the player that an invitation names, if this player may invite it."""
    await check_voice(context, call)
    _check_shown(player)
    guest = _named(context, call)
    here = context.world.players.get(guest.char_id)
    if here is not None:
        check_guest(here, player.name, declined)
    else:
        await context.chat.group_texts.check_guest_elsewhere(guest, player, declined)
    # Charged last: a refused invitation has shown nobody a text.
    context.chat.pace(player, call.now)
    return guest


@quiet("acceptinvite", "join the group or raid you were invited to", aliases=("accept",))
async def _accept(context: CommandContext, player: Player, _call: Call) -> None:
    # The player may have hidden after it was invited.
    _check_shown(player)
    context.chat.group_texts.answered(player)
    joined = await _make(context, GroupAction.ACCEPT, player)
    kind = "raid" if joined.is_raid else "group"
    context.chat.line(player, f"You have joined the {kind}.", CHANGE_COLOR)
    others = [member for member in joined.members if member != player.id]
    context.chat.group_texts.line(others, f"{player.name} has joined the {kind}.")


@quiet("declineinvite", "decline the invitation", aliases=("decline",))
async def _decline(context: CommandContext, player: Player, _call: Call) -> str:
    context.chat.group_texts.answered(player)
    leader = (await _make(context, GroupAction.DECLINE, player)).who
    context.chat.group_texts.line([leader], f"{player.name} declines your invitation.")
    return "you declined"


def _check_shown(player: Player) -> None:
    """Raise `CommandError` for a hidden player: a group would show it to its members."""
    if player.spawn.hidden:
        raise CommandError("you are hidden; hide shows you again")


# --- groups


@quiet("gsay", "speak to your group", TEXT, aliases=("g",), example="gsay I am ready")
async def _say_to_group(context: CommandContext, player: Player, call: Call) -> None:
    members = context.world.groups.table.own(player.id).members
    context.chat.group_texts.say(player, members, "group", call["text"], call.now)


@quiet("readycheck", "ask the members of your group whether they are ready")
async def _ask_ready(context: CommandContext, player: Player, call: Call) -> str:
    await check_voice(context, call)
    group = context.world.groups.table.led_by(player.id)
    context.chat.pace(player, call.now)
    context.chat.group_texts.line(group.members, f"{player.name} asks whether you are ready.")
    return "the members of your group are asked"


@quiet("whogroup", "show who is in your group", aliases=("group",))
async def _show_group(context: CommandContext, player: Player, _call: Call) -> Reply:
    group = context.world.groups.table.own(player.id)
    # The leader is the first member.
    names = _names(context, group.members)
    lines = [f"{names[0]} leads", ", ".join(names)]
    if group.raid is not None:
        raid = _names(context, group.raid.members)
        lines.append(f"raid of {len(group.raid.groups)} groups: {', '.join(raid)}")
    return Reply(tuple(lines), names)


@quiet("makeleader", "make another member the leader of your group", NAME, aliases=("leader",),
       example="makeleader Borvik")  # fmt: skip
async def _lead(context: CommandContext, player: Player, call: Call) -> None:
    member = _member_named(context, player, call)
    group = await _make(context, GroupAction.LEAD, player, member)
    context.chat.group_texts.line(group.members, f"{member.name} leads the group now.")


@quiet("kickfromgroup", "remove a member from your group", NAME, example="kickfromgroup Borvik")
async def _kick(context: CommandContext, player: Player, call: Call) -> str:
    member = _member_named(context, player, call)
    group = await _make(context, GroupAction.KICK, player, member)
    texts = context.chat.group_texts
    texts.line([member.char_id], f"{player.name} has removed you from the group.")
    _left(context, member.name, group.members)
    return f"{member.name} is no longer in your group"


@quiet("leavegroup", "leave your group")
async def _leave(context: CommandContext, player: Player, _call: Call) -> None:
    group = await _make(context, GroupAction.LEAVE, player)
    _left(context, player.name, group.members)
    context.chat.line(player, "You have left the group", CHANGE_COLOR)


@quiet("disband", "end the group that you lead, or leave another one")
async def _disband(context: CommandContext, player: Player, call: Call) -> str | None:
    # Only the leader may end the group for others.
    if context.world.groups.table.own(player.id).leader != player.id:
        await _leave(context, player, call)
        return None
    members = (await _make(context, GroupAction.DISBAND, player)).members
    others = [member for member in members if member != player.id]
    context.chat.group_texts.line(others, f"{player.name} has disbanded the group.")
    return "you disbanded the group"


# --- coins

NOT_SHARED: Final = "the coins cannot be shared now; try again"


@quiet("split", "share coins with the members of your group in your zone", AMOUNT,
       cost=Cost.CHANGE, example="split 1g 20s")  # fmt: skip
async def _split(context: CommandContext, player: Player, call: Call) -> str:
    world = context.world
    found = map(world.players.get, world.groups.table.own(player.id).members)
    others = [
        one for one in found
        if one is not None and one is not player and one.is_online and one.zone is player.zone
    ]  # fmt: skip
    if not others:
        raise CommandError("no member of your group is here")
    share = share_of(read_copper(call["coins"]), len(others) + 1)
    if share < 1:
        raise CommandError("that is too little to share")
    giver = Owner.character(player.id)
    split = context.ledger.movement(
        Reason.SPLIT,
        [Part(giver, Owner.character(one.id), share) for one in others],
        [one.character.account_id for one in (player, *others)],
    )
    try:
        moved = await context.ledger.move(split)
    except StoreError:
        raise CommandError(NOT_SHARED) from None
    if moved.outcome is Outcome.TOO_FEW:
        raise CommandError("you do not have that many coins")
    if not moved.is_done:
        raise CommandError(NOT_SHARED)
    for one in others:
        # A player that has left meanwhile is loaded with its new coins.
        if world.players.get(one.id) is one and one.is_online:
            context.chat.line(one, f"Your share is {coins_text(share)}.", "coin_share")
    count = counted(len(others), "member")
    return f"You give {coins_text(share)} to each of {count} of your group."


# --- raids


@quiet("raidsay", "speak to your raid", TEXT, aliases=("r",), example="raidsay We are ready")
async def _say_to_raid(context: CommandContext, player: Player, call: Call) -> None:
    members = context.world.groups.table.raid_of(player.id).members
    context.chat.group_texts.say(player, members, "raid", call["text"], call.now)


@quiet("leaveraid", "leave the raid with the group that you lead")
async def _leave_raid(context: CommandContext, player: Player, _call: Call) -> str:
    raid = await _make(context, GroupAction.LEAVE_RAID, player)
    text = f"The group of {player.name} has left the raid."
    context.chat.group_texts.line(raid.members, text)
    return "your group left the raid"


@quiet("kickfromraid", "remove the group of a member from your raid", NAME,
       aliases=("kickgroupfromraid",), example="kickfromraid Borvik")  # fmt: skip
async def _kick_from_raid(context: CommandContext, player: Player, call: Call) -> str:
    member = _member_named(context, player, call)
    group = await _make(context, GroupAction.KICK_FROM_RAID, player, member)
    text = f"{player.name} has removed your group from the raid."
    context.chat.group_texts.line(group.members, text)
    return f"the group of {member.name} is no longer in your raid"


# --- players, here and elsewhere


async def _make(
    context: CommandContext, action: GroupAction, player: Player, other: Present | None = None
) -> GroupOutcome:
    to = 0 if other is None else other.char_id
    return await context.world.groups.make(action, player.id, to)


def _named(context: CommandContext, call: Call) -> Present:
    """Return a player of any process by name, if the caller may see it. Raises `CommandError`."""
    there = player_elsewhere(context, call["name"])
    is_reached = context.world.groups.is_shared
    if is_reached and there is not None and may_see(call.caller.rank, there):
        return there
    return player_named(context, call["name"], call).present


def _member_named(context: CommandContext, player: Player, call: Call) -> Present:
    """Return a player by name; a member of the caller's raid may be on its way to another node."""
    group = context.world.groups.table.of(player.id)
    if group is not None:
        company = group if group.raid is None else group.raid
        for member in map(context.world.groups.present, company.members):
            if member is not None and member.name.casefold() == call["name"].casefold():
                return member
    return _named(context, call)


def _names(context: CommandContext, members: Iterable[int]) -> list[str]:
    found = (context.world.groups.present(member) for member in members)
    return ["?" if present is None else present.name for present in found]


# --- changes of members


def subscribe_to_groups(context: CommandContext) -> None:
    """Show players the changes of their groups, and remove players that leave or hide."""
    events, changes = context.world.events, context.world.groups
    changes.changed = partial(_changed, context)
    changes.left = partial(_left, context)
    events.subscribe(LeftWorld, partial(forget_in_groups, context))
    events.subscribe(HidingChanged, partial(hidden_changed_in_groups, context))


def _left(context: CommandContext, name: str, members: Iterable[int]) -> None:
    context.chat.group_texts.line(members, f"{name} has left the group.")


def forget_in_groups(context: CommandContext, event: LeftWorld) -> None:
    """Remove a player that has left the world from its group; who camps is kept for a minute."""
    player, changes = event.player, context.world.groups
    # One that has gone to another node is still in the world.
    if not player.journey.is_elsewhere and not changes.is_away(player.id):
        changes.forget(player.id, player.name)


def hidden_changed_in_groups(context: CommandContext, event: HidingChanged) -> None:
    """Remove a player that is hidden now from its group, and cancel its invitations."""
    player = event.player
    if player.spawn.hidden:
        context.world.groups.forget(player.id, player.name)


def _changed(context: CommandContext, before: Sequence[int], after: Sequence[int]) -> None:
    """Show the players of this process a change of their group."""
    attempt = context.world.faults.attempt
    for number in dict.fromkeys((*before, *after)):
        member = context.world.players.get(number)
        if member is None:
            continue
        if number not in after:
            attempt("ending to follow", member, end_following, context, member)
            attempt("ending spells of a group", member, context.spells.left_group, member)
        attempt("fights of a group", member, context.combat.creatures.group_changed, member)
        if member.is_online:
            # The character sheet contains the group.
            attempt("showing a group", member, context.sheets.send, member)
