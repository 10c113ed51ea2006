"""Groups and raids of players: members, leaders and invitations.

A group exists while it has two members. The player who made it leads. If the leader leaves, the
longest member leads. A raid is several groups, and exists while it has two; the leader of its first
group leads it. An invitation expires. This module knows no client.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from emu.errors import CommandError
from emu.times import Monotonic

MOST_MEMBERS: Final = 6
MOST_GROUPS: Final = 4
"""Groups of one raid."""
INVITATION: Final = 60.0
"""Seconds in which an invitation can be accepted."""


class Raid:
    """One raid; `groups` are in the order of joining, the leading one first."""

    __slots__ = ("groups",)

    def __init__(self, first: PlayerGroup) -> None:
        self.groups = [first]

    @property
    def leader(self) -> int:
        """The leader's character id."""
        return self.groups[0].leader

    @property
    def members(self) -> list[int]:
        """The character ids of all its groups."""
        return [member for group in self.groups for member in group.members]


class PlayerGroup:
    """One group; `members` has character ids in the order of joining, the leader first."""

    __slots__ = ("members", "raid")

    def __init__(self, leader: int) -> None:
        self.members = [leader]
        self.raid: Raid | None = None

    @property
    def leader(self) -> int:
        """The leader's character id."""
        return self.members[0]


class Invitation(NamedTuple):
    """An invitation to the leader's group, or to its raid."""

    leader: int
    at: Monotonic
    to_raid: bool = False


class Groups:
    """All groups and raids of a world, and the invitations to them."""

    __slots__ = ("_invitations", "_of")

    def __init__(self) -> None:
        # By member, because every question names a character and not a group.
        self._of: dict[int, PlayerGroup] = {}
        self._invitations: dict[int, Invitation] = {}
        """By invited character."""

    def of(self, member: int) -> PlayerGroup | None:
        """Return the group of a character, None if it is in none."""
        return self._of.get(member)

    def own(self, member: int) -> PlayerGroup:
        """Return the group of a character. Raises `CommandError` if it is in none."""
        group = self._of.get(member)
        if group is None:
            raise CommandError("you are in no group")
        return group

    def led_by(self, leader: int) -> PlayerGroup:
        """Return the group that a character leads. Raises `CommandError`."""
        group = self.own(leader)
        if group.leader != leader:
            raise CommandError("only the leader of a group may do that")
        return group

    def raid_of(self, member: int) -> Raid:
        """Return the raid of a character. Raises `CommandError` if it is in none."""
        raid = self.own(member).raid
        if raid is None:
            raise CommandError("you are in no raid")
        return raid

    # -- invitations ----------------------------------------------------------------------------

    def invite(self, leader: int, guest: int, now: Monotonic) -> None:
        """Invite a character into the leader's group. Raises `CommandError`."""
        group = self._of.get(leader)
        if leader == guest:
            raise CommandError("you cannot invite yourself")
        # The leader may have changed since the dialog was opened.
        if group is not None and group.leader != leader:
            raise CommandError("only the leader of a group invites")
        if group is not None and len(group.members) >= MOST_MEMBERS:
            raise CommandError(f"your group has {MOST_MEMBERS} members, the limit")
        if guest in self._of:
            raise CommandError("that player is in a group already")
        self._invited(guest, Invitation(leader, now))

    def invite_to_raid(self, leader: int, guest: int, now: Monotonic) -> int:
        """Invite the group of `guest` into the leader's raid; return the id of that group's leader.

        Raises `CommandError`.
        """
        raid = self.led_by(leader).raid
        if raid is not None and raid.leader != leader:
            raise CommandError("only the leader of a raid invites")
        if raid is not None and len(raid.groups) >= MOST_GROUPS:
            raise CommandError(f"your raid has {MOST_GROUPS} groups, the limit")
        guests = self._of.get(guest)
        if guests is None:
            raise CommandError("that player is in no group")
        if guests is self._of[leader] or guests.raid is not None:
            raise CommandError("that player is in a raid already, or in your group")
        # To the leader of the other group, who alone may accept for all of it.
        self._invited(guests.leader, Invitation(leader, now, to_raid=True))
        return guests.leader

    def _invited(self, guest: int, invitation: Invitation) -> None:
        # Repeating an invitation at once would be a way to flood the guest's chat.
        before = self._invitations.get(guest)
        if (
            before is not None
            and before.leader == invitation.leader
            and invitation.at - before.at <= INVITATION
        ):
            raise CommandError("that player is invited already")
        self._invitations[guest] = invitation

    def accept(self, guest: int, now: Monotonic) -> PlayerGroup | Raid:
        """Accept an invitation; return the group, or the raid, that the guest is in now.

        Raises `CommandError` if no invitation is valid.
        """
        # Used up in any case, so that an invitation that has expired cannot be tried again.
        invitation = self._invitations.pop(guest, None)
        if invitation is None or now - invitation.at > INVITATION:
            raise CommandError("nobody has invited you")
        if invitation.to_raid:
            return self._join_raid(guest, invitation.leader)
        return self._join_group(guest, invitation.leader)

    def _join_group(self, guest: int, leader: int) -> PlayerGroup:
        if guest in self._of:
            raise CommandError("you are in a group already")
        group = self._of.get(leader)
        if group is None:
            # The group exists only now: an invitation that is declined leaves nothing behind.
            group = self._of[leader] = PlayerGroup(leader)
        # Both can have changed since the invitation: several guests may have been invited for the
        # last place.
        if group.leader != leader or len(group.members) >= MOST_MEMBERS:
            raise CommandError("that group is full")
        group.members.append(guest)
        self._of[guest] = group
        return group

    def _join_raid(self, guest: int, leader: int) -> Raid:
        joining, group = self.led_by(guest), self._of.get(leader)
        if joining.raid is not None or joining is group:
            raise CommandError("your group is in a raid already")
        if group is None or group.leader != leader:
            raise CommandError("that raid does not exist any more")
        # A raid begins when the first group joins another one.
        raid = group.raid or Raid(group)
        if raid.leader != leader or len(raid.groups) >= MOST_GROUPS:
            raise CommandError("that raid is full")
        group.raid = joining.raid = raid
        raid.groups.append(joining)
        return raid

    def decline(self, guest: int) -> int:
        """Decline an invitation; return the leader's id. Raises `CommandError` if there is none."""
        invitation = self._invitations.pop(guest, None)
        if invitation is None:
            raise CommandError("nobody has invited you")
        return invitation.leader

    # -- members --------------------------------------------------------------------------------

    def lead(self, leader: int, member: int) -> PlayerGroup:
        """Make another member the leader of a group. Raises `CommandError`."""
        group = self.led_by(leader)
        _check_member(group, member)
        group.members.remove(member)
        # The first member leads.
        group.members.insert(0, member)
        return group

    def kick(self, leader: int, member: int) -> PlayerGroup:
        """Remove another member from the group; return the group. Raises `CommandError`."""
        group = self.led_by(leader)
        _check_member(group, member)
        return self.leave(member)

    def leave(self, member: int) -> PlayerGroup:
        """Leave the group; a group with one member left ends. Raises `CommandError`.

        Return the group with its remaining members.
        """
        group = self.own(member)
        del self._of[member]
        group.members.remove(member)
        if len(group.members) == 1:
            # The last member's client is sent this, too: the caller gets the group with it.
            del self._of[group.members[0]]
            _leave_raid(group)
        return group

    def disband(self, leader: int) -> list[int]:
        """End the leader's group; return its former members. Raises `CommandError`."""
        group = self.led_by(leader)
        for member in group.members:
            del self._of[member]
        _leave_raid(group)
        return group.members

    def leave_raid(self, leader: int) -> Raid:
        """Leave the raid with the group that a character leads. Raises `CommandError`.

        Return the raid with its remaining groups.
        """
        raid = self.raid_of(leader)
        _leave_raid(self.led_by(leader))
        return raid

    def kick_from_raid(self, leader: int, member: int) -> PlayerGroup:
        """Remove the group of a member from the leader's raid; return it. Raises `CommandError`."""
        raid, group = self.raid_of(leader), self._of.get(member)
        if raid.leader != leader:
            raise CommandError("only the leader of a raid may do that")
        if group is None or group.raid is not raid or group.leader == leader:
            raise CommandError("that player is in no other group of your raid")
        _leave_raid(group)
        return group

    def forget(self, member: int) -> PlayerGroup | None:
        """Remove a character that has left the world; return its former group, or None."""
        self._invitations.pop(member, None)
        # Its invitations are of no use any more: nobody is there whose group could be joined.
        for guest in [one for one, by in self._invitations.items() if by.leader == member]:
            del self._invitations[guest]
        return self.leave(member) if member in self._of else None


def _check_member(group: PlayerGroup, member: int) -> None:
    # Not the leader itself, which is the first member.
    if member not in group.members[1:]:
        raise CommandError("that player is no other member of your group")


def _leave_raid(group: PlayerGroup) -> None:
    """Remove a group from its raid, and end a raid of one group."""
    raid, group.raid = group.raid, None
    if raid is not None:
        raid.groups.remove(group)
        if len(raid.groups) == 1:
            raid.groups[0].raid = None
