"""Spirit shards as they are stored: their numbers, and rows that are not usable."""

from dataclasses import replace

import pytest

from emu.facts import ValueChecker
from emu.shards import MOST_SHARDS, NUMBERS, SHARDS, Shard, next_number
from emu.times import FOR_EVER, Moment

SHARD = Shard(1, 9, 1.5, -2.0, 3.0, 90.0, 7, 500, Moment(1e9))


def test_numbers_follow_each_other_and_begin_again() -> None:
    assert next_number(()) == 1
    assert next_number((SHARD,)) == 2
    last = replace(SHARD, number=NUMBERS - 1)
    assert next_number((last,)) == 1
    assert next_number((SHARD, last)) == 2


def test_a_number_in_the_world_has_the_owner() -> None:
    assert SHARD.number_in_world(5) == 5 * NUMBERS + 1
    assert replace(SHARD, number=2).number_in_world(5) != SHARD.number_in_world(5)
    assert SHARD.number_in_world(6) != SHARD.number_in_world(5)
    assert SHARD.number_in_world(1 << 40) == 1


@pytest.mark.parametrize(
    "damage",
    [
        {"number": 0}, {"number": NUMBERS}, {"zone_id": -1}, {"x": 1e9}, {"heading": float("nan")},
        {"grid": "7"}, {"debt": 100_001}, {"made": -1.0}, {"made": FOR_EVER * 2},
    ],
)  # fmt: skip
def test_a_row_that_is_not_usable_is_left_out(damage: dict[str, object]) -> None:
    check = ValueChecker()
    other = replace(SHARD, number=2)
    assert SHARDS.usable((SHARD, other), check, 1) == (SHARD, other)
    assert not check.problems
    damaged = replace(SHARD, **damage)  # type: ignore[arg-type]
    assert SHARDS.usable((damaged, other), check, 1) == (other,)
    assert [one.field for one in check.problems] == ["spirit shards"]


def test_too_many_are_cut() -> None:
    many = tuple(replace(SHARD, number=number + 1) for number in range(MOST_SHARDS + 1))
    assert SHARDS.usable(many, ValueChecker(), 1) == many[:MOST_SHARDS]
