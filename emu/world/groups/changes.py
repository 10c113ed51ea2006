"""Changes of groups and raids, as commands ask for them.

`GroupChanges` makes them in this process, and is all that a world of one process needs.
`emu.world.groups.shared` has one process of a cluster make them for all.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from emu.model import Present
from emu.processes.ports import Presence
from emu.times import Clock, Monotonic
from emu.world.deadlines import Deadlines, Timetable
from emu.world.groups.groups import Groups, PlayerGroup, Raid

AWAY: Final = 65.0
"""Seconds before a member is removed that has left for another node, or camped: its world key works
for 60, and who camped comes back with a new one.
"""


REPEAT: Final = 5.0
"""Seconds between two attempts to remove a player that has left the world."""


class GroupAction(enum.StrEnum):
    """What a player does about groups; the values are those of the bus."""

    INVITE = "invite"
    INVITE_TO_RAID = "raid-invite"
    ACCEPT = "accept"
    DECLINE = "decline"
    LEAD = "lead"
    KICK = "kick"
    LEAVE = "leave"
    DISBAND = "disband"
    LEAVE_RAID = "raid-leave"
    KICK_FROM_RAID = "raid-kick"
    FORGET = "forget"
    """The player has left the world, or is hidden."""


class GroupOutcome(NamedTuple):
    """What a change has done."""

    members: tuple[int, ...] = ()
    """The character ids of the group or raid that it was about, after it."""
    who: int = 0
    """The leader who was asked to accept, or whose invitation was declined."""
    is_raid: bool = False


def perform(groups: Groups, action: GroupAction, by: int, to: int, now: Monotonic) -> GroupOutcome:
    """Make a change for the player `by`; `to` is the other one. Raises `CommandError`."""
    match action:
        case GroupAction.INVITE:
            groups.invite(by, to, now)
            return GroupOutcome(who=to)
        case GroupAction.INVITE_TO_RAID:
            return GroupOutcome(who=groups.invite_to_raid(by, to, now))
        case GroupAction.DECLINE:
            return GroupOutcome(who=groups.decline(by))
        case GroupAction.DISBAND:
            return GroupOutcome(tuple(groups.disband(by)))
        case GroupAction.FORGET:
            left = groups.forget(by)
            return GroupOutcome() if left is None else _outcome(left)
    return _outcome(_company(groups, action, by, to, now))


def _company(
    groups: Groups, action: GroupAction, by: int, to: int, now: Monotonic
) -> PlayerGroup | Raid:
    match action:
        case GroupAction.ACCEPT:
            return groups.accept(by, now)
        case GroupAction.LEAD:
            return groups.lead(by, to)
        case GroupAction.KICK:
            return groups.kick(by, to)
        case GroupAction.LEAVE_RAID:
            return groups.leave_raid(by)
        case GroupAction.KICK_FROM_RAID:
            return groups.kick_from_raid(by, to)
    return groups.leave(by)


def _outcome(company: PlayerGroup | Raid) -> GroupOutcome:
    return GroupOutcome(tuple(company.members), is_raid=isinstance(company, Raid))


class GroupChanges:
    """Makes the changes of groups of a world that is one process."""

    is_shared = False
    """Whether other processes have members of the groups, too."""

    def __init__(
        self, table: Groups, presence: Presence, clock: Clock, timetable: Timetable
    ) -> None:
        self.table = table
        """The groups as this process knows them."""
        self.changed: Callable[[Sequence[int], Sequence[int]], None] = lambda _before, _after: None
        """Called with the members of each group before and after its change."""
        self.left: Callable[[str, Sequence[int]], None] = lambda _name, _members: None
        """Called with the name of a member that was removed without a command of a player, and
        with the other members.
        """
        self._presence = presence
        self._clock = clock
        self._absent: Deadlines[int, None] = timetable.deadlines(
            "members who are away", self._stays_away
        )
        """When to remove the members that are in no process, by character id."""
        self._known: dict[int, Present] = {}
        """The members as they were seen last; in one process, those that are away."""
        presence.observe(self._seen)

    async def make(self, action: GroupAction, by: int, to: int = 0) -> GroupOutcome:
        """Make a change for the player `by`; `to` is the other one. Raises `CommandError`."""
        return self._make(action, by, to)

    def forget(self, char_id: int, name: str) -> None:
        """Remove a player that has left the world, or is hidden, and its invitations."""
        before = self.table.of(char_id)
        outcome = self._make(GroupAction.FORGET, char_id, 0)
        self._absent.clear(char_id, None)
        self._known.pop(char_id, None)
        if before is not None:
            self.left(name, outcome.members)

    def away(self, char_id: int) -> None:
        """Keep a member that camps in its group; after `AWAY` seconds it is removed."""
        if self.table.of(char_id) is not None:
            found = self._presence.find(char_id)
            if found is not None:
                self._known[char_id] = found
            self._absent.set(char_id, None, Monotonic(self._clock.now() + AWAY))

    def is_away(self, char_id: int) -> bool:
        """Return whether a member that has left the world is kept in its group."""
        return self._absent.get(char_id, None) is not None

    def _stays_away(self, member: int, _name: None, now: Monotonic) -> None:
        """Remove a member that was away for too long."""
        # Tried again then if it raises.
        self._absent.set(member, None, Monotonic(now + REPEAT))
        known = self._known.get(member)
        self.forget(member, "?" if known is None else known.name)

    def purge(self, char_id: int) -> None:
        """Remove a player that could not be forgotten, without informing anybody."""
        if self.table.of(char_id) is not None:
            self.table.forget(char_id)

    def present(self, char_id: int) -> Present | None:
        """Return a member as it is in the world, or as it was before it left."""
        return self._presence.find(char_id) or self._known.get(char_id)

    def _seen(self, char_id: int, present: Present | None) -> None:
        """Note a member that is back."""
        if present is None or not self._absent.clear(char_id, None):
            return
        self._known.pop(char_id, None)
        group = self.table.of(char_id)
        if group is not None:
            self.changed(group.members, group.members)

    def _make(self, action: GroupAction, by: int, to: int) -> GroupOutcome:
        outcome = perform(self.table, action, by, to, self._clock.now())
        self._show()
        return outcome

    def _show(self) -> None:
        """Report what has changed."""
        for change in self.table.take_changes():
            before = () if change.before is None else change.before.members
            after = () if change.after is None else change.after.members
            # A change of the raid alone shows in no window.
            if before != after:
                self.changed(before, after)
