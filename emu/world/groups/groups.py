"""Groups and raids of players: members, leaders and invitations.

A group exists while it has two members. The player who made it leads. If the leader leaves, the
longest member leads. A raid is several groups, and exists while it has two; the leader of its first
group leads it. An invitation expires. This module knows no client, and no other process:
`emu.world.groups.changes` makes the changes, `emu.world.groups.shared` has them made
in several processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

    __slots__ = ("groups", "id")

    def __init__(self, number: int) -> None:
        self.id = number
        self.groups: list[PlayerGroup] = []

    def add_group(self, group: PlayerGroup, place: int = 0) -> None:
        """Add a group at a place, by default behind all others."""
        group.raid = self
        group.place = place or max((one.place for one in self.groups), default=0) + 1
        self.groups.append(group)
        self.groups.sort(key=lambda one: one.place)

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

    __slots__ = ("id", "members", "place", "raid")

    def __init__(self, number: int, members: Sequence[int]) -> None:
        self.id = number
        self.members = list(members)
        self.raid: Raid | None = None
        self.place = 0
        """Number by which the groups of its raid are ordered."""

    @property
    def leader(self) -> int:
        """The leader's character id."""
        return self.members[0]

    @property
    def row(self) -> GroupRow:
        """Its plain values."""
        if self.raid is None:
            return GroupRow(self.id, tuple(self.members))
        return GroupRow(self.id, tuple(self.members), self.raid.id, self.place)


class GroupRow(NamedTuple):
    """A group as plain values; `raid` is 0 for a group in no raid."""

    id: int
    members: tuple[int, ...]
    raid: int = 0
    place: int = 0


class GroupChange(NamedTuple):
    """A group before and after a change; a group that begins or ends is None on one side."""

    id: int
    before: GroupRow | None
    after: GroupRow | None


class Invitation(NamedTuple):
    """An invitation to the leader's group, or to its raid."""

    leader: int
    at: Monotonic
    to_raid: bool = False


class Groups:
    """All groups and raids of a world, and the invitations to them."""

    __slots__ = ("_before", "_groups", "_invitations", "_last_id", "_of", "_raids")

    def __init__(self) -> None:
        # By member, because every question names a character and not a group.
        self._of: dict[int, PlayerGroup] = {}
        self._groups: dict[int, PlayerGroup] = {}
        self._raids: dict[int, Raid] = {}
        self._invitations: dict[int, Invitation] = {}
        """By invited character."""
        self._before: dict[int, GroupRow | None] = {}
        """The groups that have changed since `take_changes`, each as it was then."""
        self._last_id = 0

    def __iter__(self) -> Iterator[PlayerGroup]:
        """Iterate over a snapshot of all groups."""
        return iter(list(self._groups.values()))

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
        # Repeating an invitation at once would be a way to flood the guest's chat. One of another
        # leader would replace the first unseen: the client shows one window.
        before = self._invitations.get(guest)
        if before is not None and invitation.at - before.at <= INVITATION:
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
            group = self._of[leader] = self._begin((leader,))
        # Both can have changed since the invitation: several guests may have been invited for the
        # last place.
        if group.leader != leader or len(group.members) >= MOST_MEMBERS:
            raise CommandError("that group is full")
        self._touch(group)
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
        raid = group.raid
        if raid is None:
            self._touch(group)
            raid = self._raid(self._next_id())
            raid.add_group(group)
        elif raid.leader != leader or len(raid.groups) >= MOST_GROUPS:
            raise CommandError("that raid is full")
        self._touch(joining)
        raid.add_group(joining)
        return raid

    def decline(self, guest: int) -> int:
        """Decline an invitation; return the leader's id. Raises `CommandError` if there is none."""
        invitation = self._invitations.pop(guest, None)
        if invitation is None:
            raise CommandError("nobody has invited you")
        return invitation.leader

    def inviter_of(self, guest: int) -> int:
        """Return who has invited a character, 0 if nobody has."""
        found = self._invitations.get(guest)
        return 0 if found is None else found.leader

    def expire(self, now: Monotonic) -> None:
        """Remove the invitations that are too old."""
        old = [one for one, by in self._invitations.items() if now - by.at > INVITATION]
        for guest in old:
            del self._invitations[guest]

    # -- members --------------------------------------------------------------------------------

    def lead(self, leader: int, member: int) -> PlayerGroup:
        """Make another member the leader of a group. Raises `CommandError`."""
        group = self.led_by(leader)
        _check_member(group, member)
        self._touch(group)
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
        self._touch(group)
        del self._of[member]
        group.members.remove(member)
        if len(group.members) == 1:
            # The last member's client is sent this, too: the caller gets the group with it.
            self._end(group)
        return group

    def disband(self, leader: int) -> list[int]:
        """End the leader's group; return its former members. Raises `CommandError`."""
        group = self.led_by(leader)
        self._touch(group)
        self._end(group)
        return group.members

    def leave_raid(self, leader: int) -> Raid:
        """Leave the raid with the group that a character leads. Raises `CommandError`.

        Return the raid with its remaining groups.
        """
        raid = self.raid_of(leader)
        self._leave_raid(self.led_by(leader))
        return raid

    def kick_from_raid(self, leader: int, member: int) -> PlayerGroup:
        """Remove the group of a member from the leader's raid; return it. Raises `CommandError`."""
        raid, group = self.raid_of(leader), self._of.get(member)
        if raid.leader != leader:
            raise CommandError("only the leader of a raid may do that")
        if group is None or group.raid is not raid or group.leader == leader:
            raise CommandError("that player is in no other group of your raid")
        self._leave_raid(group)
        return group

    def forget(self, member: int) -> PlayerGroup | None:
        """Remove a character that has left the world; return its former group, or None."""
        self._invitations.pop(member, None)
        # Its invitations are of no use any more: nobody is there whose group could be joined.
        for guest in [one for one, by in self._invitations.items() if by.leader == member]:
            del self._invitations[guest]
        return self.leave(member) if member in self._of else None

    # -- changes --------------------------------------------------------------------------------

    def take_changes(self) -> list[GroupChange]:
        """Return what has changed since the last call, each group once."""
        before, self._before = self._before, {}
        found = self._groups
        changes = [
            GroupChange(number, row, found[number].row if number in found else None)
            for number, row in before.items()
        ]
        return [change for change in changes if change.before != change.after]

    def apply(self, number: int, row: GroupRow | None) -> None:
        """Make a group as another process has it; None ends it.

        The rows of several changes may come in another order than the changes. Until the last one
        has come, a character can be a member of two groups.
        """
        group = self._groups.get(number)
        if row is None:
            if group is not None:
                self._touch(group)
                self._forget_members(group)
                del self._groups[number]
                self._leave(group)
            return
        if group is None:
            group = self._begin((), number)
        self._touch(group)
        self._forget_members(group)
        group.members = list(row.members)
        self._of.update(dict.fromkeys(row.members, group))
        if group.raid is not None and (group.raid.id, group.place) != (row.raid, row.place):
            self._leave(group)
        if row.raid and group.raid is None:
            self._raid(row.raid).add_group(group, row.place)
        # The next group of this process must not get the number of one that exists.
        self._last_id = max(self._last_id, number, row.raid)

    def replace(self, rows: Sequence[GroupRow]) -> None:
        """Make all groups as another process has them, and forget the invitations."""
        self._invitations.clear()
        kept = {row.id for row in rows}
        for number in [one for one in self._groups if one not in kept]:
            self.apply(number, None)
        for row in rows:
            group = self._groups.get(row.id)
            if group is None or group.row != row:
                self.apply(row.id, row)

    def settle(self) -> None:
        """Make groups right that another process has not sent completely.

        Each character is in one group, each group has two members, and each raid has two groups.
        """
        for group in self:
            members = [one for one in group.members if self._of.get(one) is group]
            if len(members) == len(group.members) > 1:
                continue
            self._touch(group)
            group.members = members
            if len(members) < 2:
                self._end(group)
        for raid in list(self._raids.values()):
            if len(raid.groups) == 1:
                self._leave_raid(raid.groups[0])

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _begin(self, members: Sequence[int], number: int = 0) -> PlayerGroup:
        group = PlayerGroup(number or self._next_id(), members)
        self._before.setdefault(group.id, None)
        self._groups[group.id] = group
        return group

    def _touch(self, group: PlayerGroup) -> None:
        """Note a group as it is before a change."""
        if group.id not in self._before:
            self._before[group.id] = group.row

    def _end(self, group: PlayerGroup) -> None:
        """End a group whose state before is noted; its list of members stays for the caller."""
        self._forget_members(group)
        del self._groups[group.id]
        self._leave_raid(group)

    def _forget_members(self, group: PlayerGroup) -> None:
        for member in group.members:
            # One that has just left has no group any more, or another one.
            if self._of.get(member) is group:
                del self._of[member]

    def _raid(self, number: int) -> Raid:
        return self._raids.setdefault(number, Raid(number))

    def _leave_raid(self, group: PlayerGroup) -> None:
        """Remove a group from its raid, and end a raid of one group."""
        raid = group.raid
        if raid is None:
            return
        self._touch(group)
        self._leave(group)
        if len(raid.groups) == 1:
            (last,) = raid.groups
            self._touch(last)
            # The last group's members are informed, too: the caller gets the raid with it.
            last.raid, last.place = None, 0
            del self._raids[raid.id]

    def _leave(self, group: PlayerGroup) -> None:
        """Remove a group from its raid, if it is in one; the others of the raid stay in it."""
        raid, group.raid, group.place = group.raid, None, 0
        if raid is not None:
            raid.groups.remove(group)
            if not raid.groups:
                del self._raids[raid.id]


def _check_member(group: PlayerGroup, member: int) -> None:
    # Not the leader itself, which is the first member.
    if member not in group.members[1:]:
        raise CommandError("that player is no other member of your group")
