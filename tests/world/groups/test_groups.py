"""Groups: rules that need no client."""

from __future__ import annotations

import random

import pytest

from emu.errors import CommandError
from emu.times import Monotonic
from emu.world.groups.groups import INVITATION, MOST_MEMBERS, GroupChange, GroupRow, Groups

NOW = Monotonic(100.0)


def group_of(*members: int) -> Groups:
    groups = Groups()
    for member in members[1:]:
        groups.invite(members[0], member, NOW)
        groups.accept(member, NOW)
    return groups


def test_a_group_is_made_by_the_first_who_accepts_and_ends_with_the_last_but_one() -> None:
    groups = group_of(1, 2, 3)
    group = groups.of(1)
    assert group is not None
    assert (group.leader, group.members) == (1, [1, 2, 3])
    groups.leave(1)
    assert group.leader == 2
    groups.leave(3)
    assert groups.of(2) is None


def test_an_invitation_counts_for_a_minute_and_once() -> None:
    groups = Groups()
    groups.invite(1, 2, NOW)
    with pytest.raises(CommandError, match="nobody has invited"):
        groups.accept(2, Monotonic(NOW + INVITATION + 1))
    groups.invite(1, 2, NOW)
    assert groups.decline(2) == 1
    for use in (lambda: groups.accept(2, NOW), lambda: groups.decline(2)):
        with pytest.raises(CommandError, match="nobody has invited"):
            use()


def test_who_may_not_invite_whom() -> None:
    groups = group_of(1, 2)
    for leader, guest, why in ((1, 1, "yourself"), (2, 3, "only the leader"), (3, 2, "in a group")):
        with pytest.raises(CommandError, match=why):
            groups.invite(leader, guest, NOW)


def test_a_group_is_bounded() -> None:
    groups = group_of(*range(1, MOST_MEMBERS + 1))
    with pytest.raises(CommandError, match="the limit"):
        groups.invite(1, 99, NOW)
    late = group_of(*range(1, MOST_MEMBERS))
    late.invite(1, 50, NOW)
    late.invite(1, 51, NOW)
    late.accept(50, NOW)
    with pytest.raises(CommandError, match="is full"):
        late.accept(51, NOW)
    assert late.of(51) is None


def test_who_is_gone_is_forgotten() -> None:
    groups = group_of(1, 2)
    left = groups.forget(1)
    assert left is not None
    assert left.members == [2]
    assert groups.forget(2) is None
    with pytest.raises(CommandError, match="in no group"):
        groups.leave(2)


def raid_of(count: int) -> Groups:
    """Return groups of which the first has as many others in its raid; leaders 10, 20 ..."""
    groups = Groups()
    for number in range(1, count + 2):
        groups.invite(10 * number, 10 * number + 1, NOW)
        groups.accept(10 * number + 1, NOW)
    for number in range(2, count + 2):
        groups.invite_to_raid(10, 10 * number + 1, NOW)
        groups.accept(10 * number, NOW)
    return groups


def test_a_raid_has_four_groups() -> None:
    groups = raid_of(3)
    assert groups.raid_of(41).members == [10, 11, 20, 21, 30, 31, 40, 41]
    groups.invite(50, 51, NOW)
    groups.accept(51, NOW)
    with pytest.raises(CommandError, match="4 groups"):
        groups.invite_to_raid(10, 50, NOW)


def test_a_raid_ends_with_its_second_group() -> None:
    groups = raid_of(1)
    groups.leave(21)
    with pytest.raises(CommandError, match="no raid"):
        groups.raid_of(10)
    assert groups.of(20) is None
    assert groups.own(10).members == [10, 11]


def test_the_next_group_leads_a_raid_whose_leader_leaves_it() -> None:
    groups = raid_of(2)
    groups.leave_raid(10)
    assert groups.raid_of(20).leader == 20
    groups.disband(20)
    with pytest.raises(CommandError, match="no raid"):
        groups.raid_of(30)


@pytest.mark.parametrize(
    ("asks", "guest", "answer"),
    [(11, 30, "leader of a group"), (20, 40, "leader of a raid"), (10, 60, "in no group"),
     (10, 21, "in a raid already"), (10, 11, "in a raid already"), (60, 10, "in no group")],
)  # fmt: skip
def test_who_may_not_be_invited_to_a_raid(asks: int, guest: int, answer: str) -> None:
    groups = raid_of(1)
    for leader in (30, 40):
        groups.invite(leader, leader + 1, NOW)
        groups.accept(leader + 1, NOW)
    with pytest.raises(CommandError, match=answer):
        groups.invite_to_raid(asks, guest, NOW)


def rows_of(groups: Groups) -> list[GroupRow]:
    return sorted(group.row for group in groups)


def test_changes_are_reported_once_each_with_the_group_before_and_after() -> None:
    groups = group_of(1, 2)
    [begun] = groups.take_changes()
    assert begun == GroupChange(1, None, GroupRow(1, (1, 2)))
    groups.invite(1, 3, NOW)
    assert groups.take_changes() == []
    groups.accept(3, NOW)
    groups.lead(1, 3)
    assert groups.take_changes() == [GroupChange(1, GroupRow(1, (1, 2)), GroupRow(1, (3, 1, 2)))]
    groups.disband(3)
    assert groups.take_changes() == [GroupChange(1, GroupRow(1, (3, 1, 2)), None)]


def test_a_raid_that_ends_is_a_change_of_both_groups() -> None:
    groups = raid_of(1)
    groups.take_changes()
    groups.leave_raid(20)
    assert {change.id for change in groups.take_changes()} == {1, 2}


@pytest.mark.parametrize("seed", range(5))
def test_rows_make_the_same_groups_in_any_order(seed: int) -> None:
    groups = raid_of(3)
    groups.leave_raid(20)
    groups.lead(30, 31)
    rows = rows_of(groups)
    random.Random(seed).shuffle(rows)
    other = group_of(10, 50)
    other.replace(rows)
    assert rows_of(other) == rows_of(groups)
    assert other.raid_of(41).members == [10, 11, 31, 30, 40, 41]
    assert other.of(50) is None
    other.invite(80, 81, NOW)
    other.accept(81, NOW)
    assert other.own(80).id not in {row.id for row in rows}, "numbers are not used twice"


def test_rows_of_one_change_can_come_one_after_the_other() -> None:
    groups = Groups()
    groups.apply(1, GroupRow(1, (1, 2, 3)))
    groups.apply(2, GroupRow(2, (3, 4)))
    assert groups.own(3).id == 2, "the newer row counts"
    groups.apply(1, GroupRow(1, (1, 2)))
    assert groups.own(3).members == [3, 4]
    for number, place in ((1, 1), (2, 2)):
        groups.apply(number, groups.own(2 * number).row._replace(raid=7, place=place))
    assert groups.raid_of(4).members == [1, 2, 3, 4]
    groups.apply(1, None)
    groups.apply(9, None)
    assert groups.of(1) is None
    assert groups.own(4).row.raid == 7, "its own row says when it is in no raid any more"


def test_incomplete_groups_are_made_right() -> None:
    groups = Groups()
    groups.apply(1, GroupRow(1, (1, 2), 7, 1))
    groups.apply(2, GroupRow(2, (2, 3), 7, 2))
    groups.apply(3, GroupRow(3, (4, 5), 8, 1))
    groups.settle()
    assert rows_of(groups) == [GroupRow(2, (2, 3)), GroupRow(3, (4, 5))]
    assert groups.of(1) is None


def test_old_invitations_are_removed() -> None:
    groups = Groups()
    groups.invite(1, 2, NOW)
    groups.expire(NOW)
    assert groups.inviter_of(2) == 1
    groups.expire(Monotonic(NOW + INVITATION + 1))
    assert groups.inviter_of(2) == 0


def test_a_second_inviter_does_not_replace_the_first_unseen() -> None:
    """The client shows one window, and accepts without a name: the guest would join another one."""
    groups = Groups()
    groups.invite(1, 3, NOW)
    with pytest.raises(CommandError, match="invited already"):
        groups.invite(2, 3, NOW)
    assert groups.accept(3, NOW).members == [1, 3]


def test_an_invitation_that_is_too_old_is_replaced_by_another_one() -> None:
    groups = Groups()
    groups.invite(1, 3, NOW)
    later = Monotonic(NOW + INVITATION + 1)
    groups.invite(2, 3, later)
    assert groups.accept(3, later).members == [2, 3]
