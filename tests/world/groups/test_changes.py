"""Changes of groups in a world of one process."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from emu.errors import CommandError
from emu.times import Monotonic
from emu.world.groups.changes import GroupAction, GroupChanges, GroupOutcome
from emu.world.groups.groups import Groups
from tests.support.coroutines import finish
from tests.support.running.processes import presence, present
from tests.support.times import ManualClock, timetable


class Made:
    """Changes, and what they have reported."""

    def __init__(self) -> None:
        self.presence = presence()
        self.groups = Groups()
        self.timetable = timetable()
        self.changes = GroupChanges(self.groups, self.presence, ManualClock(), self.timetable)
        self.changes.changed = self._changed
        self.changes.left = lambda name, members: self.left.append((name, list(members)))
        self.shown: list[tuple[list[int], list[int]]] = []
        self.left: list[tuple[str, list[int]]] = []

    def _changed(self, before: Sequence[int], after: Sequence[int]) -> None:
        self.shown.append((list(before), list(after)))

    def make(self, action: GroupAction, by: int, to: int = 0) -> GroupOutcome:
        return finish(self.changes.make(action, by, to))

    def join(self, *members: int) -> None:
        for member in members[1:]:
            self.make(GroupAction.INVITE, members[0], member)
            self.make(GroupAction.ACCEPT, member)


@pytest.fixture
def made() -> Made:
    made = Made()
    made.join(1, 2, 3)
    return made


def test_each_action_has_its_outcome(made: Made) -> None:
    assert made.make(GroupAction.INVITE, 1, 9) == GroupOutcome(who=9)
    assert made.make(GroupAction.DECLINE, 9) == GroupOutcome(who=1)
    assert made.make(GroupAction.LEAD, 1, 2) == GroupOutcome((2, 1, 3))
    assert made.make(GroupAction.KICK, 2, 3) == GroupOutcome((2, 1))
    made.join(5, 6, 7)
    assert made.make(GroupAction.INVITE_TO_RAID, 2, 6) == GroupOutcome(who=5)
    raid = (2, 1, 5, 6, 7)
    assert made.make(GroupAction.ACCEPT, 5) == GroupOutcome(raid, is_raid=True)
    assert made.make(GroupAction.KICK_FROM_RAID, 2, 7) == GroupOutcome((5, 6, 7))
    made.make(GroupAction.INVITE_TO_RAID, 2, 6)
    made.make(GroupAction.ACCEPT, 5)
    assert made.make(GroupAction.LEAVE_RAID, 5) == GroupOutcome((2, 1), is_raid=True)
    assert made.make(GroupAction.LEAVE, 7) == GroupOutcome((5, 6))
    assert made.make(GroupAction.DISBAND, 5) == GroupOutcome((5, 6))
    with pytest.raises(CommandError, match="in no group"):
        made.make(GroupAction.LEAVE, 5)


def test_a_window_is_shown_what_it_contains_and_not_the_raid(made: Made) -> None:
    assert made.shown == [([], [1, 2]), ([1, 2], [1, 2, 3])]
    made.join(5, 6)
    made.make(GroupAction.INVITE_TO_RAID, 1, 5)
    made.make(GroupAction.ACCEPT, 5)
    assert made.shown[2:] == [([], [5, 6])]


def test_who_is_forgotten_is_reported_by_its_name(made: Made) -> None:
    made.changes.forget(3, "Cestra")
    made.changes.forget(9, "Nobody")
    assert made.left == [("Cestra", [1, 2])]
    assert made.shown[-1] == ([1, 2, 3], [1, 2])


def test_who_is_away_stays_until_its_time_is_over_or_it_is_back(made: Made) -> None:
    made.presence.entered(present(103, 3, 12, "Cestra"), lambda: None)
    made.presence.entered(present(102, 2, 12, "Borvik"), lambda: None)
    for member in (2, 3):
        made.changes.away(member)
        made.presence.left(member)
    due = made.timetable.get_timer()
    assert due is not None
    assert len(made.changes._absent) == 2
    found = made.changes.present(3)
    assert found is not None
    assert found.name == "Cestra"
    made.presence.entered(present(103, 3, 13, "Cestra"), lambda: None)
    assert made.shown[-1] == ([1, 2, 3], [1, 2, 3])
    made.timetable.handle_timer(Monotonic(due - 0.1))
    assert made.left == []
    made.timetable.handle_timer(due)
    assert made.left == [("Borvik", [1, 3])]
    assert made.timetable.get_timer() is None
    assert made.changes.present(2) is None


def test_who_is_in_no_group_is_not_away(made: Made) -> None:
    made.changes.away(9)
    assert made.timetable.get_timer() is None
    assert not made.changes.is_away(9)


def test_a_purge_reports_nobody(made: Made) -> None:
    made.changes.purge(3)
    made.changes.purge(3)
    assert made.left == []
    assert made.groups.of(3) is None


def test_a_member_is_known_by_its_presence(made: Made) -> None:
    assert made.changes.present(1) is None
    made.presence.entered(present(101, 1, 12, "Aldana"), lambda: None)
    found = made.changes.present(1)
    assert found is not None
    assert found.name == "Aldana"
