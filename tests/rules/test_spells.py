"""Formulas of spells. Source: docs/guides/spells.md#rules."""

from random import Random

import pytest

from emu.rules.spells import (
    SpellAim,
    SpellForce,
    SpellGuard,
    critical_amount,
    damage_amount,
    fizzle_chance,
    heal_amount,
    hit_chance,
    is_critical,
    keeps_casting,
    lands,
    power_needed,
    resisted_share,
    rolled,
    ticks_of,
    with_speed,
)


@pytest.mark.parametrize(("percent", "seconds"), [(0, 2.0), (50, 4 / 3), (300, 1.0), (-50, 3.0)])
def test_speed_changes_times(percent: float, seconds: float) -> None:
    assert with_speed(2.0, percent) == pytest.approx(seconds)


def test_power_is_points_and_a_share_of_the_most() -> None:
    assert power_needed(8.4, 0, 500) == 8
    assert power_needed(0, 10, 500) == 50
    assert power_needed(100, 0, 500, skill=1000) == 85
    assert power_needed(100, 0, 500, saving=50) == 50


def test_fizzles_grow_with_what_the_skill_lacks() -> None:
    assert fizzle_chance(12, 10, 10.0) == 0
    assert fizzle_chance(10, 10, 10.0) == pytest.approx(2.0)
    assert fizzle_chance(0, 10, 10.0) == pytest.approx(12.0)
    assert fizzle_chance(0, 10, 20.0) == pytest.approx(24.0)
    assert fizzle_chance(5, 0, 10.0) == 0


def test_damage_of_magic_grows_with_intelligence() -> None:
    # A templar of level 12 with 20 intelligence hits for 20 and 21 (fight-546-priest-a): the
    # script adds 11 to 8 to 10.
    force = SpellForce(level=12, intelligence=20)
    assert [int(damage_amount(points, 7, force)) for points in (19, 20)] == [19, 20]
    assert damage_amount(20, 0, force) == 20
    strong = SpellForce(level=12, intelligence=20, potency=50, ability=1000)
    assert damage_amount(20, 0, strong) == 45
    assert damage_amount(20, 0, strong, share=3) == 40


def test_heals_and_criticals() -> None:
    force = SpellForce(healing=10, critical_chance=100, critical_bonus=20)
    assert heal_amount(100, force) == pytest.approx(110)
    assert is_critical(force, Random(1))
    assert not is_critical(SpellForce(), Random(1))
    assert critical_amount(100, force) == pytest.approx(150)


def test_bonuses_raise_what_they_are_for() -> None:
    """The factors of eq2-spells.md 7: spells and arts, taunts and arts, heals."""
    assert damage_amount(100, 0, SpellForce(arts=10, blows=20, heals=50)) == pytest.approx(132)
    assert damage_amount(100, 10, SpellForce(arts=10, blows=20)) == pytest.approx(110)
    assert heal_amount(100, SpellForce(healing=10, heals=20, arts=50)) == pytest.approx(132)


def test_a_low_end_above_the_high_one_counts() -> None:
    assert rolled(9, 3, Random(1)) == 9
    assert rolled(3, 9, Random(1)) in range(3, 10)


def test_resistances_take_a_percent_for_each_fifty() -> None:
    assert resisted_share(0) == 1
    assert resisted_share(500) == pytest.approx(0.9)
    assert resisted_share(100_000) == 0.25
    assert resisted_share(-50) == 1


def test_resistibility_changes_the_chance() -> None:
    # As EQ2Emulator computes it: 0.6 changes nothing, 0.75 takes 17, 0.3 adds 45.
    guard = SpellGuard(1, 1)
    usual = hit_chance(SpellAim(1, 1, 0), guard)
    found = [hit_chance(SpellAim(1, 1, 0, resistibility=one), guard) - usual
             for one in (0.6, 0.75, 0.3)]  # fmt: skip
    assert found == pytest.approx([0, -17.1, 45.5], abs=0.1)
    assert lands(SpellAim(1, 1, 0, resistibility=0.01), guard, Random(1))
    assert not lands(SpellAim(1, 1, 0, resistibility=50), guard, Random(1))


def test_a_third_of_the_hits_interrupts() -> None:
    chance = Random(7)
    kept = sum(keeps_casting(0, chance, 65.0) for _ in range(10_000))
    assert 6300 < kept < 6700
    assert sum(keeps_casting(240, chance, 65.0) for _ in range(100)) == 100


@pytest.mark.parametrize(
    ("duration", "period", "ticks"), [(24, 4, 5), (25, 4, 6), (4, 4, 0), (30, 0, 0), (0, 4, 0)]
)
def test_a_cast_counts_as_the_first_tick(duration: float, period: float, ticks: int) -> None:
    assert ticks_of(duration, period) == ticks
