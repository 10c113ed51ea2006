"""Groups of players: members, leaders and invitations.

A group exists while it has two members. The player who made it leads. If the leader leaves, the
longest member leads. An invitation expires. This module knows no client.
"""

from __future__ import annotations

from typing import Final

from emu.errors import CommandError
from emu.times import Monotonic

MOST_MEMBERS: Final = 6
INVITATION: Final = 60.0
"""Seconds in which an invitation can be accepted."""


class PlayerGroup:
    """One group; `members` has character ids in the order of joining, the leader first."""

    __slots__ = ("members",)

    def __init__(self, leader: int) -> None:
        self.members = [leader]

    @property
    def leader(self) -> int:
        """The leader's character id."""
        return self.members[0]


class Groups:
    """All groups of a world, and the invitations to them."""

    __slots__ = ("_invitations", "_of")

    def __init__(self) -> None:
        self._of: dict[int, PlayerGroup] = {}
        self._invitations: dict[int, tuple[int, Monotonic]] = {}
        """For each invited character: the leader who invited it, and the time."""

    def of(self, member: int) -> PlayerGroup | None:
        """Return the group of a character, None if it is in none."""
        return self._of.get(member)

    def invite(self, leader: int, guest: int, now: Monotonic) -> None:
        """Invite a character into the leader's group. Raises `CommandError`."""
        group = self._of.get(leader)
        if leader == guest:
            raise CommandError("you cannot invite yourself")
        if group is not None and group.leader != leader:
            raise CommandError("only the leader of a group invites")
        if group is not None and len(group.members) >= MOST_MEMBERS:
            raise CommandError(f"your group has {MOST_MEMBERS} members, the limit")
        if guest in self._of:
            raise CommandError("that player is in a group already")
        # Repeating an invitation at once would be a way to flood the guest's chat.
        asked_by, asked = self._invitations.get(guest, (0, now))
        if asked_by == leader and now - asked <= INVITATION:
            raise CommandError("that player is invited already")
        self._invitations[guest] = (leader, now)

    def accept(self, guest: int, now: Monotonic) -> PlayerGroup:
        """Accept an invitation; return the group. Raises `CommandError` if none is valid."""
        leader, asked = self._invitations.pop(guest, (0, Monotonic(0.0)))
        if not leader or now - asked > INVITATION:
            raise CommandError("nobody has invited you")
        if guest in self._of:
            raise CommandError("you are in a group already")
        group = self._of.get(leader)
        if group is None:
            group = self._of[leader] = PlayerGroup(leader)
        if group.leader != leader or len(group.members) >= MOST_MEMBERS:
            raise CommandError("that group is full")
        group.members.append(guest)
        self._of[guest] = group
        return group

    def decline(self, guest: int) -> int:
        """Decline an invitation; return the leader's id. Raises `CommandError` if there is none."""
        leader, _ = self._invitations.pop(guest, (0, Monotonic(0.0)))
        if not leader:
            raise CommandError("nobody has invited you")
        return leader

    def leave(self, member: int) -> PlayerGroup:
        """Leave the group; a group with one member left ends. Raises `CommandError`.

        Return the group with its remaining members.
        """
        group = self._of.pop(member, None)
        if group is None:
            raise CommandError("you are in no group")
        group.members.remove(member)
        if len(group.members) == 1:
            del self._of[group.members[0]]
        return group

    def forget(self, member: int) -> PlayerGroup | None:
        """Remove a character that has left the world; return its former group, or None."""
        self._invitations.pop(member, None)
        for guest in [one for one, (leader, _) in self._invitations.items() if leader == member]:
            del self._invitations[guest]
        return self.leave(member) if member in self._of else None
