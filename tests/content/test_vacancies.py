"""Why nothing stands at a placement."""

from pathlib import Path
from random import Random

import pytest

from emu.content.population import Condition, Population, Surroundings
from emu.content.vacancies import reasons
from emu.times import Monotonic
from tests.content.test_population import START, ZoneBuilder


@pytest.fixture
def builder(tmp_path: Path) -> ZoneBuilder:
    made = ZoneBuilder(tmp_path)
    made.spawn(1)
    made.spawn(2, holiday_flag=4096)
    return made


def opened(builder: ZoneBuilder) -> Population:
    made = Population(builder.build(), Random(1), Surroundings(holidays=1))
    made.open(START)
    return made


def why(made: Population, placement: int, after: float = 0.0) -> list[str]:
    found = made.vacancy(placement, Monotonic(START + after))
    assert found is not None
    return list(reasons(found))


def test_what_died_returns_after_its_time_or_never(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), respawn=60)
    builder.place(2, (1, 100), respawn=0)
    made = opened(builder)
    made.removed(1, START)
    made.removed(2, START)
    assert [one.id for one in made.empty()] == [1, 2]
    assert why(made, 1, after=20.0) == ["what stood here died and returns in 40 s"]
    assert why(made, 1, after=90.0) == ["what stood here died and returns in 0 s"]
    assert why(made, 2) == [
        "what stood here died or was removed, and its respawn time of 0 means never"
    ]


def test_each_entry_that_cannot_stand_says_why(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 0))
    builder.place(2, (99, 100))
    builder.place(3, (1, 100), condition=int(Condition.NIGHT))
    builder.place(4, (2, 100))
    made = opened(builder)
    assert why(made, 1) == ["entry 1 (spawn 1): its weight is 0"]
    assert why(made, 2) == ["entry 2: there is no spawn 99 in the content file"]
    (night,), (holiday,) = why(made, 3), why(made, 4)
    assert night.startswith("entry 3 (spawn 1): waits for its time of the day")
    assert night.endswith("(condition 2)")
    assert holiday.startswith("entry 4 (spawn 2): waits for its time of the day")


def test_the_other_group_of_the_set_stands_instead(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), group=31)
    builder.place(2, (1, 100), group=32)
    builder.associate(31, 32)
    made = opened(builder)
    (empty,) = made.empty()
    own, other = (31, 32) if empty.id == 1 else (32, 31)
    assert why(made, empty.id) == [
        f"group {other} of the same set stands instead of its group {own}"
    ]


def test_a_place_that_could_be_filled_was_emptied_by_a_script(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100), (1, 0))
    made = opened(builder)
    assert why(made, 1) == [
        "entry 2 (spawn 1): its weight is 0",
        "a script removed what stood here, or the last roll of the weights chose nothing",
    ]


def test_an_unknown_placement_has_no_vacancy(builder: ZoneBuilder) -> None:
    builder.place(1, (1, 100))
    made = opened(builder)
    assert made.vacancy(99, START) is None
    assert list(made.empty()) == []
