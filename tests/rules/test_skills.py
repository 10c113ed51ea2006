"""Rules of skills, by tables. Source: EQ2Emulator (docs/protocol/world/fights.md#skills)."""

from random import Random

import pytest

from emu.rules.skills import grows, most_at, raise_percent


@pytest.mark.parametrize(("level", "most"), [(0, 5), (1, 5), (3, 15), (50, 250)])
def test_a_level_bounds_skills(level: int, most: int) -> None:
    assert most_at(level) == most


@pytest.mark.parametrize(("value", "percent"), [(-1, 20.0), (0, 20.0), (50, 10.0), (200, 4.0)])
def test_high_skills_grow_seldom(value: int, percent: float) -> None:
    assert raise_percent(value) == percent


def test_a_skill_grows_as_often_as_its_chance_says() -> None:
    chance = Random(5)
    grown = sum(grows(50, 100, chance) for _ in range(20_000))
    # 10 percent of 20,000: the standard deviation is 42.
    assert 1800 < grown < 2200


def test_a_skill_at_its_end_does_not_grow() -> None:
    chance = Random(5)
    assert not any(grows(5, 5, chance) for _ in range(200))
