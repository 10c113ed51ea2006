"""What lies in bodies and chests: who may take it, by the methods of groups."""

from __future__ import annotations

import pytest

from emu.items.kinds import ItemKind
from emu.items.remains import Choice, LootMethod, Lot, Remains, drawn_among

KIND = ItemKind(5, "a cap")


def remains(method: LootMethod, lots: int = 3) -> Remains:
    made = [Lot(KIND, 1, number) for number in range(lots)]
    return Remains(0, made, frozenset((1, 2, 3)), 600.0, method, leader=1)


def numbers(lots: list[Lot]) -> list[int]:
    return [one.number for one in lots]


def test_only_the_entitled_may_loot_until_their_right_ends() -> None:
    made = remains(LootMethod.FREE)
    assert [made.may_loot(one, 599.0) for one in (1, 2, 4)] == [True, True, False]
    assert made.may_loot(4, 600.0)


@pytest.mark.parametrize(
    ("method", "of_leader", "of_other"),
    [
        (LootMethod.LEADER, [0, 1, 2], []),
        (LootMethod.FREE, [0, 1, 2], [0, 1, 2]),
        (LootMethod.LOTTO, [], []),
        (LootMethod.NEED, [], []),
        (LootMethod.ROUND_ROBIN, [0], [1]),
    ],
)
def test_what_members_may_take_at_once(
    method: LootMethod, of_leader: list[int], of_other: list[int]
) -> None:
    made = remains(method)
    if method is LootMethod.ROUND_ROBIN:
        assert made.take_turns([1, 2, 3], 0) == 3
    assert numbers(made.lots_for(1, 5.0)) == of_leader
    assert numbers(made.lots_for(2, 5.0)) == of_other
    assert numbers(made.lots_for(9, 600.0)) == [0, 1, 2]


def test_a_thing_that_somebody_takes_is_nobody_elses() -> None:
    made = remains(LootMethod.FREE, 1)
    made.lots[0].is_taken = True
    assert made.lots_for(1, 5.0) == []


def test_lots_are_drawn_when_all_have_answered_or_the_time_is_over() -> None:
    made = remains(LootMethod.NEED, 1)
    made.decides_at = 120.0
    made.answer(1, 0, Choice.GREED)
    made.answer(2, 0, Choice.DECLINE)
    made.answer(9, 0, Choice.NEED)
    assert made.decided(5.0) == []
    assert numbers(made.decided(120.0)) == [0]
    made.answer(3, 0, Choice.GREED)
    assert numbers(made.decided(5.0)) == [0]


@pytest.mark.parametrize(
    ("answers", "drawn"),
    [
        ({1: Choice.GREED, 2: Choice.NEED, 3: Choice.NEED}, [2, 3]),
        ({1: Choice.GREED, 2: Choice.DECLINE, 3: Choice.GREED}, [1, 3]),
        ({1: Choice.DECLINE}, []),
    ],
)
def test_those_who_need_it_come_before_the_others(
    answers: dict[int, Choice], drawn: list[int]
) -> None:
    lot = Lot(KIND, 1, 0, answers=dict(answers))
    assert drawn_among(lot, (1, 2, 3)) == drawn


def test_the_first_answer_counts() -> None:
    made = remains(LootMethod.NEED, 1)
    made.answer(1, 0, Choice.DECLINE)
    made.answer(1, 0, Choice.NEED)
    assert made.lots[0].answers == {1: Choice.DECLINE}
