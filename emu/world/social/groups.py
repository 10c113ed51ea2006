"""Groups of players: who asked whom, who is in one, who leads it.

A group is there while two are in it. Whoever made it leads; when the leader goes, the one who has
been in it longest leads. An invitation ends after a while. Knows no client.
"""

from __future__ import annotations

from typing import Final

from emu.errors import CommandError
from emu.times import Monotonic

MOST_MEMBERS: Final = 6
INVITATION: Final = 60.0
"""Seconds in which an invitation can be accepted."""


class Group:
    """Members are character ids in the order they came; the first one leads."""

    __slots__ = ("members",)

    def __init__(self, leader: int) -> None:
        self.members = [leader]

    @property
    def leader(self) -> int:
        """Who leads."""
        return self.members[0]


class Groups:
    """All groups of a world, and the invitations to them."""

    __slots__ = ("_invitations", "_of")

    def __init__(self) -> None:
        self._of: dict[int, Group] = {}
        self._invitations: dict[int, tuple[int, Monotonic]] = {}
        """For each invited one, who invited it, and when."""

    def of(self, member: int) -> Group | None:
        """Return the group that somebody is in."""
        return self._of.get(member)

    def invite(self, leader: int, guest: int, now: Monotonic) -> None:
        """Ask somebody into one's group. Raises `CommandError`."""
        group = self._of.get(leader)
        if leader == guest:
            raise CommandError("you cannot invite yourself")
        if group is not None and group.leader != leader:
            raise CommandError("only the leader of a group invites")
        if group is not None and len(group.members) >= MOST_MEMBERS:
            raise CommandError(f"a group has {MOST_MEMBERS} members at most")
        if guest in self._of:
            raise CommandError("that player is in a group already")
        asked_by, asked = self._invitations.get(guest, (0, now))
        if asked_by == leader and now - asked <= INVITATION:
            raise CommandError("that player is invited already")
        self._invitations[guest] = (leader, now)

    def accept(self, guest: int, now: Monotonic) -> Group:
        """Take an invitation. Raises `CommandError` when there is none that still counts."""
        leader, asked = self._invitations.pop(guest, (0, Monotonic(0.0)))
        if not leader or now - asked > INVITATION:
            raise CommandError("nobody has invited you")
        if guest in self._of:
            raise CommandError("you are in a group already")
        group = self._of.get(leader)
        if group is None:
            group = self._of[leader] = Group(leader)
        if group.leader != leader or len(group.members) >= MOST_MEMBERS:
            raise CommandError("that group has no room for you")
        group.members.append(guest)
        self._of[guest] = group
        return group

    def decline(self, guest: int) -> int:
        """Refuse an invitation; returns who had invited. Raises `CommandError`."""
        leader, _ = self._invitations.pop(guest, (0, Monotonic(0.0)))
        if not leader:
            raise CommandError("nobody has invited you")
        return leader

    def leave(self, member: int) -> Group:
        """Leave one's group, which ends when one is left. Raises `CommandError`.

        Returns the group with those who are still there.
        """
        group = self._of.pop(member, None)
        if group is None:
            raise CommandError("you are in no group")
        group.members.remove(member)
        if len(group.members) == 1:
            del self._of[group.members[0]]
        return group

    def forget(self, member: int) -> Group | None:
        """Let go of somebody who is out of the world; returns the group that was left."""
        self._invitations.pop(member, None)
        for guest in [one for one, (leader, _) in self._invitations.items() if leader == member]:
            del self._invitations[guest]
        return self.leave(member) if member in self._of else None
