"""The rules of guilds: names, invitations, and what a member may change.

A function takes a guild and a member, and returns a `GuildStep`; the guild stays as it is. Members
act on lower ranks than their own; leaders act on each other, too. A guild with members always has a
leader. This module knows no client and no store.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, NamedTuple

from emu.errors import CommandError
from emu.guilds import (
    LEADER,
    LEAST_NAME,
    LONGEST_MOTD,
    LONGEST_NOTE,
    LONGEST_RANK,
    MOST_MEMBERS,
    MOST_NAME,
    RANKS,
    RECRUIT,
    Guild,
    GuildChange,
    GuildMember,
    MemberFlag,
    Permission,
)
from emu.times import Moment, Monotonic

_NAME: Final = re.compile(r"[A-Za-z]+(?:[ '][A-Za-z]+)*")
LAST_PERMISSION: Final = 44
"""The last number that clients know."""
INVITATION: Final = 60.0
"""Seconds in which an invitation can be accepted."""


class GuildStep(NamedTuple):
    """A change of a guild, and the line that its members are shown; no line if it is empty."""

    change: GuildChange
    text: str = ""


def usable_name(name: str) -> str:
    """Return the name of a guild with single spaces. Raises `CommandError`."""
    name = " ".join(name.split())
    if not LEAST_NAME <= len(name) <= MOST_NAME:
        raise CommandError(f"a guild's name has {LEAST_NAME} to {MOST_NAME} letters")
    if _NAME.fullmatch(name) is None:
        raise CommandError("a guild's name has only letters, single spaces and apostrophes")
    return name


def founded(name: str, leader: GuildMember, moment: Moment) -> Guild:
    """Return a new guild with its leader. Raises `CommandError` for its name."""
    member = replace(leader, rank=LEADER, joined=moment)
    return Guild(name=usable_name(name), formed=moment, members={member.char_id: member})


def check(guild: Guild, char_id: int, permission: Permission) -> None:
    """Raise `CommandError` unless a member has a permission."""
    if char_id not in guild.members:
        raise CommandError("you are in no guild")
    if not guild.may(char_id, permission):
        raise CommandError(f"your rank, {guild.rank_of(char_id).name}, may not do that")


def member_named(guild: Guild, name: str) -> GuildMember:
    """Return a member by name, without regard to case. Raises `CommandError`."""
    for member in guild.members.values():
        if member.name.casefold() == name.casefold():
            return member
    raise CommandError(f"{name} is no member of {guild.name}")


def join(guild: Guild, member: GuildMember, inviter: str) -> GuildStep:
    """Let a character join as a recruit. Raises `CommandError` if the guild is full."""
    if len(guild.members) >= MOST_MEMBERS:
        raise CommandError(f"{guild.name} has {MOST_MEMBERS} members, the limit")
    text = f"{member.name} has joined the guild, invited by {inviter}."
    return GuildStep(GuildChange(joined=replace(member, rank=RECRUIT)), text)


def leave(guild: Guild, char_id: int) -> GuildStep:
    """Let a member leave. Raises `CommandError` for the only leader of others."""
    member = guild.members.get(char_id)
    if member is None:
        raise CommandError("you are in no guild")
    _check_leader_stays(guild, member)
    return GuildStep(GuildChange(left=char_id), f"{member.name} has left the guild.")


def kick(guild: Guild, actor: int, name: str) -> GuildStep:
    """Remove a member; a member who names itself leaves. Raises `CommandError`."""
    member = member_named(guild, name)
    # The client's button for leaving sends this command with the player's own name.
    if member.char_id == actor:
        return leave(guild, actor)
    check(guild, actor, Permission.REMOVE)
    _check_outranks(guild, actor, member)
    _check_leader_stays(guild, member)
    text = f"{guild.members[actor].name} has removed {member.name} from the guild."
    return GuildStep(GuildChange(left=member.char_id), text)


def promote(guild: Guild, actor: int, name: str) -> GuildStep:
    """Give a member the next higher rank. Raises `CommandError`."""
    check(guild, actor, Permission.PROMOTE)
    member, own = member_named(guild, name), guild.members[actor].rank
    if member.rank == LEADER:
        raise CommandError(f"{member.name} has the highest rank already")
    # Only leaders make others their equals: an officer could not take it back.
    if own != LEADER and member.rank - 1 <= own:
        raise CommandError(f"{member.name} would have your rank; only a leader may do that")
    return _ranked(guild, actor, member, member.rank - 1, "promoted")


def demote(guild: Guild, actor: int, name: str) -> GuildStep:
    """Give a member the next lower rank. Raises `CommandError`."""
    check(guild, actor, Permission.DEMOTE)
    member = member_named(guild, name)
    _check_outranks(guild, actor, member)
    if member.rank == RECRUIT:
        raise CommandError(f"{member.name} has the lowest rank already")
    _check_leader_stays(guild, member)
    return _ranked(guild, actor, member, member.rank + 1, "demoted")


def _ranked(guild: Guild, actor: int, member: GuildMember, rank: int, what: str) -> GuildStep:
    by = guild.members[actor].name
    text = f"{by} has {what} {member.name} to {guild.ranks[rank].name}."
    return GuildStep(GuildChange(members=(replace(member, rank=rank),)), text)


def set_motd(guild: Guild, actor: int, text: str) -> GuildStep:
    """Set the text that members are shown when they come; "" for none. Raises `CommandError`."""
    check(guild, actor, Permission.CHANGE_MOTD)
    text = text[:LONGEST_MOTD]
    return GuildStep(GuildChange(motd=text), f"Guild MOTD: {text}" if text else "")


def name_rank(guild: Guild, actor: int, place: int, name: str) -> GuildStep:
    """Give a rank another name. Raises `CommandError`."""
    check(guild, actor, Permission.CHANGE_RANK_NAMES)
    name = " ".join(name.split())[:LONGEST_RANK]
    if not name:
        raise CommandError("a rank needs a name")
    rank = replace(guild.ranks[_place(place)], name=name)
    return GuildStep(GuildChange(ranks={place: rank}))


def permit(guild: Guild, actor: int, place: int, permission: int, *, on: bool) -> GuildStep:
    """Give a rank a permission, or take it away. Raises `CommandError`.

    `permission` is any number that clients know. Those that the server does not use are stored for
    the window.
    """
    check(guild, actor, Permission.CHANGE_PERMISSIONS)
    rank, own = guild.ranks[_place(place)], guild.members[actor].rank
    # Without this, leaders could lock everybody out of their own guild.
    if place == LEADER:
        raise CommandError("leaders have every permission")
    if place <= own:
        raise CommandError("you may change the permissions of lower ranks than yours only")
    if not 0 <= permission <= LAST_PERMISSION:
        raise CommandError(f"permissions have numbers from 0 to {LAST_PERMISSION}")
    bit = 1 << permission
    if on and not guild.ranks[own].permissions & bit:
        raise CommandError("you may give only permissions that you have")
    permissions = rank.permissions | bit if on else rank.permissions & ~bit
    return GuildStep(GuildChange(ranks={place: replace(rank, permissions=permissions)}))


def set_note(guild: Guild, actor: int, name: str, note: str) -> GuildStep:
    """Set a member's note. Raises `CommandError`."""
    member = member_named(guild, name)
    is_own = member.char_id == actor
    check(guild, actor, Permission.EDIT_OWN_NOTE if is_own else Permission.EDIT_NOTES)
    return GuildStep(GuildChange(members=(replace(member, note=note[:LONGEST_NOTE]),)))


def set_officer_note(guild: Guild, actor: int, name: str, note: str) -> GuildStep:
    """Set the note of a member that only some ranks see. Raises `CommandError`."""
    check(guild, actor, Permission.EDIT_OFFICER_NOTES)
    member = member_named(guild, name)
    return GuildStep(GuildChange(members=(replace(member, officer_note=note[:LONGEST_NOTE]),)))


def set_flag(guild: Guild, actor: int, flag: MemberFlag, *, on: bool) -> GuildStep:
    """Set a choice of a member. Raises `CommandError`."""
    member = guild.members.get(actor)
    if member is None:
        raise CommandError("you are in no guild")
    flags = member.flags | flag if on else member.flags & ~flag
    return GuildStep(GuildChange(members=(replace(member, flags=flags),)))


def _place(place: int) -> int:
    if not 0 <= place < RANKS:
        raise CommandError(f"ranks have numbers from 0 to {RANKS - 1}")
    return place


def _check_outranks(guild: Guild, actor: int, member: GuildMember) -> None:
    own = guild.members[actor].rank
    if own != LEADER and member.rank <= own:
        raise CommandError(f"the rank of {member.name} is not below yours")


def _check_leader_stays(guild: Guild, member: GuildMember) -> None:
    """Raise `CommandError` if others would be left without a leader."""
    leaders = [one for one in guild.members.values() if one.rank == LEADER]
    if leaders == [member] and len(guild.members) > 1:
        raise CommandError("promote another member to leader first")


# --- invitations


class GuildInvitation(NamedTuple):
    """An invitation to a guild, and the name of the member who wrote it."""

    guild_id: int
    guild_name: str
    inviter: str
    at: Monotonic


class GuildInvitations:
    """The invitations of the characters of this process, by invited character."""

    __slots__ = ("_by_guest",)

    def __init__(self) -> None:
        self._by_guest: dict[int, GuildInvitation] = {}

    def invite(self, guest: int, invitation: GuildInvitation) -> None:
        """Add an invitation. Raises `CommandError` while another one is valid."""
        # The client shows one dialog, so a second invitation would replace the first unseen.
        before = self._by_guest.get(guest)
        if before is not None and invitation.at - before.at <= INVITATION:
            raise CommandError("that player is invited to a guild already")
        self._by_guest[guest] = invitation

    def take_invitation(self, guest: int, now: Monotonic) -> GuildInvitation:
        """Remove and return an invitation. Raises `CommandError` if none is valid."""
        found = self._by_guest.pop(guest, None)
        if found is None or now - found.at > INVITATION:
            raise CommandError("nobody has invited you to a guild")
        return found

    def forget(self, guest: int) -> None:
        """Remove the invitation of a character that has left the world."""
        self._by_guest.pop(guest, None)
